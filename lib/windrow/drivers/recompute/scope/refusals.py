"""The windows that are the stream's: those that are open in it."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import bigint, call, col, struct
from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.windows.widening import open_window
from windrow.engine.clocks.clock import StageClock
from windrow.engine.frames import group, where
from windrow.engine.tick.published import Span
from windrow.engine.windows.registry import strategy_of
from windrow.store.journal.control import has_stream


def check(item: StageWork, span: Span) -> None:
    """Raises NotYet where a window that starts in the span is open in the stream."""
    if not is_checked_by_data(item.runner.stage):
        _check_expired(item.runner.stage, item.runner.clock, has_stream(item.runner.last), *span)


def _check_expired(stage: CompiledStage, clock: StageClock, streams: bool, start: int, end: int) -> None:
    """Refuse an interval that holds a window which is open in the stream, and name it."""
    if not streams:
        return
    last = stage.windows.greatest_start_before(end)
    is_global = stage.stage.window.IS_GLOBAL
    if last is None or (last[0] < start and not is_global) or last[1] <= clock.expired_end:
        return
    # where it is not aligned a key that has not come yet may have it
    raise open_window(
        stage.stage.name, last, clock.expired_end, "is open" if stage.windows.is_aligned else "can be open"
    )


def is_checked_by_data(stage: CompiledStage) -> bool:
    """Whether only the windows that are there say which are open: those that merge, or whose length nobody knows."""
    return strategy_of(stage).opens_by_cells


def check_none_open(item: StageWork, windows: DataFrame) -> None:
    """Refuse windows of which one is open in the stream, and name the last."""
    last = item.runner.last
    if last is None or not has_stream(last):
        return
    still_open = where(windows, col(WINDOW_END) > bigint(last.clock.expired_end))
    found = group(still_open, (), {"last": call("max", struct(end=col(WINDOW_END), start=col(WINDOW_START)))})
    window = found.collect()[0]["last"]
    if window is not None:
        raise open_window(item.name, (window["start"], window["end"]), last.clock.expired_end)
