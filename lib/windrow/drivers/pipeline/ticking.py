"""A stage ticks: read the next whole steps of its upstream, compute the tick, commit it.

Rule: docs/semantics.md#ticks.

One runner for the stream, `--once`, the DAGs, transcripts, laws and the start after a crash, over what a stage keeps
between ticks: a journal on Delta, or the memory of the driver. A tick that is committed is never computed again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import STATE
from windrow.compile.sql.columns import Column, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import NOW, timer_column
from windrow.drivers.pipeline.clocks import Clocks
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.spans import span
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.clocks.holds import has_new, least_hold
from windrow.engine.frames import where
from windrow.engine.partitions import sized
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import Counters
from windrow.engine.tick.judging import keys_of, may_be_dead
from windrow.engine.tick.micro_batch import MicroBatch, with_statistics
from windrow.engine.tick.published import Made, joined
from windrow.engine.tick.statistics import BatchStatistics, summed
from windrow.engine.tick.tick import TickPlan, tick, trigger_clock
from windrow.engine.tick.touched import Touched
from windrow.engine.windows.registry import strategy_of
from windrow.engine.windows.strategy import WindowStrategy
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.firings import leaves_nothing
from windrow.store.journal.control import STREAM, Control, has_stream
from windrow.store.upstream.inputs import InputLogs
from windrow.store.upstream.offsets import START, Offsets


class TickState(Protocol):
    """What a stage keeps between ticks: the control rows and the cells."""

    def last(self, spark: SparkSession, known: Control | None = None) -> Control | None:
        """The control row of the newest tick, or None before the first; that which is `known` is not read again."""

    def controls(self, spark: SparkSession, after: int, until: int) -> dict[int, Control]:
        """The control rows of the ticks after < tick <= until."""

    def cells(
        self,
        spark: SparkSession,
        wanted: Column | None,
        expired_end: int,
        *,
        touched: Touched | None = None,
        to_join: bool = False,
    ) -> DataFrame | None:
        """The cells that have not expired; those at least that are `wanted`, and of these those that are `touched`.

        None when there can be none. `to_join`: with the columns of a plain key, if the windows' strategy joins cells.
        """

    def wants_snapshot(self, spark: SparkSession, elements: int) -> bool:
        """Whether a tick with so many elements had better write all open cells."""

    def commit(self, spark: SparkSession, control: Control, plan: TickPlan) -> Control:
        """Keep a tick, and give its control row as it is kept. Raises StepTaken where another writer has done so."""


@dataclass
class TickRunner:
    """A stage that ticks: its compiled columns, the logs that it reads, what moves its clocks, and what it keeps.

    `is_read` says that other stages read it.
    """

    spark: SparkSession
    stage: CompiledStage
    upstream: InputLogs
    clocks: Clocks
    journal: TickState
    is_read: bool = False
    _last: Control | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.refresh()

    @property
    def last(self) -> Control | None:
        """The control row of the newest tick, as it was read last, or written."""
        return self._last

    def refresh(self) -> None:
        """Read the newest tick again, after what another writer may have committed."""
        self._last = self.journal.last(self.spark, self._last)

    def write(self, control: Control, plan: TickPlan) -> Control:
        """Commit a tick, and give its control row. Raises StepTaken where another writer has committed meanwhile."""
        self._last = self.journal.commit(self.spark, control, plan)
        return self._last

    def reload(self) -> list[Control]:
        """Read the newest tick again: the ticks that others have committed since."""
        before = 0 if self.last is None else self.last.tick
        self.refresh()
        if self.last is None or self.last.tick <= before:
            return []
        return list(self.journal.controls(self.spark, before, self.last.tick).values())

    @property
    def clock(self) -> StageClock:
        return StageClock() if self.last is None else self.last.clock

    @property
    def offsets(self) -> Offsets:
        """How far the stage has read, by a stream or by batches."""
        return START if self.last is None else self.last.offsets

    @property
    def strategy(self) -> WindowStrategy:
        """What a tick does for the family of the stage's windows."""
        return strategy_of(self.stage)

    def advance(self, head: Offsets, kind: str = STREAM) -> Control | None:
        """Take the next steps of what is read, up to `head`, as one tick. None when there are none."""
        after = self.offsets
        until = after.towards(head, self.stage.shown.max_versions_per_tick)
        if until == after:
            return None
        started = time.monotonic()
        until, retracts = self.until_correction(after, until)
        admission = Admission(INFINITY) if retracts else self.admission
        with span("statistics"):
            micro_batch = self._micro_batch(after, until, admission)
        now = max(self.clock.now, self.clocks.now(micro_batch, until))
        return self._tick(self.clocks.seen(self.clock, micro_batch, now), until, micro_batch, admission, started, kind)

    def _micro_batch(self, after: Offsets, until: Offsets, admission: Admission) -> MicroBatch:
        """The rows between two offsets, with no more of each than is needed where that takes less."""
        landed = self.upstream.landed(self.spark, after, until)
        parts = self.upstream.narrow(self.spark, after, until)
        narrow = {*parts}
        parts |= self.upstream.parts(self.spark, after, until, self.upstream.logs.keys() - narrow)
        found = with_statistics(self.stage, parts, admission, landed)
        needed = {name for name in narrow if may_be_dead(self.stage.of_input(name), found[name][1])}
        whole = self.upstream.parts(self.spark, after, until, needed) if needed else {}
        return {name: (whole.get(name, rows), statistics) for name, (rows, statistics) in found.items()}

    def until_correction(self, after: Offsets, until: Offsets) -> tuple[Offsets, bool]:
        """Where a tick ends whose stage cannot take elements back, and whether all that it reads is a correction."""
        return until, False

    def pass_time(self, now: int) -> Control | None:
        """A tick without elements at the head of the upstream: None where it moves no watermark and no timer is due.

        A history that is replayed as it arrived has its own clock, which stands still without rows.
        """
        if not has_stream(self.last) or self.clocks.replays:
            return None
        clock = self.clocks.seen(self.clock.seen({}, now, None), {}, now)
        clock = clock.seen({}, now, self._greatest_end(clock))
        after = self.clocks.moved(clock, self.offsets)
        if not after.is_ahead_of(self.clock) and not self._is_timer_due(clock.now):
            return None
        return self._tick(clock, self.offsets, {}, self.admission, time.monotonic())

    def _greatest_end(self, clock: StageClock) -> int | None:
        """The greatest end of a window, where only the cells know and an idle source would complete it."""
        if not self.strategy.ends_by_cells or not self.clocks.is_idle(clock):
            return None
        cells = self.journal.cells(self.spark, None, clock.expired_end)
        return None if cells is None else self.strategy.greatest_end(cells)

    def drain(self) -> Control | None:
        """A tick that moves the watermark to +infinity: all windows fire and expire."""
        if not has_stream(self.last) or self.clock.watermark == INFINITY:
            return None
        clock = self.clock.with_watermark(INFINITY, self.stage.stage.allowed_lateness)
        return self._tick(clock, self.offsets, {}, self.admission, time.monotonic())

    @property
    def published(self) -> tuple[Made, ...]:
        """The windows that batches have published of a stage without a stream."""
        return () if self.last is None else joined(self.stage.windows, self.last.published, self.strategy.is_made_whole)

    @property
    def admission(self) -> Admission:
        """Which windows admit elements: not those that have expired or that batches have published."""
        return self.strategy.admission(self.clock.expired_end, self.published, has_stream(self.last))

    def _tick(
        self,
        clock: StageClock,
        until: Offsets,
        micro_batch: MicroBatch,
        admission: Admission,
        started: float,
        kind: str = STREAM,
    ) -> Control:
        before = self._with_hold(self.clock)
        clock = replace(clock, output_watermark=before.output_watermark)
        clock = self.clocks.moved(clock, until)
        times = TickTimes(self.next_tick, before, clock, self.clocks.active(clock))
        found = summed([found for _, found in micro_batch.values()])
        wants_all = self.strategy.can_be_snapshot and self.strategy.has_elements(found)
        snapshot = wants_all and self.journal.wants_snapshot(self.spark, found.counters.assigned)
        with sized(self.spark, lambda: self._work(found.counters)):
            cells = self._cells(times, micro_batch, found, snapshot)
            plan = tick(self.stage, micro_batch, cells, times, admission, snapshot)
            return self.commit(times, until, plan, started, kind, admission.expired_end)

    def _work(self, counters: Counters) -> int | None:
        """How many rows a tick with these elements has to do with at most; None where it is not known."""
        return None

    @property
    def next_tick(self) -> int:
        return 1 if self.last is None else self.last.tick + 1

    def commit(
        self,
        times: TickTimes,
        until: Offsets,
        plan: TickPlan,
        started: float,
        kind: str,
        late_until: int = MINUS_INFINITY,
    ) -> Control:
        """Commit a tick of a stream that has read so far. Raises StepTaken where another writer has."""
        control = Control(
            tick=times.tick,
            kind=kind,
            offsets=until,
            streams=True,
            watermark_before=times.before.watermark,
            clock=times.after,
            counters=plan.counters,
            backfilled=() if self.last is None else self.last.backfilled,
            late_until=late_until,
        )
        point("tick:before_journal")
        control = control.lasting(int(1000 * (time.monotonic() - started)))
        with span("commit", tick=control.tick):
            control = self.write(control, plan)
        point("tick:after_journal")
        return control

    def _with_hold(self, clock: StageClock) -> StageClock:
        """The clock with the output watermark, where the stage has a use for it."""
        stage = self.stage.stage
        is_wanted = stage.keeps_event_times or (self.is_read and not leaves_nothing(stage))
        if not is_wanted or self.last is None:
            return clock
        return clock.with_hold(least_hold(stage, self.journal.cells(self.spark, has_new(), clock.expired_end)))

    def _cells(
        self, times: TickTimes, micro_batch: MicroBatch, found: BatchStatistics, snapshot: bool
    ) -> DataFrame | None:
        """The open cells that the tick may concern: those of its elements' buckets, and those whose timers are due.

        For a snapshot all of them.
        """
        if self.last is None:
            return None
        if snapshot:
            return self.journal.cells(self.spark, None, times.before.expired_end, to_join=True)
        timer_due = self.stage.cells.is_timer_due(trigger_clock(self.stage, times))
        wanted = self.strategy.wanted(times, found, timer_due)
        if wanted is None:
            return None
        touched = None
        if self.strategy.concerns_own_key and self.strategy.has_elements(found):
            rows = max(found.counters.kept, found.counters.assigned)
            touched = Touched(rows, lambda: keys_of(self.stage, micro_batch), timer_due)
        return self.journal.cells(self.spark, wanted, times.before.expired_end, touched=touched, to_join=True)

    def _is_timer_due(self, now: int) -> bool:
        """Whether a timer of processing time is due."""
        if not self.stage.tree.root.has_timer(NOW):
            return False
        timer_due = col(STATE, timer_column(NOW)) <= bigint(now)
        cells = self.journal.cells(self.spark, timer_due, self.clock.expired_end)
        return cells is not None and not where(cells, timer_due).isEmpty()
