"""Rows with the bounds of their windows: a mark is turned into bounds, several into as many rows."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import MARK, WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import Column, call, col
from windrow.compile.windows.base import WindowColumns
from windrow.engine.frames import with_column


def spread(windows: WindowColumns, frame: DataFrame, marks: Column) -> DataFrame:
    """Every row once for each window whose mark is in the array, with its bounds."""
    return bounded(windows, with_column(frame, MARK, call("explode", marks)), col(MARK))


def bounded(windows: WindowColumns, frame: DataFrame, mark: Column) -> DataFrame:
    """The rows with the bounds of the window of that mark."""
    start, end = windows.bounds(mark)
    return with_column(with_column(frame, WINDOW_START, start), WINDOW_END, end)
