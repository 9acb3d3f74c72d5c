"""What holds back a stage's output watermark: the event times of panes that are still to come.

Rules: docs/semantics.md#panes, docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import NEW, STATE
from windrow.compile.panes import event_times
from windrow.compile.sql.columns import Column, call, col
from windrow.engine.frames import group, where
from windrow.spec.stages.stage import Stage


def has_new() -> Column:
    """Whether a cell has elements that no pane has carried."""
    return col(STATE, NEW) > 0


def least_hold(stage: Stage, cells: DataFrame | None) -> int | None:
    """The least event time that the panes of open cells would have, if they were emitted now; None without one."""
    if cells is None:
        return None
    keeps = stage.keeps_event_times
    hold = event_times.of_pane(col(STATE, event_times.KEPT)) if keeps else event_times.end_of_window()
    found = group(where(cells, has_new()), (), {"hold": call("min", hold)}).collect()[0]["hold"]
    return None if found is None else int(found)
