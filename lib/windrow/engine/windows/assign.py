"""Rows with the bounds of their windows: an id is turned into bounds, several into as many rows."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_END, WINDOW_ID, WINDOW_START
from windrow.compile.sql.columns import Column, call, col
from windrow.compile.windows.base import WindowColumns
from windrow.engine.frames import with_column


def assign(windows: WindowColumns, frame: DataFrame, window_ids: Column) -> DataFrame:
    """Every row once for each window whose id is in the array, with its bounds."""
    return bounded(windows, with_column(frame, WINDOW_ID, call("explode", window_ids)), col(WINDOW_ID))


def bounded(windows: WindowColumns, frame: DataFrame, window_id: Column) -> DataFrame:
    """The rows with the bounds of the window of that id."""
    start, end = windows.bounds(window_id)
    return with_column(with_column(frame, WINDOW_START, start), WINDOW_END, end)
