"""Windows that merge and that a removal by age has cut: they stand as they are, and no part of one beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import cell_identity
from windrow.compile.sql.columns import bigint, call, col
from windrow.engine.frames import group, select, where, with_column
from windrow.spec.times import MINUS_INFINITY

if TYPE_CHECKING:  # a stage that opens asks too
    from windrow.drivers.pipeline.runner import StageRunner

WHOLE_FROM = "_whole_from"
"""The column that says from which start on the windows of a key are: of earlier ones rows were removed."""
_END = "_end_of_cut"


def last_end_of_cut(runner: StageRunner, first: int) -> int:
    """Where the last window ends that is shown, starts before that time and ends behind it; that time without one."""
    cut = _cut(runner, first)
    if cut is None:
        return first
    found: int | None = group(cut, (), {_END: call("max", col(WINDOW_END))}).collect()[0][_END]
    return first if found is None else found


def with_whole_from(runner: StageRunner, frame: DataFrame, first: int) -> DataFrame:
    """The rows of a frame, which has `key`, with `WHOLE_FROM` of their key: that time, or where its cut window ends.

    What has gone of that window may have been between two parts of what is left of it.
    """
    cut = _cut(runner, first)
    if cut is None:
        return with_column(frame, WHOLE_FROM, bigint(first))
    ends = group(cut, (KEY,), {_END: call("max", col(WINDOW_END))})
    joined = frame.join(ends, on=[KEY], how="left")
    return with_column(joined, WHOLE_FROM, call("greatest", bigint(first), col(_END))).drop(_END)


def only_whole(runner: StageRunner, windows: DataFrame, first: int) -> DataFrame:
    """Those of windows that start then or later, and of keys with a cut window where that ends or later."""
    found = with_whole_from(runner, windows, first)
    return where(found, col(WINDOW_START) >= col(WHOLE_FROM)).drop(WHOLE_FROM)


def _cut(runner: StageRunner, first: int) -> DataFrame | None:
    """By `key` and bounds; None where there can be none. A window that `having` has hidden is not among them."""
    if first == MINUS_INFINITY or not runner.strategy.is_made_whole:
        return None
    stage = runner.stage.shown
    table = runner.journal.lake.table(stage.name, "current")
    if not table.exists(runner.spark):
        return None
    shown = select(table.read(runner.spark), cell_identity(stage))
    return where(shown, (col(WINDOW_START) < bigint(first)) & (col(WINDOW_END) > bigint(first)))
