"""A backfill: windows recomputed from raw, judged where nobody sees them, and then published.

Rule: docs/semantics.md#backfill-and-reconcile.

    land -> gate on the rows -> compute into staging -> gate on the staged windows -> publish

Each step sees to what must be before it, and records what it found, so that any of them can be run alone, killed, and
run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.windows import wait_for
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.counting import landed
from windrow.drivers.recompute.findings import record_published
from windrow.drivers.recompute.publish.commit import BackfillResult, commit
from windrow.drivers.recompute.run import Run
from windrow.drivers.recompute.scope.catching_up import offsets_of
from windrow.drivers.recompute.scope.complete_windows import first_of
from windrow.drivers.recompute.scope.request import Mode, Request
from windrow.drivers.recompute.scope.scope import scope_of
from windrow.drivers.recompute.scope.waiting_windows import still_waiting
from windrow.drivers.recompute.staged_run import StagedRun
from windrow.drivers.recompute.windows.recomputed import recomputed
from windrow.drivers.spark.session import group_at_large
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateResult
from windrow.spec.times import format_time, instant
from windrow.store.delta.log.retries import tried_again
from windrow.store.journal.audits import BEGIN, LAND, SEEN, Found


def backfill(
    pipeline: Pipeline,
    spark: SparkSession,
    start: datetime | str | int,
    end: datetime | str | int,
    stage: str | None = None,
    dry_run: bool = False,
    early: bool = False,
    whole: bool = False,
    clock: Callable[[], int] = clock_micros,
) -> list[BackfillResult]:
    """Recompute the windows that start in [start, end) and commit the differences, one step a stage.

    Times are datetimes, text in ISO 8601, or microseconds; without a zone they are UTC. Windows that have expired
    by the watermark of what has landed are published as last; the others wait, and each result names those of its
    stage. `early` shows these too, as panes that are not last. `whole` asserts that the history is whole, so that
    all windows are published as last. A window that is open in a stream is the stream's: it waits, and cannot be
    asserted to be whole. Where the pipeline has quality suites nothing is committed before its gates have passed; a
    dry run has no gates. `clock` is processing time, in microseconds.
    Raises SpecError, GateFailed.
    """
    if early and whole:
        raise SpecError("--early", "does not go with --whole: then all windows are published as last")
    if stage is not None:
        pipeline.stage(stage)
    work = PipelineWork.open(pipeline, spark, clock=clock)
    mode = Mode.WHOLE if whole else Mode.EARLY if early else Mode.EXPIRED
    run, first, last = f"backfill-{uuid4().hex[:12]}", instant("start", start), instant("end", end)
    return Backfill(work, run, first, last, stage, mode).whole(dry_run)


@dataclass
class Backfill:
    """One run over the windows that start in [start, end). `run` names it in the audits and the staging area.

    `waits` says that it publishes nothing before all of its windows have expired.
    """

    work: PipelineWork
    run: str
    start: int
    end: int
    stage: str | None = None
    mode: Mode = Mode.EXPIRED
    waits: bool = False

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise SpecError("--to", "must be after --from", format_time(self.end))
        group_at_large(self.work.spark)

    @property
    def stages(self) -> list[StageWork]:
        return [item for item in self.work.stages if self.stage in (None, item.name)]

    def request_of(self, item: StageWork) -> Request:
        """Which windows of a stage are recomputed: those that start in [start, end), and those that end in it then."""
        first = first_of(self.work, item, self.start)
        before = ((first, self.start),) if first < self.start else ()
        return Request((*before, (self.start, self.end)), mode=self.mode)

    @property
    def _run(self) -> Run:
        return Run(self.work, self.run, self.start, self.end, tuple(item.name for item in self.stages))

    @property
    def _windows(self) -> StagedRun:
        return StagedRun(self._run, self.stages, self.request_of, self.mode)

    def whole(self, dry_run: bool) -> list[BackfillResult]:
        """All steps one after the other; those that have to do with gates only where the pipeline has suites."""
        if self.work.suites and not dry_run:
            return self.staged()
        began = self._begins_at()
        found = [self._first(lambda item=item: self.at_once(item, dry_run)) for item in self.stages]  # type: ignore[misc]
        if not dry_run:
            record_published(self._run, began, found)
        return found

    def staged(self) -> list[BackfillResult]:
        """All steps, by way of the staging area. Raises GateFailed."""
        try:
            self._begun()
            return self.publish()
        finally:
            self.discard()

    def at_once(self, item: StageWork, dry_run: bool) -> BackfillResult:
        """Recompute and commit a stage without gates. Errors: StepTaken when another has committed meanwhile."""
        scope = scope_of(self.work, item, self.request_of(item), dry_run)
        if scope is None:
            return BackfillResult(item.name, 0, 0, 0, 0, None)
        return commit(self.work, item, scope, recomputed(self.work, item, scope), dry_run)

    # ---------------------------------------------------------------- the steps

    def land(self) -> None:
        """Land all that is there, by the pipeline's one landing query for each source. The run begins anew with it.

        A try that was killed has left the offsets where it began, and the next one counts from there. A run that waits
        for all of its windows ends here until they have expired. Raises WindowsWait.
        """
        self._land(self._begun())
        if self.waits:
            self._check_expired()

    def gate_rows(self) -> list[GateResult]:
        """Judge the rows of the interval's windows by the suite of their source. Errors: GateFailed."""
        read: dict[str, int] = {}
        for item in self.stages:
            read.update(self._windows.read_by(item, offsets_of(self.work, item)))
        return self._windows.passed_rows(read)

    def compute(self) -> list[BackfillResult]:
        """Recompute every stage into its staging area, behind the gate on its rows.

        The results say what would be published. Raises GateFailed, and WindowsWait where the run waits for windows
        that only their rows could show; what has landed meanwhile is looked at by the next try.
        """
        found = self._windows.computed(self._levels()[0], fresh=True)
        self._check_none_waits(found)
        return found

    def gate_results(self) -> list[GateResult]:
        """Judge the staged windows by the suite of each stage. Errors: GateFailed."""
        return self._windows.judged(self._levels()[0])

    def publish(self) -> list[BackfillResult]:
        """Commit what was staged and judged, and project the tables, when every stage has passed its gate.

        Where the journal has moved on since the windows were staged they are computed and judged again. Raises
        GateFailed, and WindowsWait where the run waits for windows of a stage behind others: these stay published.
        """
        results = []
        for level in self._levels():
            self._windows.judged(level)
            if self.waits:
                self._check_none_waits(self._windows.computed(level))
            results += [self._first(lambda item=item: self._published(item)) for item in level]  # type: ignore[misc]
        self.discard()
        return results

    def settle(self) -> None:
        """Keep in the audits what a try of this run has committed that was killed behind its commit."""
        self._settle(self._run.found())

    def _settle(self, found: Mapping[tuple[str, str], Found]) -> None:
        for item in self.work.stages:
            done = None if ("publish", item.name) in found else self._done_before(item, found)
            if done is not None:
                run = Run(self.work, self.run, done["start"], done["end"], tuple(done["stages"]))
                run.record("publish", item.name, done)

    def discard(self) -> None:
        """Delete what was staged."""
        for item in self.stages:
            self._windows.staged(item).discard()

    # ---------------------------------------------------------------- what the run was told when it began

    def as_it_began(self) -> Backfill:
        """The run with what its first step was told of windows that have not expired."""
        found = self._run.found()
        how: Mapping[str, Any] = found.get(("mode", "")) or found.get((BEGIN, ""), {}).get("mode") or self._how
        return replace(self, mode=Mode(how["mode"]), waits=how["waits"])

    def told(self) -> Backfill:
        """The run, whose steps from this one on make of windows that have not expired what it says."""
        self._run.record("mode", "", self._how)
        return self

    @property
    def _how(self) -> dict[str, object]:
        return {"mode": self.mode.value, "waits": self.waits}

    def _begins_at(self) -> int | None:
        """When a run without gates begins, in microseconds: now; None where it has begun before."""
        return time.time_ns() // 1000

    def _begun(self) -> dict[str, int]:
        """The last landing step of every source when the run began."""
        found = self._run.found()
        if {step for step, _ in found} in ({BEGIN}, {BEGIN, LAND}) and found[BEGIN, ""].get("mode") == self._how:
            return dict(found[BEGIN, ""]["steps"])  # it was killed then, or has waited
        self._settle(found)
        steps = {landing.source.name: landing.raw.last_step(self.work.spark) for landing in self.work.landings}
        self._run.record(BEGIN, "", {"steps": steps, "mode": self._how})
        return steps

    # ---------------------------------------------------------------- landing and waiting

    def _land(self, begun: Mapping[str, int]) -> None:
        for landing, projection in zip(self.work.landings, self.work.sources, strict=True):
            before = Arrivals.of(landing.source).looked_at() if self.waits else None
            landing.run()
            projection.project()
            name, after = landing.source.name, landing.raw.last_step(self.work.spark)
            found = landed(self.work.spark, landing.raw, begun[name], after)
            self._run.record(LAND, name, found if before is None else {**found, SEEN: before.seen})

    def _check_expired(self) -> None:
        """Raises WindowsWait where a window of the run has not expired by the watermark of what has landed."""
        requests = {item.name: self.request_of(item) for item in self.stages}
        waiting = tried_again(lambda: still_waiting(self.work, self.stages, requests))
        if waiting:
            raise wait_for(waiting)

    def _check_none_waits(self, found: list[BackfillResult]) -> None:
        waiting = [one.waiting for one in found if one.waiting is not None and one.waiting.is_by_clock]
        if self.waits and waiting:
            begun = self._run.found().get((BEGIN, ""))
            self._land(self._begun() if begun is None else begun["steps"])
            raise wait_for(waiting)

    # ---------------------------------------------------------------- computing, judging, publishing

    def _levels(self) -> list[list[StageWork]]:
        """The stages that read none of the others, and those behind, which are computed when these are published."""
        chosen = {item.name for item in self.stages}
        levels = [[item for item in level if item.name in chosen] for level in self.work.levels]
        return [level for level in levels if level]

    def _first(self, do: Callable[[], BackfillResult]) -> BackfillResult:
        """Do it again where another writer was ahead, and let no stream be ahead each time. Errors: StepTaken."""
        return tried_again(do, lease=self.work.lease)

    def _published(self, item: StageWork) -> BackfillResult:
        def kept(result: BackfillResult) -> dict[str, Any]:
            return {**asdict(result), "generation": item.runner.journal.generation}

        def announced(result: BackfillResult) -> None:
            """What will be committed, and by whom, for a try that finds it done."""
            self._run.record("publishing", item.name, {**kept(result), "writer": item.runner.journal.log.writer})

        standing = self._windows.standing(item)
        if standing is None:
            result = BackfillResult(item.name, 0, 0, 0, 0, None)
        else:
            self._windows.gates.passed(self._windows.judged_windows(item, standing))
            scope, of = standing
            scope = replace(scope, offsets=of.offsets)
            result = commit(self.work, item, scope, self._windows.staged(item).read(of), announce=announced)
        found = self._run.found()
        if result.tick is not None:
            self._run.record("publish", item.name, kept(result))
        elif ("publish", item.name) not in found:
            self._run.record("publish", item.name, self._done_before(item, found) or kept(result))
        return result

    def _done_before(self, item: StageWork, found: Mapping[tuple[str, str], Found]) -> Found | None:
        """What a try of this run has committed that was killed behind its commit."""
        announced = found.get(("publishing", item.name))
        if announced is None:
            return None
        owner = item.runner.journal.log.owner(self.work.spark, announced["tick"])
        return announced if owner == announced["writer"] else None
