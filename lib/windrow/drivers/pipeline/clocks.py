"""What moves the clocks of a stage: the rows of sources by their rules, or the clocks of the stages that it reads.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks,
docs/semantics.md#stages-that-read-stages, docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.inputs import InputTime, met, partitions, seen
from windrow.engine.compiling.chain import in_band
from windrow.engine.tick.micro_batch import MicroBatch
from windrow.engine.tick.statistics import BatchStatistics, summed
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.store.upstream.offsets import START, Offsets


class InputClocks(Protocol):
    """How far the clock of an input is when its log has been read up to a step."""

    @property
    def replays(self) -> bool:
        """Whether a history is replayed as it arrived: its clock stands still without rows."""

    def now(self, found: BatchStatistics, step: int) -> int:
        """Processing time of a tick over these rows, up to that step."""

    def time_at(self, step: int) -> InputTime:
        """What is known of its time at that step, beside its rows."""

    def is_idle(self, clock: StageClock) -> bool:
        """Whether all source partitions of the input are idle, so that time alone completes windows."""


@dataclass(frozen=True)
class ClocksOfSource:
    """The watermark is made from the rows by the rule of their source, which is named.

    `hides_partitions` says that the names of its partitions are values that nobody is shown.
    """

    source: str
    watermark: Watermark
    stage: Stage
    replays: bool = False
    hides_partitions: bool = False

    @classmethod
    def of(cls, source: Source, stage: Stage) -> ClocksOfSource:
        return cls(source.name, source.watermark, stage, source.arrival_time is not None, source.hides_partitions)

    @property
    def rule(self) -> Watermark:
        return self.stage.watermark_over(self.watermark)

    def now(self, found: BatchStatistics, step: int) -> int:
        return found.greatest_arrival

    def time_at(self, step: int) -> InputTime:
        return InputTime(BatchStatistics(), self.rule)

    def is_idle(self, clock: StageClock) -> bool:
        return clock.idle(self.rule) >= clock.partitions.keys()


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

    def now(self, found: BatchStatistics, step: int) -> int:
        return self.panes.now_after(self.spark, step) if step else MINUS_INFINITY

    def time_at(self, step: int) -> InputTime:
        known = in_band(self.stage, self.panes.clock_after(self.spark, step).output_watermark) if step else None
        return InputTime(BatchStatistics(), None, known, is_known=True)

    def is_idle(self, clock: StageClock) -> bool:
        return False


@dataclass(frozen=True)
class Clocks:
    """The clocks of a stage: each input has its own, and the watermark is the least of theirs."""

    stage: Stage
    inputs: Mapping[str, InputClocks]

    @property
    def replays(self) -> bool:
        """Whether a history is replayed as it arrived: its clock stands still without rows."""
        return any(one.replays for one in self.inputs.values())

    def now(self, micro_batch: MicroBatch, until: Offsets) -> int:
        """Processing time of a tick over the rows up to there."""
        found = self._found(micro_batch)
        return max(one.now(found[name], until.of(name)) for name, one in self.inputs.items())

    def seen(self, clock: StageClock, micro_batch: MicroBatch, now: int) -> StageClock:
        """The clock after the rows of a tick; its watermarks stand where they were."""
        found = self._found(micro_batch)
        clock = clock.seen({}, now, summed([*found.values()]).latest_end)
        return seen(clock, clock.now, found)

    def moved(self, clock: StageClock, until: Offsets) -> StageClock:
        """The clock with its watermarks moved forward, when the inputs have been read so far."""
        return met(clock, clock.now, self._times(until), self.stage)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        """The watermarks of the source partitions that are not idle, where they are known."""
        return partitions(clock, self._times(START))

    def is_idle(self, clock: StageClock) -> bool:
        """Whether all source partitions are idle, so that time alone completes windows."""
        return all(self.inputs[name].is_idle(one.clock) for name, one in clock.inputs.items())

    def _found(self, micro_batch: MicroBatch) -> dict[str, BatchStatistics]:
        return {name: micro_batch[name][1] if name in micro_batch else BatchStatistics() for name in self.inputs}

    def _times(self, until: Offsets) -> dict[str, InputTime]:
        return {name: one.time_at(until.of(name)) for name, one in self.inputs.items()}
