"""Windows that merge and that a removal by age has cut: they stand as they are, and no part of one beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import cell_identity
from windrow.compile.sql.columns import bigint, call, col
from windrow.drivers.retention.kept import whole_from
from windrow.engine.frames import group, select, where, with_column
from windrow.spec.times import MINUS_INFINITY

if TYPE_CHECKING:  # a stage that opens asks too
    from windrow.drivers.pipeline.runner import StageRunner

WHOLE_FROM = "_whole_from"
"""The column that says from which start on the windows of a key are: of earlier ones rows were removed."""


def with_whole_from(runner: StageRunner, frame: DataFrame) -> DataFrame:
    """The rows of a frame, which has `key`, with `WHOLE_FROM` of their key.

    It is that of the stage (`whole_from`), or the end of a window of the key that is shown and starts before: what has
    gone of that one may have been between two parts of what is left of it.
    """
    first = whole_from(runner)
    if first == MINUS_INFINITY or not runner.strategy.is_made_whole:
        return with_column(frame, WHOLE_FROM, bigint(first))
    stage = runner.stage.shown
    shown = select(runner.journal.lake.table(stage.name, "current").read(runner.spark), cell_identity(stage))
    cut = where(shown, (col(WINDOW_START) < bigint(first)) & (col(WINDOW_END) > bigint(first)))
    ends = group(cut, (KEY,), {_END: call("max", col(WINDOW_END))})
    joined = frame.join(ends, on=[KEY], how="left")
    return with_column(joined, WHOLE_FROM, call("greatest", bigint(first), col(_END))).drop(_END)


_END = "_end_of_cut"


def only_whole(runner: StageRunner, windows: DataFrame) -> DataFrame:
    """Those of windows, by `key` and bounds, that have all of their rows; all where their start says it."""
    if whole_from(runner) == MINUS_INFINITY or not runner.strategy.is_made_whole:
        return windows
    return where(with_whole_from(runner, windows), col(WINDOW_START) >= col(WHOLE_FROM)).drop(WHOLE_FROM)
