"""Results whose key is the person: they go even where no row is left of which they were made."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.panes.log_rows import cell_identity
from windrow.compile.sql.columns import Column, coalesce
from windrow.drivers.forget.affected import identity_of
from windrow.drivers.forget.notes import KEYED, Noted
from windrow.drivers.forget.person import Person
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.frames import select, where
from windrow.spec.sources.source import Source


def note_keyed(work: PipelineWork, person: Person, sources: list[Source], noted: Noted) -> None:
    """Write down the cells of all stages whose keys have the columns of the condition, where it is true of them."""
    names = {source.name for source in sources}
    known: dict[str, Mapping[str, str]] = {}
    for item in [item for level in work.levels for item in level]:
        known[item.name] = _keys(item, names, known)
        if all(column.lower() in known[item.name] for column in person.where.columns):
            _note(work, item, person, known[item.name], noted)


def _keys(item: StageWork, sources: set[str], known: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """By column of a source, in lower case, the key of a stage that is that column as it is."""
    read = item.runner.upstream.names
    if len(read) != 1 or item.runner.upstream.are_several:
        return {}
    own = {
        expression.columns[0].lower(): name
        for name, expression in item.runner.stage.shown.keys.items()
        if len(expression.columns) == 1 and expression.text.strip("`").lower() == expression.columns[0].lower()
    }
    selected = {name.lower() for name in (*item.runner.stage.stage.select, *item.runner.stage.stage.explode)}
    own = {column: name for column, name in own.items() if column not in selected}
    if read[0] in sources:
        return own
    above = known.get(read[0], {})
    return {column: own[key.lower()] for column, key in above.items() if key.lower() in own}


def _note(work: PipelineWork, item: StageWork, person: Person, keys: Mapping[str, str], noted: Noted) -> None:
    stage = item.runner.stage.shown
    renamed = person.where.rename({column: keys[column.lower()] for column in person.where.columns})
    is_hers = coalesce(Column(renamed.value_sql), False)
    for name in ("panes", "current"):
        table = work.lake.table(item.name, name)
        if table.exists(work.spark):
            cells = select(where(table.read(work.spark), is_hers), cell_identity(stage))
            noted.write(item.name, KEYED, cells.select(*identity_of(item)).distinct())
