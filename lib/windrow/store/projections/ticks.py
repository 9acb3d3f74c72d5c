"""`ticks`: one row for each tick, with what it counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from windrow.engine.windows.registry import strategy_of
from windrow.spec.pipelines.table_columns import TICK_COUNTERS, TICKS
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.delta.data_files import arrow_table, written
from windrow.store.delta.log.step_log import StepLog
from windrow.store.journal.control import Control
from windrow.store.projections.creation import commented, struct_of
from windrow.store.projections.tick_range import TickRange


def write_ticks(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Append a row for each tick. Gives the last step that is written.

    How many cells are open is counted on from write to write, in what the commit says; not where windows are formed as
    they fire.
    """
    before, schema = log.last(spark), struct_of(TICKS)
    open_cells = 0 if tick_range.fresh or before is None else int(before.notes["open_cells"])
    rows = []
    for _, control in sorted(tick_range.controls.items()):
        changed = control.rows.opened - control.rows.ended
        open_cells = open_cells + changed if control.rows.open is None else control.rows.open
        known = None if strategy_of(tick_range.journal.stage).adds_up else open_cells
        rows.append(_row(control, tick_range.journal.generation, known))
    notes = {**notes, "open_cells": open_cells}
    if tick_range.fresh:
        log.replace(commented(spark.createDataFrame(arrow_table(rows, schema), schema)), step + 1, notes)
    else:
        log.add(spark, [written(spark, log.location, rows, schema, is_counted=True)], step + 1, notes)
    return step + 1


def _row(control: Control, generation: int, open_cells: int | None) -> dict[str, Any]:
    clock = control.clock
    return {
        "tick": control.tick,
        "generation": generation,
        "kind": control.kind,
        "watermark_before": _timestamp(control.watermark_before),
        "watermark": _timestamp(clock.watermark),
        "drained": clock.watermark == INFINITY,
        "now": _timestamp(clock.now),
        **{column: getattr(control.counters, name) for column, name in TICK_COUNTERS.items()},
        "open_cells": open_cells,
        "outgrown": control.rows.outgrown,
        "duration_ms": control.duration_ms,
    }


def _timestamp(micros: int) -> int | None:
    """A time as a table has it; null for the infinities."""
    return None if micros in (INFINITY, MINUS_INFINITY) else micros
