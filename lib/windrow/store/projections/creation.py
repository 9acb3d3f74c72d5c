"""The tables that people read: how they are made, with a comment on every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import StructField, StructType

from windrow.compile.sql.columns import quoted
from windrow.engine.frames import struct_of as struct_of
from windrow.spec.pipelines.table_columns import COMMENTS
from windrow.store.delta.location import READABLE, Location
from windrow.store.delta.log import first_commit
from windrow.store.delta.log.log_store import VersionTaken


def ensure_table(
    spark: SparkSession,
    location: Location,
    schema: StructType,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] = READABLE,
) -> None:
    """Make the table, unless it is there, with a comment on every column: its own, or the one for its name."""
    if location.exists(spark):
        return
    columns = StructType([_commented(field) for field in schema.fields])
    if first_commit.can_make(spark, columns):
        with suppress(VersionTaken):
            first_commit.make(spark, location.path, columns, partition_by, properties)
        return
    builder = DeltaTable.createIfNotExists(spark).location(location.path)
    for name, value in properties.items():
        builder = builder.property(name, value)
    if partition_by:
        builder = builder.partitionedBy(*partition_by)
    builder.addColumns(columns).execute()


def commented(frame: DataFrame, comments: Mapping[str, str] = COMMENTS) -> DataFrame:
    """The frame with the comments of its columns, for a write that takes the place of all that a table holds."""
    columns = [functions.col(quoted(name)).alias(name, metadata=_comment(name, comments)) for name in frame.columns]
    return frame.select(*columns)


def schema_of(columns: StructType, comments: Mapping[str, str]) -> StructType:
    """Those of the columns that have a comment, with it, in the order of the comments."""
    return StructType(
        [StructField(name, columns[name].dataType, True, {"comment": text}) for name, text in comments.items()]
    )


def _commented(field: StructField) -> StructField:
    return StructField(field.name, field.dataType, True, field.metadata or _comment(field.name, COMMENTS))


def _comment(name: str, comments: Mapping[str, str]) -> dict[str, str]:
    return {"comment": comments.get(name, "a result of the stage")}
