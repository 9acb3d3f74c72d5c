"""Rows that are read in place, with what their parts say of them: their step, their time, and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, changing, col, lit, when
from windrow.engine.frames import local, select, with_column
from windrow.sources.verdicts import Rules, judged
from windrow.spec.quality.expectations import Expectation
from windrow.spec.sources.source import Source
from windrow.store.projections.creation import struct_of
from windrow.store.upstream.in_place import Part

NUMBER = "_number"
"""The number of the part of a row within its step."""
_CLOCK, _RULES = "_clock", "_rules"
_SAID = (envelope.STEP, NUMBER, _CLOCK, _RULES)


def placed(
    spark: SparkSession, source: Source, rows: DataFrame, key: str, parts: Mapping[Any, Part], rules: Sequence[str]
) -> DataFrame:
    """Rows with what their part says of them, found by the path or the version that is in `key`."""
    if len(parts) == 1:
        (part,) = parts.values()
        numbered = with_column(rows, NUMBER, bigint(part.number))
        return with_step(source, numbered, part, rules, lit(part.offset))
    said = {name: [part.step, part.number, part.clock, rules.index(part.rules)] for name, part in parts.items()}
    kind = "string" if isinstance(next(iter(parts)), str) else "bigint"
    schema = struct_of(f"{key} {kind}, {', '.join(f'{name} bigint' for name in _SAID)}, {envelope.OFFSET} string")
    places = local(spark, [(name, *values, parts[name].offset) for name, values in said.items()], schema)
    how = "left" if kind == "string" else "inner"  # among versions that were asked for there may be others
    return rows.join(functions.broadcast(places), on=key, how=how)


def with_step(source: Source, rows: DataFrame, part: Part, rules: Sequence[str], offset: Column) -> DataFrame:
    """Rows of a part, or of several of its step, which landed together, with what these say."""
    values = {envelope.STEP: part.step, _CLOCK: part.clock, _RULES: rules.index(part.rules)}
    known = {name: changing(value, _sometimes_null(source), or_null=True) for name, value in values.items()}
    return select(rows, {**{column: col(column) for column in rows.columns}, **known, envelope.OFFSET: offset})


def _sometimes_null(source: Source) -> Column:
    """A column that is read in any case, of which Spark does not know whether it is null."""
    return col(next(iter(source.schema)) if source.event_time is None else source.event_time.column)


def judged_in_place(source: Source, rows: DataFrame, rules: Sequence[str]) -> DataFrame:
    """Placed rows as `raw` holds them, judged as they were when they landed."""
    step, row, clock = (col(name) for name in (envelope.STEP, envelope.ROW, _CLOCK))
    return judged(source, rows, step, row, clock, _conditions(rules))


def without_those_out(found: DataFrame, parts: Sequence[Part]) -> DataFrame:
    """Judged rows, of which those are dead that were taken out after they had landed."""
    for part in parts:
        if part.out is not None:
            is_of = (col(envelope.STEP) == bigint(part.step)) & (col(envelope.OFFSET) == lit(part.offset))
            for name, value in zip((envelope.REASON, envelope.RULE), part.out, strict=True):
                found = with_column(found, name, when(is_of, value, col(name)))
    return found


def _conditions(rules: Sequence[str]) -> dict[Rules, Column | None]:
    """The rules that judge the rows of some parts, and the condition for that, where there are others."""
    read = [tuple(map(Expectation.from_mapping, json.loads(text))) for text in rules]
    return {some: None if len(rules) == 1 else col(_RULES) == index for index, some in enumerate(read)}
