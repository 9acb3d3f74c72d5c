"""The stream: land, tick, project, again and again, or once over what is there."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.landings import AnyLanding
from windrow.drivers.ingest.outages import Outages
from windrow.drivers.ingest.runs import Run
from windrow.drivers.pipeline.during import during
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.stream import garbage
from windrow.drivers.stream.gate import judge_expired
from windrow.drivers.stream.pace import Looks, Pace, pace_of_current, pace_of_tables
from windrow.drivers.stream.progress import Progress, Totals, Watch
from windrow.engine.tick.counters import Counters
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import SECOND
from windrow.store.journal.audits import STREAM_RUN
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import Offsets

_LEEWAY = 0.05
"""Seconds by which a look may begin early, as its time is taken a moment after it was due."""


def run(
    pipeline: Pipeline,
    spark: SparkSession,
    once: bool = False,
    drain: bool = False,
    every: float = 10.0,
    from_start: bool = False,
    watch: Watch | None = None,
    clock: Callable[[], int] = clock_micros,
    stop: threading.Event | None = None,
) -> Totals:
    """Run a pipeline as a stream.

    `once` takes what is there and returns; `drain` then moves the watermark to +infinity, so that all windows fire and
    expire. Otherwise it goes on, with a look every `every` seconds, or at once where the one before has taken longer,
    until `stop` is set: it then ends after the tick. Where a stage has a quality suite it judges the windows that
    expire, after the tables have been projected. A source that could be reached at the start and then cannot is asked
    again, for a while, unless it is `once`.
    Errors: SpecError, StepTaken when a second stream is at work, SourceUnavailable, GateFailed.
    """
    stop = stop or threading.Event()
    work = PipelineWork.open(pipeline, spark, from_start, clock)
    stream = Stream(work, clock, watch, stop)
    with work.landing_for_stages():
        stream.start()
        stream.ends, stream.drains = once or drain, drain
        with garbage.of_a_stream():
            looks = Looks(every)
            while True:
                stream.cycle()
                garbage.clear()
                if once or drain or looks.wait(stop):
                    break
                stream.outages.is_patient = True
        if drain and not stop.is_set():
            stream.drain()
        stream.refresh()
    return stream.totals


@dataclass
class Stream:
    """A pipeline that runs: its totals, and when its tables were last projected, `current` in the look of what time.

    `ends`: at the head it is done; `drains`: when it has been drained there.
    """

    work: PipelineWork
    clock: Callable[[], int]
    watch: Watch | None
    stop: threading.Event
    totals: Totals = field(default_factory=Totals)
    outages: Outages = field(default_factory=Outages)
    ends: bool = False
    drains: bool = False
    _pace: Pace = field(default_factory=pace_of_tables)
    _refreshed: Pace = field(default_factory=pace_of_current)
    _look: float = field(default_factory=time.monotonic)
    _refreshed_in: float = field(default_factory=time.monotonic)
    _lags: dict[tuple[str, int], int] = field(default_factory=dict)

    def start(self) -> None:
        """What a process that was killed may have left undone is done first."""
        for stage in self.work.stages:
            stage.catch_up()

    def cycle(self) -> None:
        """Land what is there now, let every stage catch up, and then let time pass."""
        began, self._look = self.clock(), time.monotonic()
        self._land()
        for source in self.work.sources:
            with during(f"while the tables of source {source.raw.name} were projected"):
                source.project()
        while self._advanced():
            pass
        if self.stop.is_set():
            self._project_shown(self._refreshed.is_due())
            return
        self._tick_in_order(lambda stage: stage.runner.pass_time(began))
        refresh = self.work.pipeline.refresh / SECOND
        self._project_shown(self.ends or self._look - self._refreshed_in >= refresh - _LEEWAY)
        if not self.drains:
            self._replace()
        self._judge()

    def refresh(self) -> None:
        """Write `current` where it lacks ticks that the other tables have."""
        self._project_shown(True)

    def _tick_in_order(self, tick: Callable[[StageWork], Control | None]) -> None:
        """Such a tick of every stage, when it has read all that the ticks before have emitted."""
        for stage in self.work.stages:
            self._make_way()
            if self.work.upstreams_of(stage):
                while self._ticked(stage, _advance(stage, stage.runner.upstream.head(self.work.spark))):
                    pass
            self._ticked(stage, stage.tick(lambda stage=stage: tick(stage)))  # type: ignore[misc]

    def _land(self) -> None:
        """Land what is there now, with ticks meanwhile. Errors: SourceUnavailable and those of a query."""
        self._make_way()
        running: dict[str, tuple[AnyLanding, Run]] = {}
        try:
            for landing in self.work.landings:
                run: Run | None = self.outages.tried(landing.source.name, landing.start)
                if run is not None:
                    running[landing.source.name] = (landing, run)
            self._advance_while([run for _, run in running.values()])
        finally:
            _end([run for _, run in running.values()])
        for name, (landing, run) in running.items():
            failure = landing.failure(run)
            if failure is None:
                self.outages.over(name)
            else:
                self.outages.failed(name, failure)

    def _advance_while(self, runs: list[Run]) -> None:
        """Tick until all of them have ended, but not while a batch is to go first."""
        while any([run.is_active for run in runs]):  # each of them is looked at, as that is where it goes on
            if self.stop.is_set():
                _end(runs)
            elif self.work.lease.is_taken() or not (self._advance_all() or self._advance_together(have_settled=False)):
                _wait(runs)

    def _advanced(self) -> bool:
        """One tick of what is behind; whether there was one."""
        self._make_way()
        return self._advance_all() or self._advance_together()

    def drain(self) -> None:
        """Move the watermark of every stage to +infinity."""
        self._tick_in_order(lambda stage: stage.runner.drain())
        self._project_shown(True)
        self._replace()
        self._judge()

    def _advance_all(self) -> bool:
        """One tick for every stage of one input that is behind; whether there was one."""
        stages = [stage for stage in self.work.stages if not stage.runner.upstream.are_several]
        if self.stop.is_set() or not stages:
            return False
        heads = [stage.runner.upstream.head(self.work.spark) for stage in stages]
        with ThreadPoolExecutor(len(stages)) as pool:  # most of a small tick is planning, on one core
            controls = list(pool.map(_advance, stages, heads))
        moved = False
        for stage, control, head in zip(stages, controls, heads, strict=True):
            moved |= self._ticked(stage, control, head)
        if self._pace.is_due():
            self._project_shown(self._refreshed.is_due())
        return moved

    def _advance_together(self, have_settled: bool = True) -> bool:
        """One tick of the first stage of several inputs that is behind; whether there was one.

        It takes the same steps together whenever it was killed: where its inputs have not settled, it waits until there
        is of each what a tick takes of it.
        """
        for stage in self.work.stages:
            inputs = stage.runner.upstream
            if inputs.are_several and not self.stop.is_set():
                head = inputs.head(self.work.spark)
                steps = stage.runner.stage.shown.max_versions_per_tick
                if not have_settled and not inputs.all_have(steps, stage.runner.offsets, head):
                    continue
                if self._ticked(stage, _advance(stage, head), head):
                    if self._pace.is_due():
                        self._project_shown(self._refreshed.is_due())
                    return True
        return False

    def _make_way(self) -> None:
        """Wait while a batch that was overtaken holds the lease of the lake."""
        self.work.lease.wait(self.stop)

    def _project_shown(self, refresh: bool) -> None:
        """Project tables; those that show another generation are replaced at the head only."""
        self._project([stage for stage in self.work.stages if not stage.projections.is_rebuilt], refresh)

    def _replace(self) -> None:
        """Show new generations in place of old ones, each table in one commit.

        None is shown before the gates of all have passed. Raises GateFailed where one stops.
        """
        rebuilt = [stage for stage in self.work.stages if stage.projections.is_rebuilt]
        for stage in rebuilt:
            stage.check_generation()
        if rebuilt:
            self._project(rebuilt, True)

    def _judge(self) -> None:
        """The gates of all stages, over what has expired. Errors: GateFailed."""
        shown = [stage for stage in self.work.stages if not stage.projections.is_rebuilt]
        found = [judge_expired(self.work, stage) for stage in shown]
        stopping = tuple(result for result in found if result is not None and result.stops)
        if stopping:
            raise GateFailed(stopping, STREAM_RUN)

    def _ticked(self, stage: StageWork, control: Control | None, head: Offsets | None = None) -> bool:
        if control is None:
            return False
        self.totals.ticks += 1
        self.totals.rows += control.counters.read
        lag = 0 if head is None else stage.runner.upstream.steps_between(control.offsets, head)
        self._lags[stage.name, control.tick] = lag
        return True

    def _project(self, stages: list[StageWork], refresh: bool) -> None:
        """Project the tables of stages; `current` with `refresh`, and where something is about to read it."""
        began = time.monotonic()
        for stage in stages:
            if stage.pending:
                ticks = stage.pending
                is_read = stage.name in self.work.suites or stage.projections.is_rebuilt
                with during(f"while the tables of stage {stage.name} were projected"):
                    counted = stage.project(refresh or is_read)
                self.totals.add(counted)
                self._show(stage, ticks, counted)
        self._pace.took(began)
        if refresh:
            self._refreshed.took(began)
            self._refreshed_in = self._look

    def _show(self, stage: StageWork, ticks: Mapping[int, Control], counted: Mapping[int, Counters]) -> None:
        """Tell whoever watches of the ticks that have not been shown yet."""
        for tick, control in sorted(ticks.items()):
            lag = self._lags.pop((stage.name, tick), None)
            if self.watch is not None and lag is not None:
                self.watch(Progress(stage.name, control, lag, counted.get(tick, control.counters)))


def _advance(stage: StageWork, head: Offsets) -> Control | None:
    with during(f"while stage {stage.name} ticked"):
        return stage.tick(lambda: stage.runner.advance(head))


def _wait(runs: list[Run]) -> None:
    """Wait a moment for landing."""
    for run in runs:
        if run.is_active:
            run.wait(0.2)
            return


def _end(runs: list[Run]) -> None:
    """Stop landing where it is: what its batch has not committed comes again with the next run."""
    for run in runs:
        run.stop()


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGTERM and SIGINT set; handlers are put back afterwards."""
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in before:
        signal.signal(number, lambda *_: stop.set())
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
