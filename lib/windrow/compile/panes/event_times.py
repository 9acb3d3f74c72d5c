"""The event times of panes that are those of their elements, and the output watermark. Rule: docs/semantics.md#panes.

A cell keeps one time: the earliest or latest of its new elements that were not behind the stage's output watermark when
they were added; null where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.columns import AHEAD, ELEMENTS, EVENT_TIME, WINDOW_END
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, coalesce, col, when
from windrow.spec.stages.stage import PaneTime, Stage
from windrow.spec.times import INFINITY

KEPT = "ahead"
"""The field of a cell's state."""


def ahead_of(output_watermark: int) -> Column:
    """The event time of an element that is not behind the output watermark, else null."""
    at = col(EVENT_TIME)
    return when(at >= changing(output_watermark, at), at)


def partial(stage: Stage) -> dict[str, Column]:
    """The time over elements, and over relations that hold it already; nothing where the stage keeps none."""
    return {AHEAD: gathered(stage, col(AHEAD))} if stage.keeps_event_times else {}


def gathered(stage: Stage, times: Column) -> Column:
    """The earliest or latest of such times, as an aggregate."""
    return call("min" if stage.event_time is PaneTime.EARLIEST else "max", times)


def added(stage: Stage, is_open: Column) -> Mapping[str, Column]:
    """The kept time after the tick's elements."""
    if not stage.keeps_event_times:
        return {}
    pick = sql.least if stage.event_time is PaneTime.EARLIEST else sql.greatest
    return {KEPT: when(is_open & (col(ELEMENTS) > 0), pick(col(KEPT), col(AHEAD)), col(KEPT))}


def end_of_window() -> Column:
    """The last instant of the window; null for the one of all time."""
    return when(col(WINDOW_END) != bigint(INFINITY), col(WINDOW_END) - 1)


def of_pane(kept: Column) -> Column:
    """The event time of a pane that carries what is new in the cell."""
    return coalesce(kept, end_of_window())
