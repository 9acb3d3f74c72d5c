"""What one look at a lake sees, read from its tables without Spark; nothing is written.

Rule: docs/operations.md#watch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.metrics import standing_in
from windrow.drivers.inspect.telling.late import late_rows_in
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.hidden import HIDDEN
from windrow.spec.quality.judgements import GateResult
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import STREAM_RUN, Audits
from windrow.store.journal.control import ADMISSION, READING
from windrow.store.reading.tables import Condition, Tables
from windrow.view.metrics import Standing
from windrow.view.status import StageStatus
from windrow.view.watch.look import Look, StoppedGate
from windrow.view.watch.ticks import ReadingTick

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = 60
"""The last ticks of a stage that are looked at."""
_COLUMNS = ("tick", "kind", "now", "elements_read", "watermark")


def look_at(pipeline: Pipeline, spark: SparkSession | None = None, typed: str = "FILE") -> Look:
    """Where the pipeline stands now, and its last ticks. `typed` is how a command names it.

    The tables are read by `deltalake`; the session is for a lake that it cannot read. Errors: NotReadable where it
    cannot and there is no session.
    """
    return replace(look(pipeline, spark, lambda tables: look_in(tables, pipeline)), typed=typed)


def look_in(tables: Tables, pipeline: Pipeline) -> Look:
    """The same, as these tables tell it."""
    lake, standing = Lake.of(pipeline.lake), _shown(standing_in(tables, pipeline))
    names = [stage.name for stage in pipeline.stages]
    return Look(
        standing,
        ticks={one.stage: _ticks(tables, lake, one) for one in standing.stages if one.tick is not None},
        late={one.stage: one.rows for one in late_rows_in(tables, lake, names)},
        gates=_stopped(tables, pipeline, lake),
    )


def _shown(standing: Standing) -> Standing:
    """Without the names of source partitions that nobody is shown."""
    stages = [_without_names(one) if one.stage in standing.hidden else one for one in standing.stages]
    return replace(standing, stages=stages)


def _without_names(stage: StageStatus) -> StageStatus:
    named = [replace(one, partition=one.partition and HIDDEN) for one in stage.partitions]
    return replace(stage, partitions=named)


def _ticks(tables: Tables, lake: Lake, stage: StageStatus) -> Sequence[ReadingTick]:
    """The last ticks by which the stage read, in order; a backfill reads again what was read before."""
    table = tables.open(lake.table(stage.stage, "ticks"))
    if table is None or stage.generation is None:
        return []
    last = stage.projected_to
    between = Condition("tick", ">", last - TICKS), Condition("tick", "<=", last)
    batches = table.rows(_COLUMNS, Condition("generation", "=", stage.generation), *between)
    rows = [row for batch in batches for row in batch.to_pylist()]
    kept = [row for row in rows if row["kind"] in (*READING, ADMISSION) and row["now"] is not None]
    kept.sort(key=lambda row: int(row["tick"]))
    return [ReadingTick(row["tick"], row["now"], row["elements_read"] or 0, row["watermark"]) for row in kept]


def _stopped(tables: Tables, pipeline: Pipeline, lake: Lake) -> Sequence[StoppedGate]:
    """The gates of the stream that stop, by what it has recorded last."""
    suites = suites_of(pipeline)
    judged = Audits.of(lake).read_run(tables, STREAM_RUN) if suites else {}
    found = {name: judged["gate", name] for name in suites if ("gate", name) in judged}
    stops = {name: result for name, result in found.items() if GateResult.from_mapping(result).stops}
    return [StoppedGate(name, bool(result.get("is_new"))) for name, result in stops.items()]
