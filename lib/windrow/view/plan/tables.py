"""The tables that a source and a stage write, and their columns, in words. Rule: docs/tables.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from windrow.spec.expressions.plain import plain
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.table_columns import (
    COMMENTS,
    ENVELOPE_TYPES,
    LANDINGS,
    PANE_TYPES,
    SOURCE_DEAD_LETTERS,
    STAGE_DEAD_LETTERS,
    TICKS,
    current_columns,
    pane_columns,
)
from windrow.spec.sources.source import RESCUED, Source
from windrow.spec.stages.stage import Stage

WRITES = "writes"
"""The label of the lines that name the tables."""

_OF_JOINS = {"row": "number of the row within its pane, from 0"}


@dataclass(frozen=True)
class WrittenColumn:
    """A column of a table. `kind` is its type; None where it follows from the rows that a stage reads."""

    name: str
    kind: str | None
    words: str


@dataclass(frozen=True)
class WrittenTable:
    """A table in a lake, whether or not it is there yet: what its rows are, and its columns in their order."""

    name: str
    words: str
    columns: Sequence[WrittenColumn]


def tables_of_source(source: Source) -> list[WrittenTable]:
    """The tables of a source."""
    raw = [*_given(ENVELOPE_TYPES), *_of_rows(source)]
    return [
        WrittenTable("raw", "every row that was read, with its times and, where it is dead, the reason", raw),
        WrittenTable("dead_letters", "the rows of raw that are dead", _given(SOURCE_DEAD_LETTERS)),
        WrittenTable("landings", "one row a landing batch", _given(LANDINGS)),
    ]


def tables_of_stage(stage: Stage, results: Mapping[str, str]) -> list[WrittenTable]:
    """The tables of a stage. `results` are its results in words, by their names."""
    keys = {name: "key" if name == plain(of) else f"key: {plain(of)}" for name, of in stage.keys.items()}
    words = {**COMMENTS, **_OF_JOINS, **keys, **results}

    def shown(names: Iterable[str]) -> list[WrittenColumn]:
        return [WrittenColumn(name, PANE_TYPES.get(name), words[name]) for name in names]

    every = "every result that was shown and every one that was retracted, in order"
    dead = "the elements that were read and are in no result, with the reason"
    return [
        WrittenTable("current", "the result as of now, by key and window", shown(current_columns(stage))),
        WrittenTable("panes", every, shown(pane_columns(stage))),
        WrittenTable("dead_letters", dead, _given(STAGE_DEAD_LETTERS)),
        WrittenTable("ticks", "one row a tick", _given(TICKS)),
    ]


def folder_of(name: str, lake: str | None) -> str:
    """Where the tables of a source or stage are; of one without a pipeline, in the lake that it will have."""
    return name if lake is None else f"{lake.rstrip('/')}/{name}"


def writes(name: str, lake: str | None, tables: Iterable[WrittenTable]) -> list[str]:
    """The tables of a source or stage as lines under their folder."""
    return [f"{folder_of(name, lake)}/", *[f"  {table.name}: {table.words}" for table in tables]]


def _given(ddl: str) -> list[WrittenColumn]:
    return [WrittenColumn(name, kind, COMMENTS[name]) for name, kind in Schema.parse(ddl).items()]


def _of_rows(source: Source) -> list[WrittenColumn]:
    words = {name: "a column of the source" for name in source.schema}
    words |= {name: "what the connector says of the row" for name in source.connector.beside}
    words |= {RESCUED: "the fields that the schema does not name, as JSON; null where there are none"}
    return [WrittenColumn(name, kind, words[name]) for name, kind in source.columns.items()]
