"""What the demonstration prints of a lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from deltalake import DeltaTable

from windrow.drivers.recompute.reconcile import Reconciliation
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.view.status import StageStatus
from windrow.view.text.table import table


def happened(stages: Sequence[StageStatus]) -> str:
    """A column a stage: ticks, rows, panes by timing, retractions, late rows, dead letters by reason."""
    reasons = sorted({reason for stage in stages for reason in stage.dead})
    rows: list[list[object]] = [
        ["ticks", *(stage.tick for stage in stages)],
        ["rows read", *(stage.read for stage in stages)],
        ["  in windows", *(stage.in_windows for stage in stages)],
        *[[f"  dead: {reason}", *(stage.dead.get(reason, 0) for stage in stages)] for reason in reasons],
        ["  too late for their window", *(stage.late for stage in stages)],
        ["panes", *(sum(stage.timings.values()) for stage in stages)],
        *[[f"  {timing}", *(stage.timings.get(timing, 0) for stage in stages)] for timing in _TIMINGS],
        ["panes retracted", *(stage.retracted for stage in stages)],
        ["rows of current", *(stage.shown for stage in stages)],
    ]
    numbers = [[row[0], *(f"{number:,}" for number in row[1:])] for row in rows]
    return table(["", *(stage.stage for stage in stages)], numbers, 100)


_TIMINGS = ("early", "on_time", "late")


def compared(pipeline: Pipeline, alone: Pipeline, result: Reconciliation) -> bool:
    """Print whether the stream's table, a batch over its rows, and the table of a lake of its own are equal."""
    stage = pipeline.stage(result.stage)
    ours, theirs = (_rows(stage, Lake.of(lake)) for lake in (pipeline.lake, alone.lake))
    apart = (ours - theirs).total() + (theirs - ours).total()
    late = f"; {result.late_rows:,} late rows were left out" if result.late_rows else "; no row was late"
    if result.equal and apart == 0:
        print(f"{stage.name}: the stream and the backfill are equal: {result.windows:,} windows, row for row{late}")
        return True
    print(f"{stage.name}: {result.number_differing:,} windows of {result.windows:,} differ from a batch over the same")
    print(f"rows, and {apart:,} rows from the lake that was filled by a backfill alone")
    return False


def _rows(stage: Stage, lake: Lake) -> Counter[tuple[Any, ...]]:
    """How often each row stands in the table of a stage, as one reads it who has no Spark."""
    columns = [*stage.keys, "window_start", "window_end", *stage.result_columns]
    table = DeltaTable(lake.table(stage.name, "current").path).to_pyarrow_table(columns=columns)
    return Counter(zip(*(table[name].to_pylist() for name in columns), strict=True))
