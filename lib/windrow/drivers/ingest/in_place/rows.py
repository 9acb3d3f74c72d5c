"""The rows of landed parts of a Delta table, read where they are, and judged as they were when they landed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, changing, col, lit, when
from windrow.drivers.ingest.in_place.ahead import gone
from windrow.engine.frames import local, select, with_column
from windrow.sources.delta import check_columns, delta_of, no_table
from windrow.sources.in_place import FILE, VERSION, change_rows, file_rows, numbered
from windrow.sources.verdicts import Rules, judged
from windrow.spec.quality.expectations import Expectation
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.foreign import ForeignTable, Snapshot
from windrow.store.projections.creation import struct_of
from windrow.store.upstream.in_place import Part
from windrow.store.upstream.places import CHANGES, path_of


def changes_action(source: Source) -> str:
    """Of a version that lands now."""
    return json.dumps({CHANGES: {"columns": [*source.schema]}})


def rules_json(rules: Rules) -> str:
    """The rules that judge the rows of a part: it keeps them, as a suite may change later."""
    return json.dumps([rule.to_mapping() for rule in rules])


def reader_of(source: Source) -> Callable[[SparkSession, Sequence[Part], bool], DataFrame]:
    """What reads the parts of a source that is read in place."""
    return lambda spark, parts, checks: rows_of(spark, source, parts, checks)


def rows_of(spark: SparkSession, source: Source, parts: Sequence[Part], checks: bool) -> DataFrame:
    """The rows of parts, as `raw` holds those that are copied.

    Raises SpecError where the table has not the source's columns, or with `checks` where it does not keep a part.
    """
    delta = delta_of(source)
    table = ForeignTable(spark, resolve_environment(delta.path))
    snapshot = checked(source, delta, table)
    if checks:
        _check_kept(source, table, parts)
    rules = list(dict.fromkeys(part.rules for part in parts))
    unknown = next(iter(source.schema)) if source.event_time is None else source.event_time.column
    frames: list[DataFrame] = []
    files = {table.file_name(path): part for part in parts if (path := path_of(part.action)) is not None}
    if files:
        read = file_rows(source, delta, table.rows(snapshot, [part.action for part in files.values()]))
        placed = _placed(spark, read, FILE, files, rules, unknown)
        frames.append(with_column(placed, envelope.ROW, numbered(col(_NUMBER))))
    for hashed in dict.fromkeys(columns for part in parts if (columns := _hashed(part))):
        versions = {part.version: part for part in parts if _hashed(part) == hashed}
        read = change_rows(source, hashed, table.changes(min(versions), max(versions)))
        frames.append(_placed(spark, read, VERSION, versions, rules, unknown))
    rows = reduce(DataFrame.unionByName, [frame.drop(FILE, VERSION, _NUMBER) for frame in frames])
    step, row, clock = (col(name) for name in (envelope.STEP, envelope.ROW, _CLOCK))
    return _with_those_out(judged(source, rows, step, row, clock, _conditions(rules)), parts)


def check_kept(spark: SparkSession, source: Source, parts: Sequence[Part]) -> None:
    """Raises SpecError where the table does not keep a part."""
    _check_kept(source, ForeignTable(spark, resolve_environment(delta_of(source).path)), parts)


def checked(source: Source, delta: DeltaSource, table: ForeignTable) -> Snapshot:
    """The table as it stands. Raises SpecError where there is none, or it has not what the source needs."""
    snapshot = table.newest()
    if snapshot is None:
        raise no_table(source, delta)
    check_columns(source, delta, snapshot.schema, snapshot.properties)
    return snapshot


_NUMBER, _CLOCK, _RULES = "_number", "_clock", "_rules"


def _hashed(part: Part) -> tuple[str, ...]:
    """The columns that tell the changes of a version apart; none for a file."""
    return tuple(json.loads(part.action).get(CHANGES, {}).get("columns", ()))


def _placed(
    spark: SparkSession, rows: DataFrame, key: str, parts: Mapping[Any, Part], rules: Sequence[str], unknown: str
) -> DataFrame:
    """Rows with what their part says of them, found by the path or the version that is in `key`.

    `unknown` is a column that is read in any case, of which Spark does not know whether it is null.
    """
    said = {name: [part.step, part.number, part.clock, rules.index(part.rules)] for name, part in parts.items()}
    if len(said) == 1:
        ((name, numbers),) = said.items()
        known = {
            place: changing(value, col(unknown), or_null=True) for place, value in zip(_SAID, numbers, strict=True)
        }
        known[envelope.OFFSET] = lit(parts[name].offset)
        return select(rows, {**{column: col(column) for column in rows.columns}, **known})
    kind = "string" if key == FILE else "bigint"
    schema = struct_of(f"{key} {kind}, {', '.join(f'{name} bigint' for name in _SAID)}, {envelope.OFFSET} string")
    places = local(spark, [(name, *values, parts[name].offset) for name, values in said.items()], schema)
    how = "left" if key == FILE else "inner"  # among versions that were asked for there may be others
    return rows.join(functions.broadcast(places), on=key, how=how)


_SAID = (envelope.STEP, _NUMBER, _CLOCK, _RULES)


def _conditions(rules: Sequence[str]) -> dict[Rules, Column | None]:
    """The rules that judge the rows of some parts, and the condition for that, where there are others."""
    read = [tuple(map(Expectation.from_mapping, json.loads(text))) for text in rules]
    return {some: None if len(rules) == 1 else col(_RULES) == index for index, some in enumerate(read)}


def _with_those_out(rows: DataFrame, parts: Sequence[Part]) -> DataFrame:
    """The rows, of which some were taken out after they had landed."""
    for part in parts:
        if part.out is not None:
            is_of = (col(envelope.STEP) == bigint(part.step)) & (col(envelope.OFFSET) == lit(part.offset))
            for name, value in zip((envelope.REASON, envelope.RULE), part.out, strict=True):
                rows = with_column(rows, name, when(is_of, value, col(name)))
    return rows


def _check_kept(source: Source, table: ForeignTable, parts: Sequence[Part]) -> None:
    """Raises SpecError where a file of a part is gone, or the commit of a version of a feed."""
    oldest, delta = table.oldest(), delta_of(source)
    paths: dict[str, Part] = {}
    for part in parts:
        path = path_of(part.action)
        if path is not None:
            paths |= dict.fromkeys(filter(None, (path, table.vector(part.action))), part)
            continue
        change = table.change(part.version)
        if change is None:
            raise gone(source, delta, f"version {part.version}, which is landing step {part.step}", oldest)
        paths |= dict.fromkeys(change.opened, part)
    lost = sorted({(paths[path].step, paths[path].version) for path in table.gone([*paths])})
    if lost:
        step, version = lost[-1]
        what = f"all files of version {version}, which landing step {step} reads"
        raise gone(source, delta, what, oldest)
