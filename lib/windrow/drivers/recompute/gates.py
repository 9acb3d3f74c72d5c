"""The gates of a backfill: the suites that judge its rows before they are computed, and its windows before they show.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, any_of, bigint, call, col
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.run import Run
from windrow.engine.frames import apply, group, local, over, select, where, with_column
from windrow.engine.tick.published import Span
from windrow.quality.gate import judge
from windrow.quality.located import LocatedRows
from windrow.spec.pipelines.loading import suite_path
from windrow.spec.pipelines.table_columns import ENVELOPE_TYPES
from windrow.spec.quality.judgements import GateFailed, GateResult, Outcome
from windrow.store.projections.creation import struct_of
from windrow.store.projections.quality_results import Judged


@dataclass(frozen=True)
class Gates:
    """The gates of a run. Each judges a version of something once; a check that could not be made is made again."""

    run: Run

    def of_rows(self, source: str, step: int, times: Iterable[Span]) -> list[GateResult]:
        """The rows of these event times, up to a landing step, that could be read and dated: rejected ones count."""
        quarantined = self.run.work.raws[source].quarantined(self.run.work.spark)
        version = f"{step} {quarantined} {self.run.start} {self.run.end}"
        judged = Judged(self.run.name, source, self._suite(source), self.run.work.clock(), step)
        return self._judged(judged, version, lambda: self._rows(source, step, times))

    def of_windows(self, item: StageWork, id: str, windows: Callable[[], DataFrame]) -> list[GateResult]:
        """The recomputed windows of a stage, as it would show them. `id` is that of their computation."""
        last, generation = item.runner.last, item.runner.journal.generation
        tick = None if last is None else last.tick
        judged = Judged(self.run.name, item.name, self._suite(item.name), self.run.work.clock(), generation, tick)
        return self._judged(judged, id, lambda: _located(item, windows()))

    def passed(self, found: list[GateResult]) -> list[GateResult]:
        """The judgements. Raises GateFailed where one of them stops the run."""
        stopping = tuple(result for result in found if result.stops)
        if stopping:
            raise GateFailed(stopping, self.run.name)
        return found

    def _rows(self, source: str, step: int, times: Iterable[Span]) -> LocatedRows:
        work, reason = self.run.work, col(envelope.REASON)
        if step == 0:
            (schema,) = [one.columns for one in work.pipeline.sources if one.name == source]
            nothing = local(work.spark, [], struct_of(f"{ENVELOPE_TYPES}, {schema.ddl}"))
            return LocatedRows.of_source(nothing)
        inside = any_of(col(envelope.EVENT_TIME).between(bigint(first), bigint(end - 1)) for first, end in times)
        judged = inside & (reason.is_null() | (reason == "rejected"))
        rows = where(work.raws[source].rows(work.spark, 0, step), judged)
        shows_partition = not work.pipeline.source(source).hides_partitions
        return LocatedRows.of_source(rows, shows_partition, lambda: partitions_of(work, source, step))

    def _suite(self, subject: str) -> str:
        """The path of the suite of a source or stage; nothing without one."""
        return suite_path(self.run.work.pipeline, subject)

    def _judged(self, judged: Judged, version: str, rows: Callable[[], LocatedRows]) -> list[GateResult]:
        """The judgement of a suite on rows of that version, made unless this run has made it; none without a suite."""
        work, subject = self.run.work, judged.subject
        suite = work.suites.get(subject)
        if suite is None:
            return []
        of = {"version": version, "suite": suite.to_list(), "mask": sorted(suite.mask)}
        found = self.run.found().get(("gate", subject))
        work.judgements.settle(found)
        if found is not None and of == {name: found.get(name) for name in of}:
            before = GateResult.from_mapping(found)
            if not any(judgement.outcome is Outcome.ERROR for judgement in before.judgements):
                return [before]
        result = judge(subject, rows(), suite)
        work.judgements.keep(judged, result, lambda found: self.run.record("gate", subject, {**found, **of}))
        return [result]


def partitions_of(work: PipelineWork, source: str, step: int) -> dict[str, int]:
    """The partitions of a source that have had rows up to a landing step, with the greatest event time of each.

    The stages that read the source know it; before their first tick the rows do.
    """
    clocks = [
        item.runner.last.clock.inputs[name].clock if name in item.runner.last.clock.inputs else item.runner.last.clock
        for item in work.stages
        for name, read in work.pipeline.upstreams_of(work.pipeline.stage(item.name)).items()
        if read.name == source and item.runner.last is not None
    ]
    known = [(name, one.greatest_event_time) for clock in clocks for name, one in clock.partitions.items()]
    if not clocks:
        greatest = {"greatest": call("max", col(envelope.EVENT_TIME))}
        landed = group(work.raws[source].rows(work.spark, 0, step), (envelope.PARTITION,), greatest)
        known = [(row[envelope.PARTITION], row["greatest"]) for row in landed.collect()]
    found: dict[str, int] = {}
    for partition, time in known:
        if partition is not None and time is not None:
            found[partition] = max(time, found.get(partition, time))
    return found


def _located(item: StageWork, windows: DataFrame) -> LocatedRows:
    return LocatedRows.of_results(results(item, windows), [*item.runner.stage.shown.keys])


def results(item: StageWork, windows: DataFrame) -> DataFrame:
    """Recomputed windows with the columns that a stage's suite knows: keys, bounds, aggregates and derived ones.

    Of a join, the rows of these windows.
    """
    stage = item.runner.stage.shown
    windows = apply(item.runner.stage.panes.rows(over(windows)), windows)
    frame = select(
        windows,
        {
            **{name: col(KEY, name) for name in stage.keys},
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            **{name: col(f"v_{name}") for name in stage.emitted},
        },
    )
    for name, expression in stage.derive.items():
        frame = with_column(frame, name, Column(expression.value_sql))
    return frame
