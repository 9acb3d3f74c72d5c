"""Windows that no element of their key may meet: sessions that have expired or are closed.

Rule: docs/semantics.md#sessions.

An element is judged by its own window, before any merging. What it must not meet are few bounds, so they are looked at
only for the elements that can.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.cells.merging import GONE
from windrow.compile.columns import CELL, KEY, STATE, WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import Column, col
from windrow.compile.windows.families import MergingWindows
from windrow.engine.frames import joined, where
from windrow.engine.tick.admission import Admission

_PAIR, _OTHER = "pair", "other"


def expired(cells: DataFrame) -> DataFrame:
    """The windows of which only the bounds are kept."""
    return where(cells, col(STATE, GONE)).select(*CELL)


def shut(cells: DataFrame) -> DataFrame:
    """The windows, of a stage that keeps no others, whose trigger has finished for good."""
    return where(cells, col(STATE, "closed")).select(*CELL)


def closed(cells: DataFrame) -> DataFrame:
    """The windows whose trigger has finished for good."""
    return where(cells, ~col(STATE, GONE) & col(STATE, "closed")).select(*CELL)


def living(cells: DataFrame) -> DataFrame:
    """The windows that have not expired."""
    return where(cells, ~col(STATE, GONE)).select(*CELL)


def meeting(windows: MergingWindows, pairs: DataFrame, others: DataFrame) -> DataFrame:
    """The pairs, with `key` and bounds, that meet one of the windows."""
    return _joined(windows, pairs, others, "left_semi")


def without(windows: MergingWindows, pairs: DataFrame, others: DataFrame) -> DataFrame:
    """The pairs that meet none of them."""
    return _joined(windows, pairs, others, "left_anti")


def _joined(windows: MergingWindows, pairs: DataFrame, others: DataFrame, how: str) -> DataFrame:
    def before(left: str, right: str) -> Column:
        start, end = col(left, WINDOW_START), col(right, WINDOW_END)
        return start <= end if windows.touches else start < end

    meets = (col(_PAIR, KEY) == col(_OTHER, KEY)) & before(_PAIR, _OTHER) & before(_OTHER, _PAIR)
    return joined(pairs.alias(_PAIR), others.alias(_OTHER), meets, how)


def admitted(
    windows: MergingWindows,
    pairs: DataFrame,
    cells: DataFrame | None,
    admission: Admission,
    has_suspects: bool,
    can_close: bool,
) -> DataFrame:
    """The pairs of elements and their windows that are neither late nor closed out.

    Only suspects can meet a window that has expired. `can_close`: a window of the stage can be closed before.
    """
    in_time = _in_time(pairs, admission)
    if cells is not None and can_close:
        return without(windows, in_time, expired(cells).unionByName(closed(cells)))
    if cells is None or not has_suspects:
        return in_time
    suspect = admission.may_overlap_expired(windows, col(WINDOW_START))
    return where(in_time, ~suspect).unionByName(without(windows, where(in_time, suspect), expired(cells)))


def meeting_expired(windows: MergingWindows, pairs: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
    """The pairs of judged rows, with their `key`, that are in time by themselves but meet a window that has expired."""
    in_time = _in_time(pairs, admission)
    suspects = where(in_time, admission.may_overlap_expired(windows, col(WINDOW_START)))
    return meeting(windows, suspects, expired(cells))


def meeting_closed(windows: MergingWindows, pairs: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
    """The pairs that are not late in any way, but meet a window that is closed."""
    in_time = _in_time(pairs, admission)
    return meeting(windows, without(windows, in_time, expired(cells)), closed(cells))


def _in_time(pairs: DataFrame, admission: Admission) -> DataFrame:
    return where(pairs, admission.admits(col(WINDOW_START), col(WINDOW_END)))
