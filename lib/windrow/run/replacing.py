"""The transitions by which recomputed windows take the place of those that a stage shows. Rule: SEMANTICS section 11.

`streams` and `late` say whether a stream has shown panes of these windows, or could have.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, EXPIRED, OPENED, PANES, STATE
from windrow.compile.event_times import end_of_window, of_pane
from windrow.compile.joins import JOINED
from windrow.compile.merged_away import gone
from windrow.compile.panes import BACKFILL, LATE, ON_TIME, PaneColumns, pane_struct
from windrow.compile.sql import (
    Column,
    array,
    call,
    case,
    coalesce,
    col,
    empty_array,
    lit,
    null,
    quoted,
    when,
)
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import group, select


def with_gone(stage: CompiledStage, changes: DataFrame, standing: DataFrame) -> DataFrame:
    """The windows that differ, with `gone`: the withdrawals of the panes that stand in each, by index."""
    withdrawn = pane_struct(
        PaneColumns(
            change=lit("delete"), weight=-1, timing=col("timing"), pane_index=col("pane_index"),
            on_time_index=col("on_time_index"), is_last=col("is_last"), trigger=col("trigger"),
            percentile=col("watermark_percentile"), values={name: col(f"v_{name}") for name in stage.shown.emitted},
            event_time=col("event_time") if stage.stage.keeps_event_times else None,
        )
    )  # fmt: skip
    touched = standing.join(changes.select(*CELL), on=list(CELL), how="left_semi")
    gone = group(touched, CELL, {"gone": call("array_sort", call("collect_list", _ordered(withdrawn)))})
    return changes.join(gone, on=list(CELL), how="left")


def gone_type(stage: CompiledStage) -> str:
    """The Spark type of the withdrawals of a window, as `with_gone` gives them."""
    return f"array<struct<index: int, pane: {stage.pane_type}>>"


def transitions(stage: CompiledStage, rows: DataFrame, streams: bool) -> DataFrame:
    """Withdraw what stands in each window, and insert what is right."""
    inserted = _inserted(stage, streams)
    gone_panes = coalesce(col("gone", "pane"), empty_array(stage.pane_type))
    panes = case((col("batch").is_null(), gone_panes), otherwise=call("concat", gone_panes, inserted))
    return select(
        rows,
        {
            **{name: col(name) for name in CELL},
            STATE: when(col("batch").is_not_null(), _remembered(stage)),
            PANES: panes,
            EXPIRED: lit(True),
            OPENED: lit(True),
        },
    )


def _remembered(stage: CompiledStage) -> Column:
    """What a window leaves behind that has expired: its bounds, where windows merge, so that none overlaps it later."""
    return gone(stage.cells) if stage.windows.merges else null(stage.cells.state_type)


def _ordered(pane: Column) -> Column:
    return Column(f"named_struct('index', pane_index, 'pane', {pane.text})")


def _inserted(stage: CompiledStage, late: bool) -> Column:
    """The pane of the recomputed window, as an array; of a join, each of its rows."""
    if stage.joined is None:
        return array(_pane(stage, late, {name: col("batch", name) for name in stage.aggregates}))
    pane = _pane(stage, late, {name: Column(f"one.{quoted(name)}") for name in stage.shown.emitted})
    return Column(f"transform({col('batch', JOINED).text}, one -> {pane.text})")


def _pane(stage: CompiledStage, late: bool, values: Mapping[str, Column]) -> Column:
    """The index goes on, and it is late where a pane was there before."""
    index = coalesce(Column("(element_at(gone, -1).index + 1)"), 0)
    on_time = Column("element_at(gone, -1).pane.on_time_index")
    event_time = end_of_window() if late else of_pane(col("batch", "event_time"))
    return pane_struct(
        PaneColumns(
            change=lit("insert"),
            weight=1,
            timing=lit(LATE) if late else when(col("gone").is_null(), ON_TIME, LATE),
            pane_index=index,
            on_time_index=coalesce(on_time + 1, 0),
            is_last=lit(True),
            trigger=lit(BACKFILL),
            percentile=null("int"),
            values=values,
            event_time=event_time if stage.stage.keeps_event_times else None,
        )
    )
