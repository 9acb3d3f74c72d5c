"""What a batch is asked for, and which of those windows it may publish as last. Rule: SEMANTICS section 11."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from windrow.compile.inherited_windows import CompiledInherited
from windrow.engine.clock import StageClock
from windrow.engine.held import Made, Span
from windrow.run.admission import admit, standing
from windrow.run.refusals import check, is_checked_by_data
from windrow.run.stage_work import StageWork
from windrow.run.work import PipelineWork
from windrow.spec.chains import emits_retractions
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.window_function import LONGEST
from windrow.store.control import BACKFILL, FOLLOW, Control, has_stream
from windrow.store.steps import StepTaken


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
    of each span of the request that may be published as last: the others wait.
    """

    request: Request
    place: int
    clock: StageClock
    made: tuple[Made, ...]

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
        return Scope(request, runner.upstream_step, runner.clock, made)
    admitted(work, item, dry_run)
    found = standing(runner, work.clock())
    if found.place == 0:
        return None
    made = tuple(Made(*span, _until(work, item, request.mode, span, found.clock)) for span in request.spans)
    return Scope(request, found.place, found.clock, made)


def admitted(work: PipelineWork, item: StageWork, dry_run: bool = False) -> None:
    """Admit the rows that have landed, where there is no stream. Raises StepTaken."""
    if has_stream(item.runner.last) or dry_run:
        return
    for control in admit(item.runner):
        item.ticked(control)
    item.project()


def _until(work: PipelineWork, item: StageWork, mode: Mode, span: Span, clock: StageClock) -> int:
    """The windows of a span that end by then may be published as last."""
    if mode is Mode.WHOLE or Made(*span).is_within(published(item)):
        return INFINITY
    until = min([clock.expired_end, *[_published_to(one, span) for one in work.upstreams_of(item)]])
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


def published(item: StageWork) -> tuple[Made, ...]:
    """The windows that batches have published of a stage without a stream."""
    return () if item.runner.last is None else item.runner.last.published


def _published_to(above: StageWork, span: Span) -> int:
    """Up to which end the panes are there that windows of the span read, of a stage that batches alone have made."""
    if has_stream(above.runner.last):
        return INFINITY
    before = [one for one in published(above) if one.first < span[1]]
    newest = max(before, key=lambda one: one.last, default=None)
    return MINUS_INFINITY if newest is None else min(newest.last, newest.until)


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
