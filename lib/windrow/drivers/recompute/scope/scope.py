"""Which of the requested windows a batch may publish as last.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.admission_ticks import standing
from windrow.drivers.recompute.scope.catching_up import admitted, catch_up, follow
from windrow.drivers.recompute.scope.complete_windows import complete_of, gaps_of, last_end
from windrow.drivers.recompute.scope.refusals import check, is_checked_by_data
from windrow.drivers.recompute.scope.request import Mode, Request, Scope
from windrow.drivers.retention.kept import check_whole
from windrow.engine.partitions import choose_partitions
from windrow.engine.tick.published import Made, joined
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.times import INFINITY
from windrow.store.journal.control import has_stream


def scope_of(work: PipelineWork, item: StageWork, request: Request, dry_run: bool = False) -> Scope | None:
    """Catch the stage up with what it reads, and say what a batch of it may publish; None where nothing landed.

    Of a stage without a stream the rows that have landed are admitted first, in ticks of their own.
    Raises NotYet where a history that is asserted to be whole has windows that are open in the stream.
    """
    choose_partitions(work.spark, work.spark, is_batch=True)  # for the executors that have come since
    above = work.upstreams_of(item)
    for one in above:
        catch_up(work, one)
    if above and not dry_run:
        follow(work, item)
    catch_up(work, item)
    runner = item.runner
    if request.mode is Mode.EARLY and runner.is_read and not emits_retractions(runner.stage.shown):
        request = replace(request, mode=Mode.EXPIRED)  # who reads it could not take back what was only early
    check_whole(item, min(first for first, _ in request.spans))
    if has_stream(runner.last):
        if request.mode is Mode.WHOLE:
            for span in request.spans:
                check(item, span)
        until, everything = runner.clock.expired_end, tuple(Made(*span) for span in request.spans)
        made = tuple(replace(one, until=until) for one in everything)
        return Scope(request, runner.offsets, runner.clock, until, everything, made)
    admitted(work, item, dry_run)
    found = standing(runner, work.clock())
    if found.offsets.is_start:
        return None
    everything, gaps = tuple(Made(*span) for span in request.spans), gaps_of(work, item, request.spans)
    if request.mode is Mode.WHOLE:
        before = [part for span in request.spans[:-1] for part in complete_of(work, item, span, gaps)]
        asserted = (*before, everything[-1])
        return Scope(request, found.offsets, found.clock, INFINITY, asserted, asserted)
    whole = [made.is_within(runner.published) for made in everything]
    if all(whole):
        return Scope(request, found.offsets, found.clock, INFINITY, everything, everything)
    complete: list[Made] = []
    expired: list[Made] = []
    for span, is_whole in zip(request.spans, whole, strict=True):
        parts = (Made(*span),) if is_whole else complete_of(work, item, span, gaps)
        complete += parts
        expired += parts if is_whole else [_expired(item, part, found.clock.expired_end) for part in parts]
    published = joined(runner.stage.windows, expired, runner.strategy.is_made_whole)
    return Scope(request, found.offsets, found.clock, found.clock.expired_end, tuple(complete), published, gaps)


def _expired(item: StageWork, complete: Made, expired_end: int) -> Made:
    """Those of the windows that have expired."""
    until, end = min(complete.until, expired_end), last_end(item, (complete.first, complete.last))
    return replace(complete, until=until if end is None or is_checked_by_data(item.runner.stage) else min(until, end))
