"""Where a pipeline stands, read from its tables; nothing is written, and a changed file is no hindrance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, REASON, STEP, file_of
from windrow.compile.sql.columns import Column, any_of, bigint, call, col, lit, when
from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.compiled import compiled_stage
from windrow.drivers.spark.session import working_session
from windrow.engine.clocks.clock import StageClock
from windrow.engine.frames import group, where
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import KNOWN_AT_COMMIT, WRITTEN, Counters
from windrow.engine.tick.published import joined
from windrow.engine.windows.registry import strategy_of
from windrow.spec.pipelines.fingerprint import changes, fingerprint_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.store.journal.control import ADMISSION, READING, Control
from windrow.store.journal.generations import Generation, Generations
from windrow.store.journal.journal import Journal
from windrow.store.upstream.base import Upstream
from windrow.store.upstream.inputs import InputLogs
from windrow.store.upstream.panes import StagePanes
from windrow.store.upstream.raw import QUARANTINED, Raw
from windrow.view.status import PartitionStatus, SourceStatus, StageStatus


def status(pipeline: Pipeline, spark: SparkSession) -> tuple[list[SourceStatus], list[StageStatus]]:
    """Where every source and every stage of the pipeline stands."""
    session, lake = working_session(spark), Lake.of(pipeline.lake)
    reader = _Reader(session, pipeline, lake, Generations.of(lake).all(session))
    return [reader.source(source) for source in pipeline.sources], [reader.stage(stage) for stage in pipeline.stages]


@dataclass(frozen=True)
class _Reader:
    spark: SparkSession
    pipeline: Pipeline
    lake: Lake
    generations: Mapping[str, Generation]

    def source(self, source: Source) -> SourceStatus:
        raw = Raw.of(self.lake, source.name)
        batches = raw.last_step(self.spark)
        if batches == 0:
            return SourceStatus(source.name, 0)
        counts = {
            "rows": call("count", 1),
            "files": Column(f"count(DISTINCT {file_of().text})"),
            "greatest": call("max", when(col(REASON).is_null(), col(EVENT_TIME))),
            "arrival": call("max", col(ARRIVAL_TIME)),
        }
        row = group(raw.rows(self.spark, 0, batches), (), counts).collect()[0]
        dead = _dead(self._landed(raw, batches, batches))
        offsets = raw.offsets(self.spark) if source.connector.HAS_PARTITIONS else {}
        offsets = {name: offsets[name] for name in sorted(offsets, key=_in_order)}
        times = (row["greatest"], row["arrival"])
        return SourceStatus(source.name, batches, row["rows"], row["files"], dead, *times, offsets)

    def stage(self, stage: Stage) -> StageStatus:
        generation, read = self.generations.get(stage.name), self.pipeline.upstreams_of(stage)
        if generation is None:
            return StageStatus(stage.name)
        above = {name: one.number for name, one in self.generations.items()}
        changed = changes(generation.fingerprint, fingerprint_of(stage, read, above))
        journal = self._journal(stage)
        last = journal.last(self.spark)
        if last is None:
            return StageStatus(stage.name, generation.number, changed)
        logs = InputLogs({name: self._upstream(one) for name, one in read.items()})
        head = logs.head(self.spark)
        landed = _together([self._landed(log, head.of(name), last.offsets.of(name)) for name, log in logs.logs.items()])
        ticks = self._ticks(stage, generation.number)
        counters = self._known_at_commit(journal) + Counters.of(ticks)
        # a weight is judged when its row lands, all other expressions in the tick
        dead = _when_read(_dead(landed), counters.dead_rows)
        dead["bad_expression"] = dead.get("bad_expression", 0) + counters.bad_expression - counters.bad_gap
        dead["bad_gap"] = counters.bad_gap
        return StageStatus(
            stage=stage.name,
            generation=generation.number,
            changed=changed,
            tick=last.tick,
            now=last.clock.now,
            watermark=last.clock.watermark,
            partitions=[p for name, one in read.items() for p in _partitions(stage, name, one, last.clock)],
            reads_a_stage=all(isinstance(one, Stage) for one in read.values()),
            batches_behind=logs.steps_between(last.offsets, head),
            rows_behind=sum(behind for _, behind in landed.values()),
            projected_to=ticks["projected_to"],
            in_raw=sum(read for read, _ in landed.values()),
            read=counters.read,
            in_windows=counters.in_windows,
            filtered=counters.filtered,
            unassigned=counters.unassigned,
            dead={reason: number for reason, number in dead.items() if number},
            assigned=counters.assigned,
            late=counters.late,
            closed=counters.closed,
            timings=self._timings(stage),
            withdrawn=counters.retractions,
            shown=self._table(stage, "current").count(),
            open_cells=self._open(journal, last, ticks["open_cells"]),
            backfills=ticks["backfills"],
        )

    def _journal(self, stage: Stage) -> Journal:
        generation = self.generations.get(stage.name)
        return Journal.of(self.lake, self._compiled(stage), 0 if generation is None else generation.number)

    def _compiled(self, stage: Stage) -> CompiledStage:
        read = self.pipeline.upstreams_of(stage)
        given = {name: one if isinstance(one, Source) else self._compiled(one) for name, one in read.items()}
        return compiled_stage(self.spark, stage, given)

    def _upstream(self, read: Source | Stage) -> Upstream:
        if isinstance(read, Source):
            return Raw.of(self.lake, read.name)
        return StagePanes.of(self.lake, self._journal(read))

    def _landed(self, raw: Upstream, last: int, read: int) -> Landed:
        """The rows of a log up to its last step, as far as they are read up to a step."""
        if last == 0:
            return {}
        counts = {"before": call("count_if", col(STEP) <= bigint(read)), "all": call("count", 1)}
        rows = group(raw.rows(self.spark, 0, last), (REASON,), counts).collect()
        return {row[REASON]: (row["before"], row["all"] - row["before"]) for row in rows}

    def _known_at_commit(self, journal: Journal) -> Counters:
        """What all ticks counted until they were committed, from the control rows."""
        sums = {
            name: call("sum", call("get_json_object", col("control"), f"$.counts.{name}").cast("bigint"))
            for name in KNOWN_AT_COMMIT
        }
        controls = where(journal.location.read(self.spark), col("kind") == lit("control"))
        return Counters.of(group(controls, (), sums).collect()[0].asDict())

    def _ticks(self, stage: Stage, generation: int) -> Mapping[str, int]:
        """Sums over the ticks of a generation, of what was counted when they were projected."""
        sums = {
            **{name: call("sum", col(name)) for name in WRITTEN},
            "open_cells": call("max_by", col("open_cells"), col("tick")),
            "backfills": call("count_if", ~any_of(col("kind") == lit(kind) for kind in (*READING, ADMISSION))),
            "projected_to": call("max", col("tick")),
        }
        ticks = where(self._table(stage, "ticks"), col("generation") == generation)
        row = group(ticks, (), sums).collect()[0]
        return {name: int(row[name] or 0) for name in sums}

    def _open(self, journal: Journal, last: Control, counted: int) -> int:
        """How many windows are open: the ticks have counted them, but for those that are formed as they fire."""
        if not strategy_of(journal.stage).adds_up:
            return counted
        return journal.open_windows(
            self.spark, Admission(last.clock.expired_end, made=joined(journal.stage.windows, last.published))
        )

    def _timings(self, stage: Stage) -> dict[str, int]:
        emitted = where(self._table(stage, "panes"), col("weight") > 0)
        return {row["timing"]: row["n"] for row in group(emitted, ("timing",), {"n": call("count", 1)}).collect()}

    def _table(self, stage: Stage, name: str) -> DataFrame:
        return self.lake.table(stage.name, name).read(self.spark)


def _dead(landed: Landed) -> dict[str, int]:
    """The dead rows that were read, by reason, the most first."""
    dead = {reason: read for reason, (read, _) in landed.items() if reason is not None}
    return dict(sorted(dead.items(), key=lambda item: -item[1]))


def _when_read(dead: Mapping[str, int], read: int) -> dict[str, int]:
    """Without the rows that the stage had read before their file was taken out: it has counted them as alive."""
    since = sum(dead.values()) - read
    return {reason: number - (since if reason == QUARANTINED else 0) for reason, number in dead.items()}


Landed = Mapping[str | None, tuple[int, int]]
"""By the reason why they are dead (None: alive): the rows that a stage has read, and those that it has not."""


def _together(inputs: Sequence[Landed]) -> Landed:
    reasons = {reason: None for landed in inputs for reason in landed}
    both = {reason: [landed.get(reason, (0, 0)) for landed in inputs] for reason in reasons}
    return {reason: (sum(read for read, _ in found), sum(rest for _, rest in found)) for reason, found in both.items()}


def _partitions(stage: Stage, name: str, read: Source | Stage, clock: StageClock) -> list[PartitionStatus]:
    """The source partitions of an input."""
    if name not in clock.inputs:
        return []
    clock = clock.inputs[name].clock
    if isinstance(read, Stage):
        return [PartitionStatus(read.name, clock.watermark, False, clock.now)]
    rule = stage.watermark_over(read.watermark)
    idle = clock.idle(rule)
    return [
        PartitionStatus(name, watermark, name in idle, clock.partitions[name].last_seen)
        for name, watermark in clock.partition_watermarks(rule).items()
    ]


def _in_order(partition: str | None) -> tuple[int, str]:
    """Numbers in their order: 2 is before 10."""
    return len(partition or ""), partition or ""
