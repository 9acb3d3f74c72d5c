"""The rows of landed parts of a Delta table, read where they are, and judged as they were when they landed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import col
from windrow.drivers.ingest.in_place.delta.ahead import gone
from windrow.drivers.ingest.in_place.placing import NUMBER, judged_in_place, placed, without_those_out
from windrow.engine.frames import with_column
from windrow.sources.delta import check_columns, delta_of, no_table
from windrow.sources.in_place import FILE, VERSION, change_rows, file_rows, numbered
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.foreign import ForeignTable, Snapshot
from windrow.store.upstream.in_place import Part
from windrow.store.upstream.places import CHANGES, path_of


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
    frames: list[DataFrame] = []
    files = {table.file_name(path): part for part in parts if (path := path_of(part.action)) is not None}
    if files:
        read = file_rows(source, delta, table.rows(snapshot, [part.action for part in files.values()]))
        found = placed(spark, source, read, FILE, files, rules)
        frames.append(with_column(found, envelope.ROW, numbered(col(NUMBER))))
    for hashed in dict.fromkeys(columns for part in parts if (columns := _hashed(part))):
        versions = {part.version: part for part in parts if _hashed(part) == hashed}
        read = change_rows(source, dict(hashed), table.changes(min(versions), max(versions)))
        frames.append(placed(spark, source, read, VERSION, versions, rules))
    rows = reduce(DataFrame.unionByName, [frame.drop(FILE, VERSION, NUMBER) for frame in frames])
    return without_those_out(judged_in_place(source, rows, rules), parts)


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


def _hashed(part: Part) -> tuple[tuple[str, str], ...]:
    """The columns of the table that tell the changes of a version apart, and their types; none for a file."""
    return tuple(json.loads(part.action).get(CHANGES, {}).get("columns", {}).items())


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
