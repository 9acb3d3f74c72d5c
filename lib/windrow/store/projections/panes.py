"""`panes`: every pane and every withdrawal, in the order of ticks: a log of changes."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from windrow.store.delta.steps import StepLog
from windrow.store.projections.batch import Batch
from windrow.store.projections.schemas import commented


def write_panes(spark: SparkSession, log: StepLog, step: int, batch: Batch, notes: Mapping[str, int]) -> int:
    """Append the panes of these ticks. Gives the last step that is written."""
    if not batch.fresh and not batch.has_panes:
        return step
    rows = batch.pane_rows(batch.cells(spark))
    if batch.fresh:
        log.replace(commented(rows), step + 1, notes)
    else:
        log.append(rows, step + 1, notes)
    return step + 1
