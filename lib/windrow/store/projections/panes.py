"""`panes`: every pane and every withdrawal, in the order of ticks: a log of changes."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from windrow.store.delta.step_log import StepLog
from windrow.store.projections.creation import commented
from windrow.store.projections.tick_range import TickRange


def write_panes(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Append the panes of these ticks. Gives the last step that is written."""
    if not tick_range.fresh and not tick_range.has_panes:
        return step
    rows = tick_range.pane_rows(tick_range.cells(spark))
    if tick_range.fresh:
        log.replace(commented(rows), step + 1, notes)
    else:
        log.append(rows, step + 1, notes)
    return step + 1
