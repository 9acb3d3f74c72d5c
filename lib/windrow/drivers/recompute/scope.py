"""What a batch is asked for, and which of those windows it may publish as last. Rule: SEMANTICS section 11."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from windrow.compile.windows.inherited import CompiledInherited
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.admission import admit, longest_of, standing
from windrow.drivers.recompute.refusals import check, is_checked_by_data
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.published import Made, Span, first_missing, is_complete, pieces
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.windows.base import LONGEST
from windrow.store.delta.steps import StepTaken
from windrow.store.journal.control import BACKFILL, FOLLOW, Control, has_stream


class Mode(StrEnum):
    """What becomes of windows that have not expired by the watermark of the batch."""

    EXPIRED = "expired"
    """They wait, and the answer names them."""
    EARLY = "early"
    """They are shown as panes that are not last, which the next batch or a stream replaces."""
    WHOLE = "whole"
    """There are none: somebody asserts that the history is whole."""


@dataclass(frozen=True)
class Request:
    """Which windows of a stage are recomputed, those that start in one of the spans, and the kind of the tick."""

    spans: tuple[Span, ...]
    kind: str = BACKFILL
    mode: Mode = Mode.EXPIRED


@dataclass(frozen=True)
class Scope:
    """What a batch of a stage reads, and what it may publish.

    `place` is how far it reads what is upstream; `clock` is where the stage stands after that; `made` are the windows
    of each span of the request that may be published as last: the others wait. `complete` says for each span up to
    which end its windows have all their panes, where batches have made the stages in front: those behind it wait for
    another batch, and not for the clock.
    """

    request: Request
    place: int
    clock: StageClock
    made: tuple[Made, ...]
    complete: tuple[int, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        return self.request.spans

    @property
    def until(self) -> int:
        """No window that ends by then waits."""
        return min(one.until for one in self.made)


def scope_of(work: PipelineWork, item: StageWork, request: Request, dry_run: bool = False) -> Scope | None:
    """Bring the stage to the head of what it reads, and say what a batch of it may publish; None where nothing landed.

    Of a stage without a stream the rows that have landed are admitted first, in ticks of their own.
    Raises NotYet where a history that is asserted to be whole has windows that are open in the stream.
    """
    above = work.upstreams_of(item)
    for one in above:
        bring_up(work, one)
    if above and not dry_run:
        follow(work, item)
    bring_up(work, item)
    runner = item.runner
    if request.mode is Mode.EARLY and runner.is_read and not emits_retractions(runner.stage.shown):
        request = replace(request, mode=Mode.EXPIRED)  # who reads it could not take back what was only early
    if has_stream(runner.last):
        if request.mode is Mode.WHOLE:
            for span in request.spans:
                check(item, span)
        made = tuple(Made(*span, runner.clock.expired_end) for span in request.spans)
        return Scope(request, runner.upstream_step, runner.clock, made, tuple(INFINITY for _ in made))
    admitted(work, item, dry_run)
    found = standing(runner, work.clock())
    if found.place == 0:
        return None
    complete = tuple(complete_to(work, item, span) for span in request.spans)
    made = tuple(
        Made(*span, _until(item, request.mode, span, min(found.clock.expired_end, end)))
        for span, end in zip(request.spans, complete, strict=True)
    )
    return Scope(request, found.place, found.clock, made, complete)


def admitted(work: PipelineWork, item: StageWork, dry_run: bool = False) -> None:
    """Admit the rows that have landed, where there is no stream. Raises StepTaken."""
    if has_stream(item.runner.last) or dry_run:
        return
    for control in admit(item.runner, work.clock()):
        item.ticked(control)
    item.project()


def _until(item: StageWork, mode: Mode, span: Span, until: int) -> int:
    """The windows of a span that end by then may be published as last."""
    if mode is Mode.WHOLE or Made(*span).is_within(item.runner.published):
        return INFINITY
    end = last_end(item, span)
    return until if end is None or is_checked_by_data(item.runner.stage) else min(until, end)


def last_end(item: StageWork, span: Span) -> int | None:
    """The greatest end that a window which starts in the span can have, as far as the clock tells; None without one.

    The window of all time expires with no clock, so no schedule waits for it.
    """
    windows = item.runner.stage.windows
    if item.runner.stage.stage.window.IS_GLOBAL or span[0] >= span[1]:
        return None
    if isinstance(windows, CompiledInherited) and windows.longest == LONGEST:
        return span[1]
    last = windows.greatest_start_before(span[1])
    return None if last is None or last[0] < span[0] else last[1]


def made_by_batches(work: PipelineWork, item: StageWork) -> list[StageWork]:
    """The stages in front of a stage that batches alone have made."""
    return [one for one in work.upstreams_of(item) if not has_stream(one.runner.last)]


def complete_to(work: PipelineWork, item: StageWork, span: Span) -> int:
    """Up to which end the panes are there that windows of the span read, where batches have made them."""
    windows, own = item.runner.stage.windows, item.runner.stage.stage.element_time
    before, found = 0 if own is None else own.backward, INFINITY
    for above in made_by_batches(work, item):
        stage, made = above.runner.stage, above.runner.published
        if isinstance(windows, CompiledInherited):
            of_span = [one for one in pieces([Made(*span, MINUS_INFINITY), *made]) if span[0] <= one.first < span[1]]
            found = min([found, *[one.until for one in of_span if not is_complete(stage.windows, one)]])
        else:
            start = saturating_add(span[0], -before)
            missing = first_missing(stage.windows, longest_of(stage), made, start)
            found = min(found, saturating_add(missing, -before))
    return found


def first_of(work: PipelineWork, item: StageWork, start: int) -> int:
    """The first start of a window that a batch makes of a stage, where it makes what starts at that time of a source.

    Windows that cross the start wait in the batch before it, which has not published all that they read in front.
    Those that merge are made whole by any batch, and inherited ones are complete with the pane that they come from.
    """
    stage, first = item.runner.stage, _first_element(work, item, start)
    is_whole = stage.windows.merges or isinstance(stage.windows, CompiledInherited) or stage.stage.window.IS_GLOBAL
    if is_whole or not made_by_batches(work, item) or first < start - LONGEST:
        return start
    return stage.windows.earliest_start(first)


def _first_element(work: PipelineWork, item: StageWork, start: int) -> int:
    """No element of these windows comes before this time."""
    times = [start]
    for above in made_by_batches(work, item):
        longest = longest_of(above.runner.stage)
        emitted = _first_element(work, above, start)
        times.append(emitted if longest is None else saturating_add(emitted, -longest))
    own = item.runner.stage.stage.element_time
    return saturating_add(min(times), 0 if own is None or len(times) == 1 else -own.backward)


def bring_up(work: PipelineWork, item: StageWork) -> None:
    """Bring the tables of a stage to the head of its journal."""
    item.runner.last = item.runner.journal.last(work.spark)
    item.catch_up()
    item.project()


def follow(work: PipelineWork, item: StageWork) -> None:
    """Make the ticks by which a stage that streams has read all that the stage in front of it has emitted.

    A stream beside it may make them too: whoever comes first.
    """
    item.runner.last = item.runner.journal.last(work.spark)
    item.take_over()
    while has_stream(item.runner.last):
        try:
            if item.ticked(_followed(work, item)) is None:
                return
        except StepTaken:
            item.runner.reload()


def _followed(work: PipelineWork, item: StageWork) -> Control | None:
    return item.runner.advance(item.runner.upstream.last_step(work.spark), FOLLOW)


def place_of(work: PipelineWork, item: StageWork) -> int:
    """The place that a batch reads up to: that of the stage's stream, or the newest where there is none."""
    runner = item.runner
    return runner.upstream_step if has_stream(runner.last) else runner.upstream.last_step(work.spark)
