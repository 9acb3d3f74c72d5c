"""The clocks of several inputs, and what a stage makes of them: the least watermark.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from windrow.engine.clocks.clock import InputClock, StageClock
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.triggers.all import percentiles_of


@dataclass(frozen=True)
class InputTime:
    """What a tick knows of an input: its rows, and its rule, or the watermark that it is given (None: as it was).

    `is_known` says that the watermark comes with the panes of a stage, which is one source partition.
    """

    statistics: BatchStatistics
    rule: Watermark | None = None
    watermark: int | None = None
    is_known: bool = False


def seen(before: StageClock, now: int, statistics: Mapping[str, BatchStatistics]) -> StageClock:
    """The clock of a stage after the rows of its inputs; no watermark has moved yet."""
    known = {name: before.inputs.get(name, InputClock(StageClock(), now)) for name in statistics}
    inputs = {
        name: replace(one, clock=one.clock.seen(found.greatest, now, before.greatest_end, found.asserted))
        for (name, one), found in zip(known.items(), statistics.values(), strict=True)
    }
    return replace(before, inputs=inputs)


def met(before: StageClock, now: int, inputs: Mapping[str, InputTime], stage: Stage) -> StageClock:
    """The clock of a stage after a tick over its inputs; `before` knows the windows of this tick, and `now`."""
    known = seen(before, now, {name: one.statistics for name, one in inputs.items()}).inputs
    clocks = {name: _advanced(known[name], one, stage) for name, one in inputs.items()}
    holding = [clocks[n].clock for n, one in inputs.items() if not _is_idle(clocks[n], one, now)]
    holding = holding or [clocks[n].clock for n, one in inputs.items() if _has_sent(clocks[n], one)]
    watermark = min((clock.watermark for clock in holding), default=MINUS_INFINITY)
    named = {p for one in clocks.values() for p in one.clock.percentiles}
    made = {p: min((clock.percentile(p) for clock in holding), default=MINUS_INFINITY) for p in named}
    after = replace(before, inputs=clocks).with_watermark(watermark, stage.allowed_lateness)
    return after.with_percentiles(made)


def partitions(clock: StageClock, inputs: Mapping[str, InputTime]) -> tuple[int, ...]:
    """The watermarks of all source partitions that are not idle; none where those of an input are not known."""
    if any(one.rule is None and not one.is_known for one in inputs.values()):
        return ()
    found: list[int] = []
    for name, one in inputs.items():
        own = clock.inputs[name].clock
        if one.rule is not None:
            found += active(own, one.rule)
        elif own.watermark != MINUS_INFINITY:
            found.append(own.watermark)
    return tuple(found)


def _advanced(known: InputClock, one: InputTime, stage: Stage) -> InputClock:
    clock = known.clock
    if one.rule is not None:
        return replace(known, clock=moved(clock, one.rule, stage))
    given = clock.watermark if one.watermark is None else one.watermark
    return replace(known, clock=clock.with_watermark(given, stage.allowed_lateness))


def _has_sent(known: InputClock, one: InputTime) -> bool:
    return bool(known.clock.partitions) if one.rule is not None else known.clock.watermark != MINUS_INFINITY


def _is_idle(known: InputClock, one: InputTime, now: int) -> bool:
    """Whether it holds the others back no more: all of it is idle, or it has sent nothing for the idle timeout."""
    if one.rule is None:
        return False
    if known.clock.partitions:
        return known.clock.idle(one.rule) >= known.clock.partitions.keys()
    return one.rule.idle_timeout is not None and now - known.began >= one.rule.idle_timeout


def active(clock: StageClock, rule: Watermark) -> tuple[int, ...]:
    """The watermarks of the source partitions that are not idle."""
    idle = clock.idle(rule)
    return tuple(w for name, w in clock.partition_watermarks(rule).items() if name not in idle)


def moved(clock: StageClock, rule: Watermark, stage: Stage) -> StageClock:
    """The clock with the watermark that the rule gives now, and those of the percentiles that the stage names."""
    generated = {percentile: clock.generated(rule, percentile) for percentile in percentiles_of(stage.trigger)}
    return clock.with_watermark(clock.generated(rule), stage.allowed_lateness).with_percentiles(generated)
