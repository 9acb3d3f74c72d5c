"""The clocks of a stage: processing time, and the watermark with that of every source partition.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks.

Values only; microseconds. Nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from windrow.compile.triggers.clocks import TickClock
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.triggers.all import percentiles_of


@dataclass(frozen=True)
class PartitionClock:
    """A source partition: its greatest event time, `now` when it last had an element, and what its elements assert."""

    greatest_event_time: int
    last_seen: int
    asserted: int = MINUS_INFINITY


@dataclass(frozen=True)
class InputClock:
    """One of several inputs: its own clock, and `now` in the first tick of the stage."""

    clock: StageClock
    began: int


@dataclass(frozen=True)
class StageClock:
    """Where a stage's clocks stand after a tick; it is persisted with the tick.

    `expired_end`: windows that end at or before it have expired, for good, whatever the allowed lateness is changed to.
    `greatest_end`: the greatest end of any window so far. `percentiles`: the watermarks of the percentiles below 100
    that the stage names; none of them is behind `watermark`. `output_watermark`: what the tick found, for stages whose
    panes have the event times of their elements; it never goes back. `inputs`: of a stage that has several.
    """

    now: int = MINUS_INFINITY
    watermark: int = MINUS_INFINITY
    expired_end: int = MINUS_INFINITY
    greatest_end: int = MINUS_INFINITY
    partitions: Mapping[str | None, PartitionClock] = field(default_factory=dict)
    percentiles: Mapping[int, int] = field(default_factory=dict)
    output_watermark: int = MINUS_INFINITY
    inputs: Mapping[str, InputClock] = field(default_factory=dict)

    def with_hold(self, hold: int | None) -> StageClock:
        """The output watermark: the watermark, or the least event time that a pane which is still to come holds."""
        output = self.watermark if hold is None else min(self.watermark, hold)
        return replace(self, output_watermark=max(output, self.output_watermark))

    def seen(
        self,
        greatest: Mapping[str | None, int],
        now: int,
        greatest_end: int | None,
        asserted: Mapping[str | None, int] | None = None,
    ) -> StageClock:
        """After elements: the greatest event time of each partition that had any, and the end of a window.

        `asserted` are the greatest watermarks that the elements of partitions assert.
        """
        now = max(now, self.now)
        partitions = dict(self.partitions)
        for name, event_time in greatest.items():
            before = partitions.get(name)
            before = before or PartitionClock(event_time, now)
            greatest_asserted = max(before.asserted, (asserted or {}).get(name, MINUS_INFINITY))
            partitions[name] = PartitionClock(max(event_time, before.greatest_event_time), now, greatest_asserted)
        end = self.greatest_end if greatest_end is None else max(self.greatest_end, greatest_end)
        return replace(self, now=now, partitions=partitions, greatest_end=end)

    def with_watermark(self, watermark: int, allowed_lateness: int) -> StageClock:
        """The watermark moved forward (never back), and what has expired by that."""
        watermark = max(watermark, self.watermark)
        expired = self.expired_end
        if watermark == INFINITY:
            expired = INFINITY
        elif watermark != MINUS_INFINITY:
            expired = max(expired, saturating_add(watermark, -allowed_lateness))
        return replace(self, watermark=watermark, expired_end=expired)

    def with_percentiles(self, generated: Mapping[int, int]) -> StageClock:
        """The watermarks of these percentiles moved forward, and never back."""
        return replace(self, percentiles={p: max(w, self.percentile(p)) for p, w in generated.items()})

    def percentile(self, percentile: int) -> int:
        """The watermark of a percentile: that of the stage, or ahead of it."""
        return max(self.watermark, self.percentiles.get(percentile, MINUS_INFINITY))

    def is_ahead_of(self, before: StageClock) -> bool:
        """Whether a watermark has moved."""
        return self.watermark > before.watermark or any(w > before.percentile(p) for p, w in self.percentiles.items())

    def partition_watermarks(self, rule: Watermark) -> dict[str | None, int]:
        """The watermark of each source partition by the source's rule."""
        if rule.processing_time:
            return {name: self.now for name in self.partitions}
        if rule.fixed_lag is not None:
            return {name: self.now - rule.fixed_lag for name in self.partitions}
        if rule.punctuated is not None:
            return {name: clock.asserted for name, clock in self.partitions.items()}
        assert rule.bounded_delay is not None
        return {name: clock.greatest_event_time - rule.bounded_delay for name, clock in self.partitions.items()}

    def idle(self, rule: Watermark) -> set[str | None]:
        """The partitions without an element for the idle timeout."""
        if rule.idle_timeout is None:
            return set()
        return {n for n, clock in self.partitions.items() if self.now - clock.last_seen >= rule.idle_timeout}

    def generated(self, rule: Watermark, percentile: int = 100) -> int:
        """The watermark that the rule gives now: what so many percent of the partitions that are not idle have reached.

        For 100 this is the minimum over them.
        """
        watermarks, idle = self.partition_watermarks(rule), self.idle(rule)
        active = [watermark for name, watermark in watermarks.items() if name not in idle]
        if active:
            needed = -(-percentile * len(active) // 100)
            return sorted(active, reverse=True)[needed - 1]
        if not watermarks or rule.idle_timeout is None:
            return MINUS_INFINITY
        return min(self.now - rule.idle_timeout, self.greatest_end)


@dataclass(frozen=True)
class TickTimes:
    """The clocks of one tick, before and after."""

    tick: int
    before: StageClock
    after: StageClock
    active_partitions: tuple[int, ...] = ()
    """The watermarks of the partitions that are not idle, after the tick."""

    @property
    def output_watermark(self) -> int:
        """The output watermark before the tick."""
        return self.before.output_watermark


def of_triggers(stage: Stage, times: TickTimes) -> TickClock:
    """The clocks of a tick as the triggers of a stage see them."""
    before, after = times.before, times.after
    named = percentiles_of(stage.trigger)
    return TickClock(
        after.now,
        before.watermark,
        after.watermark,
        stage.allowed_lateness,
        {percentile: after.percentile(percentile) for percentile in named},
        {percentile: before.percentile(percentile) for percentile in named},
    )
