"""The tables and views of a pipeline by the names that BI tools know. Rule: docs/names.md#names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from windrow.compile.names.asof import VALIDITY, as_of
from windrow.compile.names.combined import combined, combined_columns, has_combined
from windrow.compile.names.final import final
from windrow.compile.names.trees import table
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.column_comments import comments_of_current, comments_of_panes, shortened
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import (
    COMMENTS,
    LANDINGS,
    QUALITY_COMMENTS,
    QUALITY_TABLE,
    SOURCE_DEAD_LETTERS,
    STAGE_DEAD_LETTERS,
    TICKS,
)
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage


@dataclass(frozen=True)
class Relation:
    """A table of the lake, or a view over such tables, under one name.

    `folder` is where a table lies under the lake, and `query` what a view selects: one of them is None. `columns` are
    its columns in order, with their comments. A view is there when the tables that it reads (`over`) are.
    """

    name: str
    comment: str
    columns: Mapping[str, str]
    folder: str | None = None
    query: exp.Select | None = None
    over: tuple[str, ...] = ()

    @property
    def is_view(self) -> bool:
        return self.query is not None


def relations(pipeline: Pipeline) -> list[Relation]:
    """All names of a pipeline, tables before the views that read them.

    Errors: SpecError where two have one name, or a stage has a column that a view adds.
    """
    made = [one for stage in pipeline.stages for one in of_stage(stage)]
    made += [one for source in pipeline.sources for one in of_source(source)]
    made.append(Relation(QUALITY_TABLE, "what suites have found", QUALITY_COMMENTS, QUALITY_TABLE))
    taken: set[str] = set()
    for one in made:
        if one.name.lower() in taken:
            hint = "give one of the stages another name"
            raise SpecError(
                "stages", "have two tables of one name, which differ in a catalog in nothing", one.name, hint
            )
        taken.add(one.name.lower())
    return made


def of_stage(stage: Stage) -> Iterator[Relation]:
    """The names of a stage. Errors: SpecError for a column that a view adds."""
    _check_columns(stage)
    name, current, panes = stage.name, comments_of_current(stage), comments_of_panes(stage)
    rows = (
        "each pane that stands, by key and window" if has_combined(stage) else "the result as of now, by key and window"
    )
    yield Relation(name, f"{_title(stage)}: {rows}", current, f"{name}/current")
    every = "every result that was shown and every one that was retracted, in order"
    yield Relation(f"{name}_panes", f"{_title(stage)}: {every}", panes, f"{name}/panes")
    dead = f"{_title(stage)}: the elements that are in no result, with the reason"
    yield Relation(f"{name}_dead_letters", dead, _given(STAGE_DEAD_LETTERS), f"{name}/dead_letters")
    yield Relation(
        f"{name}_ticks", f"{_title(stage)}: one row a tick, with what it counted", _given(TICKS), f"{name}/ticks"
    )
    yield from _views(stage, current)


def _views(stage: Stage, current: Mapping[str, str]) -> Iterator[Relation]:
    name = stage.name
    now, panes, ticks = f"{name}", f"{name}_panes", f"{name}_ticks"
    ended = f"{_title(stage)}: the results of windows that have expired, which only a backfill changes"
    yield Relation(f"{name}_final", ended, current, query=final(stage, table(now), table(ticks)), over=(now, ticks))
    stood = f"{_title(stage)}: the result as it stood at any tick or time, by valid_from and valid_to"
    columns = {**current, **VALIDITY}
    yield Relation(f"{name}_asof", stood, columns, query=as_of(stage, table(panes)), over=(panes,))
    if has_combined(stage):
        whole = f"{_title(stage)}: the panes of each key and window as one row, as far as they combine"
        columns = {column: current[column] for column in combined_columns(stage)}
        yield Relation(f"{name}_combined", whole, columns, query=combined(stage, table(now)), over=(now,))


def of_source(source: Source) -> Iterator[Relation]:
    """The names of a source."""
    dead = f"source {source.name}: the rows that are dead, with the reason"
    yield Relation(f"{source.name}_dead_letters", dead, _given(SOURCE_DEAD_LETTERS), f"{source.name}/dead_letters")
    landed = f"source {source.name}: one row a landing batch"
    yield Relation(f"{source.name}_landings", landed, _given(LANDINGS), f"{source.name}/landings")


def _check_columns(stage: Stage) -> None:
    """Refuse a stage whose own columns have the names of those that a view adds."""
    for name in (*stage.keys, *stage.result_columns):
        if name.lower() in VALIDITY:
            rule = f"is a column that {stage.name}_asof adds, so the stage cannot have a name there"
            raise SpecError(f"stages.{stage.name}.{name}", rule, name, "another name")


def _title(stage: Stage) -> str:
    return shortened(f"stage {stage.name}, {stage.window.words()}")[:120]


def _given(ddl: str) -> Mapping[str, str]:
    return {name: COMMENTS[name] for name in Schema.parse(ddl)}


def chosen(made: Iterable[Relation], there: Iterable[str]) -> list[Relation]:
    """Those of the names whose tables are there: `there` are the folders of such tables under the lake."""
    folders = set(there)
    tables = {one.name for one in made if one.folder in folders}
    return [one for one in made if one.name in tables or (one.is_view and tables.issuperset(one.over))]
