"""`ticks`: one row for each tick, with what it counted."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from windrow.compile.panes import as_timestamp
from windrow.compile.sql import Column, bigint, call, col, lit
from windrow.engine.frames import group, literals
from windrow.store.control import Control
from windrow.store.projections.batch import Batch, TickSummary
from windrow.store.steps import StepLog


def write_ticks(spark: SparkSession, log: StepLog, step: int, batch: Batch, notes: Mapping[str, int]) -> int:
    """Append a row for each tick. Gives the last step that is written."""
    open_cells = 0 if batch.fresh else _open_before(spark, log)
    rows = []
    for tick, control in sorted(batch.controls.items()):
        summary = batch.counted[tick]
        open_cells += summary.opened - summary.ended
        rows.append(_row(control, summary, batch.journal.generation, open_cells))
    ticks = literals(spark, rows)
    if batch.fresh:
        log.replace(ticks, step + 1, notes)
    else:
        log.append(ticks, step + 1, notes)
    return step + 1


def _open_before(spark: SparkSession, log: StepLog) -> int:
    row = group(log.location.read(spark), (), {"open_cells": call("max_by", col("open_cells"), col("tick"))}).first()
    return 0 if row is None or row["open_cells"] is None else int(row["open_cells"])


def _row(control: Control, summary: TickSummary, generation: int, open_cells: int) -> dict[str, Column]:
    counts, clock = control.counts, control.clock
    numbers = {
        "elements_read": counts.get("read", 0),
        "assigned": counts.get("assigned", 0),
        "unassigned": counts.get("unassigned", 0),
        "filtered": counts.get("filtered", 0),
        "late": summary.late,
        "closed": summary.closed,
        "rejected": counts.get("dead", 0) + counts.get("bad_expression", 0),
        "panes": summary.panes,
        "retractions": summary.retractions,
        "open_cells": open_cells,
        "duration_ms": control.duration_ms,
    }
    return {
        "tick": bigint(control.tick),
        "generation": lit(generation),
        "kind": lit(control.kind),
        "watermark_before": as_timestamp(bigint(control.watermark_before)),
        "watermark": as_timestamp(bigint(clock.watermark)),
        "now": as_timestamp(bigint(clock.now)),
        **{name: bigint(number) for name, number in numbers.items()},
    }
