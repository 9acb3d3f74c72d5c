"""The clock of a tick, and how a source's watermark is made. SEMANTICS sections 2 and 8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.watermarks import Watermark


@dataclass(frozen=True)
class Clock:
    """What a tick is told of time: its number, `now`, and the watermark before and after it.

    `partitions_before` and `partitions_after` are the watermarks of the source partitions that are not idle; None where
    the watermark is given and not made from partitions.
    """

    tick: int
    now: int
    watermark_before: int
    watermark_after: int
    partitions_before: Mapping[str, int] | None = None
    partitions_after: Mapping[str, int] | None = None

    @property
    def known_watermark(self) -> int | None:
        """The watermark after the tick; null where none is known."""
        return None if self.watermark_after == MINUS_INFINITY else self.watermark_after

    def percentile_at(self, end: int) -> int:
        """The share of source partitions whose watermark had reached `end`, as an integer from 0 to 100."""
        if self.partitions_after is None:
            return 100 if self.watermark_after >= end else 0
        if not self.partitions_after:
            return 0
        reached = sum(watermark >= end for watermark in self.partitions_after.values())
        return 100 * reached // len(self.partitions_after)


FIRST_CLOCK = Clock(tick=0, now=0, watermark_before=MINUS_INFINITY, watermark_after=MINUS_INFINITY)
"""Before the first tick."""


def given(before: Clock, now: int | None, watermark: int | None) -> Clock:
    """The next clock where the watermark is given; what is None does not change, and a watermark never goes back."""
    return Clock(
        tick=before.tick + 1,
        now=before.now if now is None else now,
        watermark_before=before.watermark_after,
        watermark_after=before.watermark_after if watermark is None else max(watermark, before.watermark_after),
    )


BATCH_CLOCK = Clock(tick=1, now=0, watermark_before=MINUS_INFINITY, watermark_after=INFINITY)
"""A backfill is one tick: nothing is complete before it, everything is after it."""


@dataclass(frozen=True)
class Partition:
    """A source partition from its first element on: its largest event time, and when it last sent something."""

    event_time: int
    seen_at: int


@dataclass(frozen=True)
class WatermarkGenerator:
    """Makes the watermark of a stage from the elements of its source. A value: `advance` gives the next one."""

    rule: Watermark
    clock: Clock = FIRST_CLOCK
    partitions: Mapping[str, Partition] = field(default_factory=dict)

    def advance(
        self, now: int, elements: Iterable[tuple[str, int]], greatest_end: int = MINUS_INFINITY
    ) -> WatermarkGenerator:
        """The generator after a tick at `now` with (partition, event time) of its elements, dead ones left out.

        `greatest_end` is the greatest end of any window so far: an idle source completes no window that is not there.
        """
        partitions = _seen(self.partitions, now, elements)
        awake = {name: self._watermark_of(one, now) for name, one in partitions.items() if not self._is_idle(one, now)}
        watermark = MINUS_INFINITY
        if awake:
            watermark = min(awake.values())
        elif partitions:
            watermark = min(now - (self.rule.idle_timeout or 0), greatest_end)
        clock = given(self.clock, now, watermark)
        clock = replace(clock, partitions_before=self.clock.partitions_after or {}, partitions_after=awake)
        return replace(self, clock=clock, partitions=partitions)

    def _watermark_of(self, partition: Partition, now: int) -> int:
        if self.rule.bounded_delay is not None:
            return saturating_add(partition.event_time, -self.rule.bounded_delay)
        return saturating_add(now, -(self.rule.fixed_lag or 0))

    def _is_idle(self, partition: Partition, now: int) -> bool:
        return self.rule.idle_timeout is not None and now - partition.seen_at >= self.rule.idle_timeout


def _seen(before: Mapping[str, Partition], now: int, elements: Iterable[tuple[str, int]]) -> dict[str, Partition]:
    partitions = dict(before)
    for name, event_time in elements:
        known = partitions.get(name)
        latest = event_time if known is None else max(event_time, known.event_time)
        partitions[name] = Partition(latest, now)
    return partitions
