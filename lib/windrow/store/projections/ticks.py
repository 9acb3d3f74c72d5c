"""`ticks`: one row for each tick, with what it counted."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, lit, null
from windrow.engine.frames import literals
from windrow.engine.windows.registry import strategy_of
from windrow.spec.pipelines.table_columns import TICK_COUNTERS
from windrow.store.delta.step_log import StepLog
from windrow.store.journal.control import Control
from windrow.store.projections.creation import commented
from windrow.store.projections.tick_range import TickRange, TickSummary


def write_ticks(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Append a row for each tick. Gives the last step that is written.

    How many cells are open is counted on from write to write, in what the commit says; not where windows are formed as
    they fire.
    """
    before = log.last(spark)
    open_cells = 0 if tick_range.fresh or before is None else int(before.notes["open_cells"])
    rows = []
    for tick, control in sorted(tick_range.controls.items()):
        summary = tick_range.counted[tick]
        open_cells += summary.opened - summary.ended
        known = None if strategy_of(tick_range.journal.stage).adds_up else open_cells
        rows.append(_row(control, summary, tick_range.journal.generation, known))
    ticks, notes = literals(spark, rows), {**notes, "open_cells": open_cells}
    if tick_range.fresh:
        log.replace(commented(ticks), step + 1, notes)
    else:
        log.append(ticks, step + 1, notes)
    return step + 1


def _row(control: Control, summary: TickSummary, generation: int, open_cells: int | None) -> dict[str, Column]:
    clock = control.clock
    numbers = {
        **{column: getattr(summary.counters, name) for column, name in TICK_COUNTERS.items()},
        "open_cells": open_cells,
        "outgrown": summary.outgrown,
        "duration_ms": control.duration_ms,
    }
    return {
        "tick": bigint(control.tick),
        "generation": lit(generation),
        "kind": lit(control.kind),
        "watermark_before": as_timestamp(bigint(control.watermark_before)),
        "watermark": as_timestamp(bigint(clock.watermark)),
        "now": as_timestamp(bigint(clock.now)),
        **{name: null("bigint") if number is None else bigint(number) for name, number in numbers.items()},
    }
