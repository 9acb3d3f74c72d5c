"""The tables that people read: their columns, types and comments, and how they are made."""

from __future__ import annotations

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import StructField, StructType

from windrow.compile.sql.columns import quoted
from windrow.store.delta.location import READABLE, Location

COMMENTS: Mapping[str, str] = {
    "window_start": "start of the window, included; null for the global window",
    "window_end": "end of the window, excluded; null for the global window",
    "timing": "early, on_time or late, against the watermark",
    "pane_index": "number of the pane within its window, from 0",
    "on_time_index": "number among the panes of the window that are not early, from 0; null for early ones",
    "is_first": "true for the first pane of the window",
    "is_last": "true for the last pane of the window",
    "event_time": "event time of the pane: the last instant of its window, or that of its elements",
    "watermark": "watermark of the stage after the tick; null before it is known and at the end of time",
    "watermark_percentile": "share of source partitions whose watermark had reached the window's end; null if late",
    "produced_at": "processing time of the tick; null for a backfill before any stream",
    "tick": "the tick that emitted the row",
    "change": "insert, update_preimage, update_postimage or delete",
    "weight": "+1 for insert and update_postimage, -1 for what is withdrawn",
    "trigger": "the trigger that fired; expiry for a closing pane that none asked for",
    "reason": "why it is in no result",
    "rule": "the rule that was broken",
    "element": "the row as JSON",
    "source": "the source that it came from",
    "partition": "source partition of the watermark",
    "offset": "where it was read: the path of its file, or its offset in the partition",
    "arrived_at": "arrival time",
    "restated_by": "the backfill that took it in; null if none has",
    "generation": "which rebuild of the stage",
    "kind": "stream, admission, backfill or restatement",
    "watermark_before": "watermark before the tick",
    "now": "processing time of the tick; null for a backfill before any stream",
    "elements_read": "rows that the tick read",
    "assigned": "pairs of element and window that were assigned",
    "unassigned": "elements in no window",
    "filtered": "elements that `where` left out",
    "late": "pairs whose window had expired",
    "closed": "pairs whose window was closed",
    "rejected": "rows that were dead when they landed, or on which an expression failed",
    "panes": "panes emitted",
    "retractions": "panes withdrawn",
    "open_cells": "cells open after the tick; null where windows are formed as they fire",
    "outgrown": "sessions that have become longer than max_session says",
    "duration_ms": "milliseconds of looking at the rows and planning; the work itself is part of the commit",
    "step": "landing step",
    "landed_at": "arrival time of the newest row",
    "files": "files of the batch; 0 where the source has none",
    "rows": "rows of the batch",
    "dead": "rows of the batch that are dead letters",
}

_TIMES = "event_time timestamp, window_start timestamp, window_end timestamp"

STAGE_DEAD_LETTERS = (
    f"reason string, rule string, {_TIMES}, element string, source string, `partition` string, `offset` string, "
    "arrived_at timestamp, tick bigint, restated_by bigint"
)
SOURCE_DEAD_LETTERS = (
    "reason string, rule string, event_time timestamp, element string, source string, `partition` string, "
    "`offset` string, arrived_at timestamp, step bigint"
)
LANDINGS = "step bigint, landed_at timestamp, files bigint, `rows` bigint, dead bigint"

TICK_COUNTERS: Mapping[str, str] = {
    "elements_read": "read", "assigned": "assigned", "unassigned": "unassigned", "filtered": "filtered",
    "late": "late", "closed": "closed", "rejected": "rejected", "panes": "panes", "retractions": "retractions",
}  # fmt: skip
"""The columns of `ticks` that are counters, and what of `Counters` each holds."""

TICKS = (
    "tick bigint, generation int, kind string, watermark_before timestamp, watermark timestamp, now timestamp, "
    f"{', '.join(f'{name} bigint' for name in TICK_COUNTERS)}, "
    "open_cells bigint, outgrown bigint, duration_ms bigint"
)


def struct_of(ddl: str) -> StructType:
    """The schema of a DDL text."""
    schema = StructType.fromDDL(ddl)
    assert isinstance(schema, StructType)
    return schema


def ensure_table(spark: SparkSession, location: Location, schema: StructType) -> None:
    """Make the table with a comment on every column, unless it is there."""
    if location.exists(spark):
        return
    builder = DeltaTable.createIfNotExists(spark).location(location.path)
    for name, value in READABLE.items():
        builder = builder.property(name, value)
    builder.addColumns(StructType([_commented(field) for field in schema.fields])).execute()


def commented(frame: DataFrame) -> DataFrame:
    """The frame with the comments of its columns, for a write that takes the place of all that a table holds."""
    columns = [functions.col(quoted(name)).alias(name, metadata=_comment(name)) for name in frame.columns]
    return frame.select(*columns)


def _commented(field: StructField) -> StructField:
    return StructField(field.name, field.dataType, True, _comment(field.name))


def _comment(name: str) -> dict[str, str]:
    return {"comment": COMMENTS.get(name, "a result of the stage")}
