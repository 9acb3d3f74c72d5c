"""The clock of a batch: where the clock of a stream would stand after the same rows.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import InputClock, StageClock
from windrow.engine.tick.micro_batch import MicroBatch
from windrow.engine.tick.published import earliest_behind
from windrow.engine.tick.statistics import BatchStatistics
from windrow.engine.windows.registry import strategy_of
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.windows.base import LONGEST
from windrow.store.upstream.offsets import Offsets

if TYPE_CHECKING:
    from windrow.drivers.pipeline.runner import StageRunner


def clock_after(runner: StageRunner, clock: StageClock, micro_batch: MicroBatch, until: Offsets) -> StageClock:
    """The clock when a micro-batch has been read, which ends there."""
    now = max(clock.now, runner.clocks.now(micro_batch, until))
    after = runner.clocks.seen(clock, micro_batch, now)
    after = _as_they_came(clock, after, {name: found for name, (_, found) in micro_batch.items()})
    return held_back(runner, runner.clocks.moved(after, until))


def passed(runner: StageRunner, clock: StageClock, read: Offsets, now: int) -> StageClock:
    """The clock when time has passed at the head of what is read; a history that is replayed has its own."""
    if read.is_start or runner.clocks.replays:
        return clock
    return held_back(runner, runner.clocks.moved(runner.clocks.seen(clock.seen({}, now, None), {}, now), read))


def _as_they_came(before: StageClock, after: StageClock, found: Mapping[str, BatchStatistics]) -> StageClock:
    """Each partition as last seen when its last row arrived, and not when the batch read it: so a stream has it."""
    inputs = {
        name: replace(one, clock=_as_it_came(before.inputs.get(name), one.clock, found[name])) if name in found else one
        for name, one in after.inputs.items()
    }
    return replace(after, inputs=inputs)


def _as_it_came(before: InputClock | None, after: StageClock, found: BatchStatistics) -> StageClock:
    earlier = {} if before is None else before.clock.partitions
    seen = dict(after.partitions)
    assert found.arrivals is not None
    for name, at in found.arrivals.items():
        if name in seen:
            last = earlier[name].last_seen if name in earlier else MINUS_INFINITY
            seen[name] = replace(seen[name], last_seen=max(at, last))
    return replace(after, partitions=seen)


def held_back(runner: StageRunner, clock: StageClock) -> StageClock:
    """The clock with the output watermark: panes that can still be corrected hold it where no reader can take it.

    A stage behind one that retracts has an allowed lateness for that, so it stands where a stream would.
    """
    if emits_retractions(runner.stage.shown):
        return clock.with_hold(None)
    return clock.with_hold(first_time_behind(runner.stage, clock.expired_end))


def first_time_behind(stage: CompiledStage, time: int) -> int:
    """No pane of a window that ends behind a time has an event time before this."""
    return earliest_behind(stage.windows, longest_of(stage), time, strategy_of(stage).is_made_whole)


def longest_of(stage: CompiledStage) -> int | None:
    """How long before the end of its window a pane of the stage can come; None where it comes at the end."""
    if not stage.stage.keeps_event_times:
        return None
    if not strategy_of(stage).is_made_whole:
        return stage.windows.longest
    most = stage.stage.window.expected_length
    return LONGEST if most is None else most
