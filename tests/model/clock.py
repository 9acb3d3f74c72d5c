"""The clock of a tick, and how a source's watermark is made.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from windrow.spec.sources.watermarks import Watermark
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add


@dataclass(frozen=True)
class Clock:
    """What a tick is told of time: its number, `now`, and the watermark before and after it.

    `partitions_before` and `partitions_after` are the watermarks of the source partitions that are not idle; None where
    the watermark is given and not made from partitions. `percentiles_before` and `percentiles_after` are the watermarks
    of the percentiles that the stage names. `output_watermark` is that before the tick.
    """

    tick: int
    now: int
    watermark_before: int
    watermark_after: int
    partitions_before: Mapping[str, int] | None = None
    partitions_after: Mapping[str, int] | None = None
    percentiles_before: Mapping[int, int] = field(default_factory=dict)
    percentiles_after: Mapping[int, int] = field(default_factory=dict)
    output_watermark: int = MINUS_INFINITY

    def watermark_of(self, percentile: int) -> int:
        """The watermark of a percentile after the tick; where it is given and not made, all are the same."""
        return max(self.watermark_after, self.percentiles_after.get(percentile, MINUS_INFINITY))

    def watermark_before_of(self, percentile: int) -> int:
        """That before the tick."""
        return max(self.watermark_before, self.percentiles_before.get(percentile, MINUS_INFINITY))

    @property
    def known_watermark(self) -> int | None:
        """The watermark after the tick; null where none is known."""
        return None if self.watermark_after == MINUS_INFINITY else self.watermark_after

    def percentile_at(self, end: int) -> int:
        """The share of source partitions whose watermark had reached `end`, as an integer from 0 to 100.

        Where there are none, or all are idle, the watermark speaks for all of them.
        """
        if not self.partitions_after:
            return 100 if self.watermark_after >= end else 0
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
    """A source partition from its first element on: its largest event time, when it last sent something, and the
    largest watermark that its elements have asserted.
    """

    event_time: int
    seen_at: int
    asserted: int = MINUS_INFINITY


@dataclass(frozen=True)
class WatermarkGenerator:
    """Makes the watermark of a stage from the elements of its source. A value: `advance` gives the next one."""

    rule: Watermark
    percentiles: tuple[int, ...] = ()
    clock: Clock = FIRST_CLOCK
    partitions: Mapping[str, Partition] = field(default_factory=dict)

    def advance(
        self, now: int, elements: Iterable[tuple[str, int, int | None]], greatest_end: int = MINUS_INFINITY
    ) -> WatermarkGenerator:
        """The generator after a tick at `now` with (partition, event time, asserted watermark) of its elements.

        Dead ones are left out; an element that asserts nothing has None.

        `greatest_end` is the greatest end of any window so far: an idle source completes no window that is not there.
        """
        partitions = _seen(self.partitions, now, elements)
        awake = {name: self._watermark_of(one, now) for name, one in partitions.items() if not self._is_idle(one, now)}
        while_idle = min(now - (self.rule.idle_timeout or 0), greatest_end) if partitions else MINUS_INFINITY
        made = {p: reached_by(p, list(awake.values()), while_idle) for p in (100, *self.percentiles)}
        clock = given(self.clock, now, made.pop(100))
        clock = replace(
            clock,
            partitions_before=self.clock.partitions_after or {},
            partitions_after=awake,
            percentiles_before=self.clock.percentiles_after,
            percentiles_after={p: max(watermark, self.clock.watermark_of(p)) for p, watermark in made.items()},
        )
        return replace(self, clock=clock, partitions=partitions)

    def _watermark_of(self, partition: Partition, now: int) -> int:
        if self.rule.punctuated is not None:
            return partition.asserted
        if self.rule.bounded_delay is not None:
            return saturating_add(partition.event_time, -self.rule.bounded_delay)
        return saturating_add(now, -(self.rule.fixed_lag or 0))

    def _is_idle(self, partition: Partition, now: int) -> bool:
        return self.rule.idle_timeout is not None and now - partition.seen_at >= self.rule.idle_timeout


def reached_by(percentile: int, watermarks: list[int], while_idle: int) -> int:
    """The largest T such that at least so many percent of the watermarks are T or more."""
    if not watermarks:
        return while_idle
    enough = [t for t in watermarks if 100 * sum(w >= t for w in watermarks) >= percentile * len(watermarks)]
    return max(enough)


def _seen(
    before: Mapping[str, Partition], now: int, elements: Iterable[tuple[str, int, int | None]]
) -> dict[str, Partition]:
    partitions = dict(before)
    for name, event_time, asserted in elements:
        known = partitions.get(name, Partition(event_time, now))
        mark = known.asserted if asserted is None else max(asserted, known.asserted)
        partitions[name] = Partition(max(event_time, known.event_time), now, mark)
    return partitions
