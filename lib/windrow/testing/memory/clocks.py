"""The clocks of elements that are given step by step, with processing time, and their watermark where they say one."""

from __future__ import annotations

from dataclasses import dataclass, field

from windrow.drivers.pipeline.clocks import ClocksOfSource
from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.inputs import InputTime
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.times import MINUS_INFINITY


@dataclass
class Given:
    """What the step that is taken now says: processing time, and the watermark of elements without a rule."""

    now: int = MINUS_INFINITY
    watermark: int | None = None


@dataclass(frozen=True)
class ClocksByRule(ClocksOfSource):
    """The watermark is made by a rule, as that of a source; the step says processing time."""

    given: Given = field(default_factory=Given)

    def now(self, found: BatchStatistics, step: int) -> int:
        return self.given.now


@dataclass(frozen=True)
class ClocksAsGiven:
    """The step says the watermark too; where it does not, it stays."""

    given: Given
    replays: bool = False

    def now(self, found: BatchStatistics, step: int) -> int:
        return self.given.now

    def is_idle(self, clock: StageClock) -> bool:
        return False

    def time_at(self, step: int) -> InputTime:
        return InputTime(BatchStatistics(), None, self.given.watermark)
