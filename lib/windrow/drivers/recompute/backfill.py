"""A backfill: windows recomputed from raw, judged where nobody sees them, and then published.

Rule: docs/semantics.md#backfill-and-reconcile.

    land -> gate on the rows -> compute into staging -> gate on the staged windows -> publish

Each step sees to what must be before it, and records what it found, so that any of them can be run alone, killed, and
run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, any_of, bigint, col
from windrow.drivers.ingest.landing import clock_micros
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.commit import BackfillResult, commit, counted_windows
from windrow.drivers.recompute.counting import in_windows, landed
from windrow.drivers.recompute.recomputed import Recomputed, recomputed, times_of
from windrow.drivers.recompute.replacing import WAITS
from windrow.drivers.recompute.scope import Mode, Request, Scope, first_of, offsets_of, scope_of
from windrow.drivers.recompute.unrestated import files_in_quarantine, has_letters
from windrow.drivers.recompute.waiting import still_waiting, wait_for
from windrow.engine.frames import apply, local, over, select, where, with_column
from windrow.engine.tick.published import Made, Span
from windrow.quality.gate import judge
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed, GateResult, Outcome
from windrow.spec.times import format_time, instant
from windrow.store.delta.steps import tried_again
from windrow.store.journal.audits import BEGIN, Audits, Found
from windrow.store.journal.control import ADMISSION, READING, has_stream
from windrow.store.journal.staging import Staged, Staging
from windrow.store.projections.dead_letters import Restated
from windrow.store.projections.schemas import struct_of
from windrow.store.upstream.offsets import START, Offsets


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

    @property
    def stages(self) -> list[StageWork]:
        return [item for item in self.work.stages if self.stage in (None, item.name)]

    def request_of(self, item: StageWork) -> Request:
        """Which windows of a stage are recomputed: those that start in [start, end), and those that end in it then."""
        first = first_of(self.work, item, self.start)
        before = ((first, self.start),) if first < self.start else ()
        return Request((*before, (self.start, self.end)), mode=self.mode)

    @property
    def audits(self) -> Audits:
        return Audits.of(self.work.lake)

    def whole(self, dry_run: bool) -> list[BackfillResult]:
        """All steps one after the other; those that have to do with gates only where the pipeline has suites."""
        if self.work.suites and not dry_run:
            try:
                return self.publish()
            finally:
                self.discard()
        return [tried_again(lambda item=item: self.at_once(item, dry_run)) for item in self.stages]  # type: ignore[misc]

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
        begun = self._begun()
        self._land(begun)
        if self.waits:
            self._check_expired()

    def _check_expired(self) -> None:
        """Raises WindowsWait where a window of the run has not expired by the watermark of what has landed."""
        requests = {item.name: self.request_of(item) for item in self.stages}
        waiting = tried_again(lambda: still_waiting(self.work, self.stages, requests))
        if waiting:
            raise wait_for(waiting)

    def _land(self, begun: Mapping[str, int]) -> None:
        for landing, projection in zip(self.work.landings, self.work.sources, strict=True):
            landing.run()
            projection.project()
            name, after = landing.source.name, landing.raw.last_step(self.work.spark)
            self._record("land", name, landed(self.work.spark, landing.raw, begun[name], after))

    def _begun(self) -> dict[str, int]:
        """The last landing step of every source when the run began."""
        found = self.audits.of_run(self.work.spark, self.run)
        if {step for step, _ in found} in ({BEGIN}, {BEGIN, "land"}) and found[BEGIN, ""].get("mode") == self._how:
            return dict(found[BEGIN, ""]["steps"])  # it was killed then, or has waited
        steps = {landing.source.name: landing.raw.last_step(self.work.spark) for landing in self.work.landings}
        self._record(BEGIN, "", {"steps": steps, "mode": self._how})
        return steps

    @property
    def _how(self) -> dict[str, object]:
        return {"mode": self.mode.value, "waits": self.waits}

    def as_it_began(self) -> Backfill:
        """The run with what its first step was told of windows that have not expired."""
        found = self.audits.of_run(self.work.spark, self.run)
        how: Mapping[str, Any] = found.get(("mode", "")) or found.get((BEGIN, ""), {}).get("mode") or self._how
        return replace(self, mode=Mode(how["mode"]), waits=how["waits"])

    def told(self) -> Backfill:
        """The run, whose steps from this one on make of windows that have not expired what it says."""
        self._record("mode", "", self._how)
        return self

    def gate_rows(self) -> list[GateResult]:
        """Judge the rows of the interval's windows by the suite of their source. Errors: GateFailed."""
        offsets = [(item, offsets_of(self.work, item)) for item in self.stages]
        read = {name: step for item, until in offsets for name, step in self._read(item, until).items()}
        return self._passed([result for name, step in read.items() for result in self._gated_rows(name, step)])

    def _read(self, item: StageWork, offsets: Offsets) -> dict[str, int]:
        """The sources of a stage, and how far each is read."""
        upstream = item.runner.upstream
        return {name: upstream.step_of(name, offsets) for name in upstream.names if name in self.work.raws}

    def compute(self) -> list[BackfillResult]:
        """Recompute every stage into its staging area, behind the gate on its rows.

        The results say what would be published. Raises GateFailed, and WindowsWait where the run waits for windows
        that only their rows could show; what has landed meanwhile is looked at by the next try.
        """
        found = self._computed(self._levels()[0], fresh=True)
        self._check_none_waits(found)
        return found

    def _computed(self, items: list[StageWork], fresh: bool = False) -> list[BackfillResult]:
        """What stands in the staging areas of these stages, and what of it waits."""
        found = []
        for item in items:
            staged = tried_again(lambda item=item: self._staged(item, fresh))  # type: ignore[misc]
            if staged is not None:
                scope, of = staged
                found.append(counted_windows(self.work, item, scope, self._read_staged(item, of).windows))
        return found

    def _check_none_waits(self, found: list[BackfillResult]) -> None:
        waiting = [one.waiting for one in found if one.waiting is not None and one.waiting.is_by_clock]
        if self.waits and waiting:
            begun = self.audits.of_run(self.work.spark, self.run).get((BEGIN, ""))
            self._land(self._begun() if begun is None else begun["steps"])
            raise wait_for(waiting)

    def _levels(self) -> list[list[StageWork]]:
        """The stages that read none of the others, and those behind, which are computed when these are published."""
        chosen = {item.name for item in self.stages}
        levels = [[item for item in level if item.name in chosen] for level in self.work.levels]
        return [level for level in levels if level]

    def gate_results(self) -> list[GateResult]:
        """Judge the staged windows by the suite of each stage. Errors: GateFailed."""
        return self._gated_level(self._levels()[0])

    def _gated_level(self, items: list[StageWork]) -> list[GateResult]:
        results: list[GateResult] = []
        for item in items:
            staged = tried_again(lambda item=item: self._staged(item))  # type: ignore[misc]
            results += self._gated_results(item, staged)
        return self._passed(results)

    def publish(self) -> list[BackfillResult]:
        """Commit what was staged and judged, and project the tables, when every stage has passed its gate.

        Where the journal has moved on since the windows were staged they are computed and judged again. Raises
        GateFailed, and WindowsWait where the run waits for windows of a stage behind others: these stay published.
        """
        results = []
        for level in self._levels():
            self._gated_level(level)
            if self.waits:
                self._check_none_waits(self._computed(level))
            results += [tried_again(lambda item=item: self._published(item)) for item in level]  # type: ignore[misc]
        self.discard()
        return results

    def discard(self) -> None:
        """Delete what was staged."""
        for item in self.stages:
            self._staging(item).log.location.remove(self.work.spark)

    # ---------------------------------------------------------------- what each of them needs

    def _staged(self, item: StageWork, fresh: bool = False) -> tuple[Scope, Staged] | None:
        """What stands in the staging area, computed where there is nothing, where it is out of date, or afresh.

        With what it read and may publish. None where nothing has landed. Raises GateFailed for the rows.
        """
        work = self.work
        scope = scope_of(work, item, self.request_of(item))
        if scope is None:
            self._pass_rows(item, START)
            return None
        tick = 0 if item.runner.last is None else item.runner.last.tick
        quarantined = item.runner.upstream.quarantined(work.spark)
        staging = self._staging(item)
        before = None if fresh else staging.last(work.spark)
        if before is not None and before.quarantined == quarantined and before.mode == self.mode.value:
            known = _as_staged(scope, before)
            if known is not None and self._is_valid(item, known, before, tick):
                return known, before
        self._pass_rows(item, scope.offsets)
        found = recomputed(work, item, scope)
        of = Staged(
            "", tick, scope.offsets, quarantined, 0, self.mode.value, _listed(scope.spans),
            [[one.first, one.last, one.until] for one in scope.made], scope.until, _listed(scope.gaps), found.restates,
        )  # fmt: skip
        staged = staging.write(found.windows, of)
        point("backfill:after_staging")
        self._record("rows", item.name, in_windows(work.spark, item, scope.spans, scope.offsets))
        return scope, staged

    def _pass_rows(self, item: StageWork, until: Offsets) -> None:
        """Raises GateFailed for the rows that a stage has read so far."""
        for name, step in self._read(item, until).items():
            self._passed(self._gated_rows(name, step))

    def _is_valid(self, item: StageWork, scope: Scope, staged: Staged, tick: int) -> bool:
        """Whether nothing has happened since, or nothing that would give other windows.

        That is the commit of what is staged, if the run was killed then; or ticks of a stream that had closed these
        windows before, so that no row was for them but late ones, which are dead letters.
        """
        if staged.tick == tick or self._has_only_admitted(item, staged.tick, tick):
            return staged.offsets == scope.offsets
        if self._has_only_passed(item, scope, staged.tick, tick):
            return True
        if staged.offsets != scope.offsets:
            return False
        result = commit(self.work, item, scope, self._read_staged(item, staged), dry_run=True)
        return result.inserted + result.changed + result.withdrawn == 0

    def _has_only_admitted(self, item: StageWork, after: int, until: int) -> bool:
        """Whether the journal holds nothing since that tick but admissions: rows of them would give other offsets."""
        ticks = item.runner.journal.controls(self.work.spark, after, until)
        return all(control.kind == ADMISSION for control in ticks.values())

    def _has_only_passed(self, item: StageWork, scope: Scope, after: int, until: int) -> bool:
        """Whether the journal holds nothing since that tick but ticks of a stream, without a late row for the span.

        Such a row may be late for a window in the span whose letter names one before it.
        """
        ticks = item.runner.journal.controls(self.work.spark, max(after - 1, 0), until)
        if after == 0 or not has_stream(ticks[after]):
            return False
        if any(control.kind not in READING for tick, control in ticks.items() if tick > after):
            return False
        late_span = item.runner.stage.windows.late_span
        within_late_span = tuple(replace(one, first=one.first - late_span) for one in scope.made)
        restated = Restated(within_late_span, quarantined_files=files_in_quarantine(self.work, item))
        return not has_letters(self.work, item, restated, after)

    def _read_staged(self, item: StageWork, staged: Staged) -> Recomputed:
        return Recomputed(self._staging(item).read(self.work.spark, staged), staged.restates)

    def _staging(self, item: StageWork) -> Staging:
        return Staging.of(self.work.lake, self.run, item.runner.journal, self.start, self.end)

    def _gated_rows(self, source: str, raw_step: int) -> list[GateResult]:
        """The rows of the interval's windows that could be read and dated: those that were rejected count as well."""

        def rows() -> DataFrame:
            at, reason = col(envelope.EVENT_TIME), col(envelope.REASON)
            inside = any_of(at.between(bigint(first), bigint(end - 1)) for first, end in self._times(source))
            inside = inside & (reason.is_null() | (reason == "rejected"))
            if raw_step == 0:
                (schema,) = [s.columns for s in self.work.pipeline.sources if s.name == source]
                return local(self.work.spark, [], struct_of(schema.ddl))
            landed = self.work.raws[source].rows(self.work.spark, 0, raw_step)
            return where(landed, inside).drop(*envelope.ENVELOPE)

        quarantined = self.work.raws[source].quarantined(self.work.spark)
        return self._gated(source, f"{raw_step} {quarantined} {self.start} {self.end}", rows)

    def _gated_results(self, item: StageWork, found: tuple[Scope, Staged] | None) -> list[GateResult]:
        """The staged windows, as the stage would show them."""
        if found is None:
            return []
        _, staged = found
        return self._gated(item.name, staged.id, lambda: results(item, self._shown(item, staged)))

    def _shown(self, item: StageWork, staged: Staged) -> DataFrame:
        """The staged windows that would be shown."""
        windows = self._read_staged(item, staged).windows
        return windows if self.mode is Mode.EARLY else where(windows, ~col(WAITS))

    def _gated(self, subject: str, version: str, rows: Callable[[], DataFrame]) -> list[GateResult]:
        """The judgement of a suite on rows of that version, made unless this run has made it; none without a suite.

        A check that could not be made is made again.
        """
        suite = self.work.suites.get(subject)
        if suite is None:
            return []
        judged = {"version": version, "suite": suite.to_list()}
        found = self.audits.of_run(self.work.spark, self.run).get(("gate", subject))
        if found is not None and judged == {name: found[name] for name in judged}:
            before = GateResult.from_mapping(found)
            if not any(judgement.outcome is Outcome.ERROR for judgement in before.judgements):
                return [before]
        result = judge(subject, rows(), suite)
        self._record("gate", subject, {**result.to_mapping(), **judged})
        return [result]

    def _published(self, item: StageWork) -> BackfillResult:
        def announced(result: BackfillResult) -> None:
            """What will be committed, and by whom, for a try that finds it done."""
            self._record("publishing", item.name, {**asdict(result), "writer": item.runner.journal.log.writer})

        staged = self._staged(item)
        if staged is None:
            result = BackfillResult(item.name, 0, 0, 0, 0, None)
        else:
            self._passed(self._gated_results(item, staged))
            scope, of = staged
            scope = replace(scope, offsets=of.offsets)
            result = commit(self.work, item, scope, self._read_staged(item, of), announce=announced)
        found = self.audits.of_run(self.work.spark, self.run)
        if result.tick is not None:
            self._record("publish", item.name, asdict(result))
        elif ("publish", item.name) not in found:
            self._record("publish", item.name, self._done_before(item, found) or asdict(result))
        return result

    def _done_before(self, item: StageWork, found: Mapping[tuple[str, str], Found]) -> Found | None:
        """What a try of this run has committed that was killed behind its commit."""
        announced = found.get(("publishing", item.name))
        if announced is None:
            return None
        owner = item.runner.journal.log.owner(self.work.spark, announced["tick"])
        return announced if owner == announced["writer"] else None

    def _times(self, source: str) -> set[Span]:
        """The source's event times of the rows of the windows, over all stages that read the source."""
        return {
            time
            for item in self.stages
            if source in item.runner.upstream.names
            for span in self.request_of(item).spans
            for time in [times_of(item, span) or span]
        }

    # ---------------------------------------------------------------- what is recorded

    def _passed(self, results: list[GateResult]) -> list[GateResult]:
        stopping = tuple(result for result in results if result.stops)
        if stopping:
            raise GateFailed(stopping, self.run)
        return results

    def _record(self, step: str, subject: str, found: Found) -> None:
        about = {"start": self.start, "end": self.end, "stages": [item.name for item in self.stages]}
        self.audits.record(self.work.spark, self.run, step, subject, {**found, **about})


def _as_staged(scope: Scope, staged: Staged) -> Scope | None:
    """The scope with the windows that may be published of what is staged: those that could be then.

    None where other spans were staged.
    """
    if _listed(scope.spans) != staged.spans:
        return None
    made, gaps = tuple(Made(*one) for one in staged.made), tuple((first, last) for first, last in staged.gaps)
    return replace(scope, made=made, until=staged.until, gaps=gaps)


def _listed(spans: tuple[Span, ...]) -> list[list[int]]:
    return [list(span) for span in spans]


def results(item: StageWork, staged: DataFrame) -> DataFrame:
    """Recomputed windows with the columns that a stage's suite knows: keys, bounds, aggregates and derived ones.

    Of a join, the rows of these windows.
    """
    stage = item.runner.stage.shown
    staged = apply(item.runner.stage.panes.rows(over(staged)), staged)
    frame = select(
        staged,
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
