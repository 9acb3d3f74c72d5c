"""A Delta table as a stream: its rows at first, then what is appended to it, or every change in its feed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.elements.envelope import OFFSET, RAW
from windrow.compile.elements.evolution import of_fields
from windrow.compile.sql.columns import Column, call, col, named, null, when
from windrow.spec.errors import SpecError
from windrow.spec.fields.widening import plain_type, widens
from windrow.spec.sources.delta import WEIGHT, DeltaSource
from windrow.spec.sources.source import Source, resolve_environment

FEED_PROPERTY = "delta.enableChangeDataFeed"


def read_delta(
    spark: SparkSession, source: Source, delta: DeltaSource, offset: Mapping[str, Any] | None
) -> DataFrame | None:
    """A streaming frame of the source's columns and the file of each row; None where there is nothing behind `offset`.

    `offset` is where the last landing has ended, where no checkpoint knows it. Errors: SpecError.
    """
    path = resolve_environment(delta.path)
    newest = _check_table(spark, source, delta, path)
    reader = spark.readStream.format("delta").option("maxFilesPerTrigger", delta.max_files_per_batch)
    if delta.is_feed:
        reader = reader.option("readChangeFeed", "true")
    if offset is not None and not offset["isStartingVersion"]:
        if offset["reservoirVersion"] > newest:
            return None
        reader = reader.option("startingVersion", offset["reservoirVersion"])
    elif offset is not None and delta.is_feed and offset["reservoirVersion"] != newest:
        rule = "has changed since a part of its first rows landed, and the checkpoint that knew which part is gone"
        versions = f"version {newest}, and {offset['reservoirVersion']} was read"
        raise SpecError(f"sources.{source.name}.delta", rule, versions, "read it as a source of another name")
    rows = reader.load(path)
    columns = columns_in(source, rows)
    columns |= {WEIGHT: change_weight()} if delta.is_feed else {}
    columns |= {RAW: null("string"), OFFSET: _offset_in_table(delta)}
    return rows.selectExpr(*[named(name, column) for name, column in columns.items()])


def columns_in(source: Source, rows: DataFrame, also_others: bool = False) -> dict[str, Column]:
    """The columns of the schema in the rows of its table, which may have other names or narrower types for them.

    With `also_others` the table's other columns too: of those that the source had once, rules may speak that judged it.
    """
    own = of_fields(source.fields, {field.name: field.dataType.simpleString() for field in rows.schema.fields})
    taken = {name.lower() for name in source.columns}
    others = [name for name in rows.columns if name.lower() not in taken and not name.startswith("_")]
    return {**{name: col(name) for name in others if also_others}, **own}


def delta_of(source: Source) -> DeltaSource:
    """The connector of a source that reads a Delta table."""
    assert source.delta is not None, "it reads a table"
    return source.delta


def change_weight() -> Column:
    """The weight of a change: an update takes the row back as it was, and adds it as it is."""
    kind = col("_change_type")
    return when((kind == "delete") | (kind == "update_preimage"), -1, 1)


def _offset_in_table(delta: DeltaSource) -> Column:
    """What identifies the rows that are read together: their file, and in a feed the version, as a file comes twice."""
    file = call("input_file_name")
    return call("concat", file, "#", col("_commit_version").cast("string")) if delta.is_feed else file


def _check_table(spark: SparkSession, source: Source, delta: DeltaSource, path: str) -> int:
    """The newest version of the table. Errors: SpecError where there is none, or it has not what is needed."""
    from delta.tables import DeltaTable

    if not DeltaTable.isDeltaTable(spark, path):
        raise no_table(source, delta)
    table = DeltaTable.forPath(spark, path)
    check_columns(source, delta, table.toDF().schema, table.detail().collect()[0]["properties"])
    return int(table.history(1).collect()[0]["version"])


def no_table(source: Source, delta: DeltaSource) -> SpecError:
    """The error where there is no table at the path."""
    hint = "a table has to be there, if empty"
    return SpecError(f"sources.{source.name}.delta.path", "is no Delta table", delta.path, hint)


def check_columns(source: Source, delta: DeltaSource, have: StructType, properties: Mapping[str, str]) -> None:
    """Refuse a table that has not the columns of the source, or no feed where one is read. Errors: SpecError."""
    place = f"sources.{source.name}"
    kinds = {field.name.lower(): field.dataType.simpleString() for field in have.fields}
    for name, kind in source.schema.items():
        there = [kinds[one.lower()] for one in source.fields.names_of(name) if one.lower() in kinds]
        if not there and name not in source.defaults:
            hint = f"it has {', '.join(kinds)}; a field of another name: rename, one that may be missing: defaults"
            raise SpecError(f"{place}.schema.{name}", "is no column of the table", None, hint)
        for one in there:
            if plain_type(one) != plain_type(kind) and not widens(one, kind):
                widen = f", to which it may be widened: {name} {one}" if widens(kind, one) else ""
                rule, hint = "has another type in the table", f"there it is {one}{widen}"
                raise SpecError(f"{place}.schema.{name}", rule, plain_type(kind), hint)
    if delta.is_feed and properties.get(FEED_PROPERTY) != "true":
        hint = f"ALTER TABLE ... SET TBLPROPERTIES ({FEED_PROPERTY} = true)"
        raise SpecError(f"{place}.delta.changes", "needs a table that keeps a change data feed", delta.path, hint)


_CHANGED = re.compile(r"DELTA_SOURCE_(?:IGNORE_DELETE|TABLE_IGNORE_CHANGES)|Detected (?:a data update|deleted data)")
_UNRECORDED = re.compile(r"DELTA_MISSING_CHANGE_DATA|change data was not recorded")


def changed_table(source: Source, words: str) -> SpecError | None:
    """The error for a query that failed with these words, where the table has changes that cannot be read."""
    if source.delta is None:
        return None
    found = re.search(r"version:? \[?(\d+)\]?", words)
    version = "" if found is None else f" in version {found[1]}"
    if _UNRECORDED.search(words):
        rule = f"has changes that its change data feed did not record{version}"
        hint = f"{FEED_PROPERTY} was off then: read the table as a source of another name"
        return SpecError(f"sources.{source.name}.delta", rule, source.delta.path, hint)
    return rows_taken_out(source, source.delta, version) if _CHANGED.search(words) else None


def rows_taken_out(source: Source, delta: DeltaSource, version: str) -> SpecError:
    """The error for a table that is read as one that is only appended to; `version` says in which one it was not."""
    rule = f"is a table that is only appended to, and rows of it were deleted or updated{version}"
    hint = f"changes: feed reads such changes too, where {FEED_PROPERTY} is on"
    return SpecError(f"sources.{source.name}.delta", rule, delta.path, hint)
