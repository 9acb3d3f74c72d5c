"""What moves the clocks of a stage: the rows of a source by its rule, or the clocks of the stage that it reads.

Rule: SEMANTICS sections 1, 8 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from windrow.engine.batch import active, moved
from windrow.engine.chaining import in_band
from windrow.engine.clock import StageClock
from windrow.engine.survey import Survey
from windrow.spec.sources import Source
from windrow.spec.stages import Stage
from windrow.spec.watermarks import Watermark
from windrow.store.stage_panes import StagePanes


class Clocks(Protocol):
    """How far the clocks of a stage are when it has read its upstream up to a step."""

    @property
    def replays(self) -> bool:
        """Whether a history is replayed as it arrived: its clock stands still without rows."""

    def now(self, batch: Survey, until: int) -> int:
        """Processing time of a tick over the rows up to that step."""

    def moved(self, clock: StageClock, until: int) -> StageClock:
        """The clock with its watermarks moved forward."""

    def active(self, clock: StageClock) -> tuple[int, ...]:
        """The watermarks of the source partitions that are not idle, where there may be several."""

    def is_idle(self, clock: StageClock) -> bool:
        """Whether all source partitions are idle, so that time alone completes windows."""


@dataclass(frozen=True)
class ClocksOfSource:
    """The watermark is made from the rows by the rule of their source."""

    source: Source
    stage: Stage

    @property
    def rule(self) -> Watermark:
        return self.stage.watermark_over(self.source.watermark)

    @property
    def replays(self) -> bool:
        return self.source.arrival_time is not None

    def now(self, batch: Survey, until: int) -> int:
        return batch.greatest_arrival

    def moved(self, clock: StageClock, until: int) -> StageClock:
        return moved(clock, self.rule, self.stage)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        return active(clock, self.rule)

    def is_idle(self, clock: StageClock) -> bool:
        return clock.idle(self.rule) >= clock.partitions.keys()


@dataclass(frozen=True)
class ClocksOfStage:
    """The watermark comes with the panes: it is the output watermark of the stage that is read, and so is `now`."""

    spark: SparkSession
    panes: StagePanes
    stage: Stage
    replays: bool

    def now(self, batch: Survey, until: int) -> int:
        return self.panes.now_after(self.spark, until)

    def moved(self, clock: StageClock, until: int) -> StageClock:
        return in_band(self.stage, clock, self.panes.clock_after(self.spark, until).output_watermark)

    def active(self, clock: StageClock) -> tuple[int, ...]:
        return ()

    def is_idle(self, clock: StageClock) -> bool:
        return False
