"""What the watermark rule of a source makes of a clock. Rule: docs/semantics.md#watermarks."""

from __future__ import annotations

from windrow.engine.clocks.clock import StageClock
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import percentiles_of


def active(clock: StageClock, rule: Watermark) -> tuple[int, ...]:
    """The watermarks of the source partitions that are not idle."""
    idle = clock.idle(rule)
    return tuple(w for name, w in clock.partition_watermarks(rule).items() if name not in idle)


def moved(clock: StageClock, rule: Watermark, stage: Stage) -> StageClock:
    """The clock with the watermark that the rule gives now, and those of the percentiles that the stage names."""
    generated = {percentile: clock.generated(rule, percentile) for percentile in percentiles_of(stage.trigger)}
    return clock.with_watermark(clock.generated(rule), stage.allowed_lateness).with_percentiles(generated)
