"""Panes as columns: what a firing emits, and the rows of `panes` that a transition stands for.

Rules: docs/semantics.md#panes, docs/semantics.md#accumulation-and-changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.panes.event_times import end_of_window
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, bigint, call, case, changing, col, when
from windrow.spec.pipelines.table_columns import pane_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY

EARLY, ON_TIME, LATE = "early", "on_time", "late"
TIMINGS = (EARLY, ON_TIME, LATE)
EXPIRY = "expiry"
"""The `trigger` of a closing pane that no trigger asked for."""
BACKFILL = "backfill"

RETRACTED = ("update_preimage", "delete")
CHANGES = ("insert", "update_postimage", *RETRACTED)


@dataclass(frozen=True)
class PaneColumns:
    """The fields of one pane within its window. `event_time` is None where it is the end of the window, for all."""

    change: Column
    weight: int
    timing: Column
    pane_index: Column
    on_time_index: Column
    is_last: Column
    trigger: Column
    percentile: Column
    values: Mapping[str, Column]
    event_time: Column | None = None


def pane_struct(pane: PaneColumns) -> Column:
    """The pane as a struct, as the journal holds it; `result` is the struct of the aggregates."""
    event_time = {} if pane.event_time is None else {"event_time": pane.event_time.cast("bigint")}
    return sql.struct(
        change=pane.change,
        weight=pane.weight,
        timing=pane.timing,
        pane_index=pane.pane_index.cast("int"),
        on_time_index=pane.on_time_index.cast("int"),
        is_first=pane.pane_index == 0,
        is_last=pane.is_last,
        trigger=pane.trigger,
        watermark_percentile=pane.percentile.cast("int"),
        **event_time,
        result=sql.struct(**pane.values),
    )


def percentile_reached(watermark: Column, partition_watermarks: list[int] | None) -> Column:
    """The share of source partitions, in whole percent, whose watermark has reached the window's end."""
    end = col(WINDOW_END)
    if not partition_watermarks:
        return when(end <= watermark, 100, 0)
    levels = sorted(set(partition_watermarks))
    number = len(partition_watermarks)
    shares = [(level, 100 * sum(w >= level for w in partition_watermarks) // number) for level in levels]
    return case(*[(end <= changing(level), share) for level, share in shares], otherwise=0)


def pane_rows(stage: Stage, transitions: Chain) -> Chain:
    """The rows of `panes` that transitions stand for: one for each pane and retraction, derived columns included.

    The relation needs `key`, bounds, `panes`, `tick`, `watermark` and `now` (all bigint microseconds); the rows have
    the columns of the table `panes`, with times as timestamps.
    """
    exploded = transitions.select(
        {**{name: col(name) for name in (KEY, WINDOW_START, WINDOW_END, "tick", "watermark", "now")},
         "pane": call("explode", col("panes"))}
    )  # fmt: skip
    rows = exploded.select(
        {
            **{name: col(KEY, name) for name in stage.keys},
            **{name: col("pane", "result", name) for name in stage.emitted},
            **{name: col("pane", name) for name in PANE_FIELDS},
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            "event_time": as_timestamp(col("pane", "event_time") if stage.keeps_event_times else end_of_window()),
            "watermark": as_timestamp(col("watermark")),
            "produced_at": as_timestamp(col("now")),
            "tick": col("tick"),
        }
    )
    derived = {name: Column(expression.value_sql) for name, expression in stage.derive.items()}
    return rows.with_columns(derived).only(pane_columns(stage))


PANE_FIELDS = ("change", "weight", "timing", "pane_index", "on_time_index", "is_first", "is_last", "trigger",
               "watermark_percentile")  # fmt: skip
"""Of every pane in the journal, in their order there."""


def as_timestamp(micros: Column) -> Column:
    """A timestamp, or null for the infinities."""
    finite = (micros != bigint(INFINITY)) & (micros != bigint(MINUS_INFINITY))
    return call("timestamp_micros", when(finite, micros))
