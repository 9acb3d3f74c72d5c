"""What moves the clocks of a stage: the rows of a source by its rule, or the clocks of the stage that it reads.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks,
docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.inputs import InputTime, met, partitions, seen
from windrow.engine.compiling.chain import in_band
from windrow.engine.tick.plan import Batch, active, moved
from windrow.engine.tick.statistics import Survey, summed
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.store.upstream.offsets import START, Offsets


class Clocks(Protocol):
    """How far the clocks of a stage are when it has read its inputs so far."""

    @property
    def replays(self) -> bool:
        """Whether a history is replayed as it arrived: its clock stands still without rows."""

    def now(self, batch: Batch, until: Offsets) -> int:
        """Processing time of a tick over the rows up to there."""

    def seen(self, clock: StageClock, batch: Batch, now: int) -> StageClock:
        """The clock after the rows of a tick; its watermarks stand where they were."""

    def moved(self, clock: StageClock, until: Offsets) -> StageClock:
        """The clock with its watermarks moved forward."""

    def active(self, clock: StageClock) -> tuple[int, ...]:
        """The watermarks of the source partitions that are not idle, where there may be several."""

    def is_idle(self, clock: StageClock) -> bool:
        """Whether all source partitions are idle, so that time alone completes windows."""


class ClocksOfInput(Clocks, Protocol):
    """The same where it may be one of several inputs."""

    def time_at(self, step: int) -> InputTime:
        """What is known of its time at a step of its log, beside its rows."""


@dataclass(frozen=True)
class ClocksOfSource:
    """The watermark is made from the rows by the rule of their source, which is named."""

    source: str
    watermark: Watermark
    stage: Stage
    replays: bool = False

    @classmethod
    def of(cls, source: Source, stage: Stage) -> ClocksOfSource:
        return cls(source.name, source.watermark, stage, source.arrival_time is not None)

    @property
    def rule(self) -> Watermark:
        return self.stage.watermark_over(self.watermark)

    def now(self, batch: Batch, until: Offsets) -> int:
        return _found(batch).greatest_arrival

    def seen(self, clock: StageClock, batch: Batch, now: int) -> StageClock:
        return _seen(clock, _found(batch), now)

    def moved(self, clock: StageClock, until: Offsets) -> StageClock:
        return moved(clock, self.rule, self.stage)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        return active(clock, self.rule)

    def is_idle(self, clock: StageClock) -> bool:
        return clock.idle(self.rule) >= clock.partitions.keys()

    def time_at(self, step: int) -> InputTime:
        return InputTime(Survey(), self.rule)


class TimedPanes(Protocol):
    """The panes of a stage, with the clock that each of its ticks leaves."""

    @property
    def name(self) -> str:
        """Of the stage."""

    def now_after(self, spark: SparkSession, tick: int) -> int:
        """Processing time of the stage after a tick."""

    def clock_after(self, spark: SparkSession, tick: int) -> StageClock:
        """The clock of the stage after a tick, with the output watermark that its panes up to there come with."""


@dataclass(frozen=True)
class ClocksOfStage:
    """The watermark comes with the panes: it is the output watermark of the stage that is read, and so is `now`."""

    spark: SparkSession
    panes: TimedPanes
    stage: Stage
    replays: bool

    def now(self, batch: Batch, until: Offsets) -> int:
        return MINUS_INFINITY if until.is_start else self.panes.now_after(self.spark, until.of(ONLY))

    def seen(self, clock: StageClock, batch: Batch, now: int) -> StageClock:
        return _seen(clock, _found(batch), now)

    def moved(self, clock: StageClock, until: Offsets) -> StageClock:
        return in_band(self.stage, clock, self.panes.clock_after(self.spark, until.of(ONLY)).output_watermark)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        return ()

    def is_idle(self, clock: StageClock) -> bool:
        return False

    def time_at(self, step: int) -> InputTime:
        known = self.panes.clock_after(self.spark, step).output_watermark if step else None
        return InputTime(Survey(), None, known, is_known=True)


@dataclass(frozen=True)
class ClocksOfInputs:
    """Each input has clocks of its own; the watermark is the least of theirs."""

    stage: Stage
    inputs: Mapping[str, ClocksOfInput]

    @property
    def replays(self) -> bool:
        return any(one.replays for one in self.inputs.values())

    def now(self, batch: Batch, until: Offsets) -> int:
        own = {name: {name: batch[name]} if name in batch else {} for name in self.inputs}
        return max(one.now(own[name], Offsets({ONLY: until.of(name)})) for name, one in self.inputs.items())

    def seen(self, clock: StageClock, batch: Batch, now: int) -> StageClock:
        clock = clock.seen({}, now, _found(batch).latest_end)
        surveys = {name: batch[name][1] if name in batch else Survey() for name in self.inputs}
        return seen(clock, clock.now, surveys)

    def moved(self, clock: StageClock, until: Offsets) -> StageClock:
        return met(clock, clock.now, self._times(until), self.stage)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        return partitions(clock, self._times(START))

    def is_idle(self, clock: StageClock) -> bool:
        known = {name: clock.inputs[name] for name in self.inputs if name in clock.inputs}
        return all(self.inputs[name].is_idle(one.clock) for name, one in known.items())

    def _times(self, until: Offsets) -> dict[str, InputTime]:
        return {name: one.time_at(until.of(name)) for name, one in self.inputs.items()}


def _found(batch: Batch) -> Survey:
    return summed([found for _, found in batch.values()])


def _seen(clock: StageClock, found: Survey, now: int) -> StageClock:
    return clock.seen(found.greatest, now, found.latest_end, found.asserted)
