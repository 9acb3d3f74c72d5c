"""Results whose key is the person, and her dead letters: they go even where no row is left of which they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.compile.panes.log_rows import cell_identity
from windrow.compile.sql.columns import Column, coalesce
from windrow.drivers.forget.notes import KEYED, LETTERS_OF, Noted
from windrow.drivers.forget.person import IN_TEXT, Person
from windrow.drivers.forget.windows.affected import LETTER, ROW_OF, each_once, letters_of
from windrow.drivers.forget.windows.finding import identity_of
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.frames import select, where
from windrow.spec.sources.source import Source
from windrow.store.upstream.offsets import START


def note_keyed(work: PipelineWork, person: Person, sources: list[Source], noted: Noted) -> None:
    """Write down the cells and the dead letters of all stages that are of the person by what stands in them."""
    of = _Keyed(work, person, {source.name: source for source in sources}, noted)
    for item in [item for level in work.levels for item in level]:
        of.note(item)


@dataclass(frozen=True)
class _Keyed:
    """`keys` are those of the stages so far that are columns of the sources as they are, by these in lower case."""

    work: PipelineWork
    person: Person
    sources: Mapping[str, Source]
    noted: Noted
    keys: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def note(self, item: StageWork) -> None:
        """Of a stage, behind those that it reads."""
        self.keys[item.name] = self._keys(item)
        keys = self._of_condition({column: (key,) for column, key in self.keys[item.name].items()})
        if keys is not None:
            self._note_cells(item, {column: key for column, (key,) in keys.items()})
        for read in item.runner.upstream.names:
            names = self._of_condition(self._fields(read))
            if names is not None:
                self._note_letters(item, read, names)

    def _keys(self, item: StageWork) -> Mapping[str, str]:
        """The keys of a stage that are columns of a source as they are, by these; none where it has several inputs."""
        read, shown = item.runner.upstream.names, item.runner.stage
        if len(read) != 1 or item.runner.upstream.are_several:
            return {}
        made = {name.lower() for name in (*shown.stage.select, *shown.stage.explode)}
        own = {
            expression.columns[0].lower(): name
            for name, expression in shown.shown.keys.items()
            if len(expression.columns) == 1 and expression.text.strip("`").lower() == expression.columns[0].lower()
        }
        own = {column: name for column, name in own.items() if column not in made}
        if read[0] in self.sources:
            return own
        above = self.keys.get(read[0], {})
        return {column: own[key.lower()] for column, key in above.items() if key.lower() in own}

    def _fields(self, read: str) -> Mapping[str, tuple[str, ...]]:
        """Under which names the elements of a source or stage have the columns of a source."""
        if read in self.sources:
            source = self.sources[read]
            return {name.lower(): tuple(source.fields.names_of(name)) for name in source.columns}
        return {column: (key,) for column, key in self.keys.get(read, {}).items()}

    def _of_condition(self, known: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]] | None:
        """Those of the columns of the condition; None where one is not known."""
        columns = self.person.where.columns
        if not all(column.lower() in known for column in columns):
            return None
        return {column: known[column.lower()] for column in columns}

    def _note_cells(self, item: StageWork, keys: Mapping[str, str]) -> None:
        stage, spark = item.runner.stage.shown, self.work.spark
        is_hers = coalesce(Column(self.person.where.rename(keys).value_sql), False)
        for name in ("panes", "current"):
            table = self.work.lake.table(item.name, name)
            if table.exists(spark):
                cells = select(where(table.read(spark), is_hers), cell_identity(stage))
                self.noted.write(item.name, KEYED, cells.select(*identity_of(item)).distinct())

    def _note_letters(self, item: StageWork, read: str, names: Mapping[str, tuple[str, ...]]) -> None:
        """Those whose rows were removed: by the others they are found themselves."""
        types = {n.lower(): kind for source in self.sources.values() for n, kind in source.columns.items()}
        kinds = {column: types[column.lower()] for column in names}
        if item.runner.last is None or not IN_TEXT.issuperset(kinds.values()):
            return
        upstream, spark = item.runner.upstream, self.work.spark
        hers = self.person.letters(letters_of(item.runner.journal.location.read(spark), read), names, kinds)
        parts = upstream.parts(spark, START, upstream.head(spark))
        there = [rows.select(*ROW_OF) for name, rows in parts.items() if upstream.logs[name].name == read]
        if there:
            hers = hers.join(each_once(there), on=list(ROW_OF), how="left_anti")
        self.noted.write(item.name, LETTERS_OF, hers.select(*LETTER).distinct())
