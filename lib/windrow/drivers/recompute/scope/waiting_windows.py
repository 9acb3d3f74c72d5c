"""Windows that were requested of a batch and have not expired: which, until when, and what holds them back.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from windrow.drivers.inspect.waiting.holding import slowest_of
from windrow.drivers.inspect.waiting.windows import WaitingWindows
from windrow.drivers.pipeline.clocks import ClocksOfSource, ClocksOfStage
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.admission_ticks import standing
from windrow.drivers.recompute.scope.batch_clock import held_back, longest_of
from windrow.drivers.recompute.scope.catching_up import admitted, catch_up
from windrow.drivers.recompute.scope.complete_windows import last_end, made_by_batches
from windrow.drivers.recompute.scope.request import Request, Scope
from windrow.engine.clocks.clock import StageClock
from windrow.engine.compiling.chain import in_band
from windrow.engine.tick.published import Made, Span
from windrow.spec.times import MINUS_INFINITY, format_time, saturating_add
from windrow.spec.windows.base import LONGEST
from windrow.store.journal.control import has_stream
from windrow.view.text.times import many


def not_expired(item: StageWork, scope: Scope) -> WaitingWindows | None:
    """What the request waits for by the clock alone, whether there are such windows or not; None where all expired."""
    if scope.is_whole:
        return None
    found = [(one, last_end(item, (one.first, one.last))) for one in scope.complete if one.until > one.first]
    ends = [min(end, one.until) for one, end in found if end is not None]
    ends = [end for end in ends if end > scope.clock.expired_end]
    return _waiting(item, scope.clock, max(ends)) if ends else None


def waiting_windows(
    work: PipelineWork, item: StageWork, scope: Scope, windows: int, first: Span, last: Span, early: bool, by_clock: int
) -> WaitingWindows:
    """The windows that wait, from their number, the bounds of the first and the last, and how many have all panes."""
    is_by_clock = by_clock > 0 and not item.runner.stage.stage.window.IS_GLOBAL
    is_by_clock |= not_expired(item, scope) is not None
    found = _waiting(item, scope.clock, last[1])
    if not is_by_clock and (front := _unpublished(work, item, scope)):
        found = replace(found, held_by=front)
    return replace(found, windows=windows, first=first, last=last, early=early, is_by_clock=is_by_clock)


def _unpublished(work: PipelineWork, item: StageWork, scope: Scope) -> str | None:
    """The stages in front that batches have made, as what waits where all has expired that they have published."""
    names = [f"stage {above.name}" for above in made_by_batches(work, item)]
    if not names:
        return None
    gaps = " and ".join(f"from {format_time(first)} to {format_time(last)}" for first, last in scope.gaps)
    return f"{' and '.join(names)}, of which no batch has published all windows{' ' if gaps else ''}{gaps}"


def still_waiting(work: PipelineWork, items: list[StageWork], requests: Mapping[str, Request]) -> list[WaitingWindows]:
    """The stages of which windows that start in a request have not expired, before any of them has published.

    What has landed is admitted. A stage behind others stands where it will when these have published.
    """
    found: list[WaitingWindows] = []
    clocks: dict[str, StageClock] = {}
    for item in work.stages:
        catch_up(work, item)
        admitted(work, item)
        clocks[item.name] = _expected(work, item, clocks)
    for item in items:
        waits = [
            _waiting(item, clocks[item.name], end)
            for span in requests[item.name].spans
            if not Made(*span).is_within(item.runner.published)
            and (end := _end_of_run(work, item, span)) is not None
            and end > clocks[item.name].expired_end
        ]
        found += waits[-1:]
    return found


def _end_of_run(work: PipelineWork, item: StageWork, span: Span) -> int | None:
    """The end of the last window of a span that a run can publish, which publishes the same span in front of it.

    None where no clock says when panes are there: behind sessions of any length with the event times of elements.
    """
    end, above = last_end(item, span), made_by_batches(work, item)
    if end is None or any((longest_of(one.runner.stage) or 0) >= LONGEST for one in above):
        return None
    return end if item.runner.strategy.follows_panes or not above else min(end, span[1])


def _expected(work: PipelineWork, item: StageWork, clocks: Mapping[str, StageClock]) -> StageClock:
    """The clock of a stage when those in front of it stand where they are expected to."""
    runner = item.runner
    if has_stream(runner.last):
        return runner.clock
    clock = standing(runner, work.clock()).clock
    above = [one.name for one in work.upstreams_of(item) if not has_stream(one.runner.last)]
    if not above:
        return clock
    known = [clocks[name].output_watermark for name in above]
    for name, log in runner.upstream.logs.items():
        if log.name not in above:
            known.append(clock.inputs[name].clock.watermark if name in clock.inputs else MINUS_INFINITY)
    stage = runner.stage.stage
    return held_back(runner, clock.with_watermark(in_band(stage, min(known)), stage.allowed_lateness))


def _waiting(item: StageWork, clock: StageClock, end: int) -> WaitingWindows:
    until = saturating_add(end, item.runner.stage.stage.allowed_lateness)
    return WaitingWindows(item.name, 0, None, None, until, clock.watermark, held_by(item, clock))


def held_by(item: StageWork, clock: StageClock) -> str:
    """What holds the watermark of a stage back, in words."""
    runner = item.runner
    if has_stream(runner.last):
        behind = runner.upstream.steps_between(runner.offsets, runner.upstream.head(runner.spark))
        if behind:
            return f"the stream, which has {many(behind, 'step')} to read"
    inputs = runner.clocks.inputs
    known = {name: clock.inputs[name].clock for name in inputs if name in clock.inputs}
    if len(inputs) > 1:
        silent = [name for name in inputs if name not in known]
        least = min((one.watermark for one in known.values()), default=MINUS_INFINITY)
        return "input " + ", ".join(silent or [name for name, one in known.items() if one.watermark == least])
    ((name, only),) = inputs.items()
    if isinstance(only, ClocksOfStage):
        return f"stage {only.panes.name}"
    assert isinstance(only, ClocksOfSource)
    return slowest_of(only.source, only.rule, only.hides_partitions, known.get(name, StageClock()))
