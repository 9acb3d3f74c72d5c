"""What is requested of a batch, and which of those windows it may publish as last.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from windrow.compile.sql.columns import bigint, call, col
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.admission_ticks import admit, standing
from windrow.drivers.recompute.scope.batch_clock import first_time_behind, longest_of
from windrow.drivers.recompute.scope.refusals import check, is_checked_by_data
from windrow.engine.clocks.clock import StageClock
from windrow.engine.frames import group, where
from windrow.engine.tick.published import Made, Span, cut, joined, missing
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.times import INFINITY, saturating_add
from windrow.spec.windows.base import LONGEST
from windrow.store.delta.retries import StepTaken
from windrow.store.journal.control import BACKFILL, FOLLOW, Control, has_stream
from windrow.store.upstream.offsets import Offsets


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

    `offsets` are how far it reads what is upstream; `clock` is where the stage stands after that. Windows that end by
    `until` have expired, or count as such. `complete` are those of which all panes are there, where batches have made
    the stages in front; `gaps` are the event times at which panes are yet to come. `made` are the windows that may be
    published as last: the others wait, those that are not complete for another batch.
    """

    request: Request
    offsets: Offsets
    clock: StageClock
    until: int
    complete: tuple[Made, ...]
    made: tuple[Made, ...]
    gaps: tuple[Span, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        return self.request.spans

    @property
    def is_whole(self) -> bool:
        """Whether nothing waits."""
        return self.until == INFINITY and not self.gaps


def scope_of(work: PipelineWork, item: StageWork, request: Request, dry_run: bool = False) -> Scope | None:
    """Catch the stage up with what it reads, and say what a batch of it may publish; None where nothing landed.

    Of a stage without a stream the rows that have landed are admitted first, in ticks of their own.
    Raises NotYet where a history that is asserted to be whole has windows that are open in the stream.
    """
    above = work.upstreams_of(item)
    for one in above:
        catch_up(work, one)
    if above and not dry_run:
        follow(work, item)
    catch_up(work, item)
    runner = item.runner
    if request.mode is Mode.EARLY and runner.is_read and not emits_retractions(runner.stage.shown):
        request = replace(request, mode=Mode.EXPIRED)  # who reads it could not take back what was only early
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


def admitted(work: PipelineWork, item: StageWork, dry_run: bool = False) -> None:
    """Admit the rows that have landed, where there is no stream. Raises StepTaken."""
    if has_stream(item.runner.last) or dry_run:
        return
    for control in admit(item.runner, work.clock()):
        item.ticked(control)
    item.project()


def _expired(item: StageWork, complete: Made, expired_end: int) -> Made:
    """Those of the windows that have expired."""
    until, end = min(complete.until, expired_end), last_end(item, (complete.first, complete.last))
    return replace(complete, until=until if end is None or is_checked_by_data(item.runner.stage) else min(until, end))


def last_end(item: StageWork, span: Span) -> int | None:
    """The greatest end that a window which starts in the span can have, as far as the clock tells; None without one.

    The window of all time expires with no clock, so no schedule waits for it.
    """
    windows = item.runner.stage.windows
    if item.runner.stage.stage.window.IS_GLOBAL or span[0] >= span[1]:
        return None
    if item.runner.strategy.follows_panes and windows.longest == LONGEST:
        return span[1]
    last = windows.greatest_start_before(span[1])
    return None if last is None or last[0] < span[0] else last[1]


def made_by_batches(work: PipelineWork, item: StageWork) -> list[StageWork]:
    """The stages in front of a stage that batches alone have made."""
    return [one for one in work.upstreams_of(item) if not has_stream(one.runner.last)]


def gaps_of(work: PipelineWork, item: StageWork, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The event times of the stage's elements that are yet to come from stages which batches have made."""
    own = item.runner.stage.stage.element_time
    if item.runner.strategy.follows_panes:
        return ()  # a window is complete with the pane that it comes from
    found: list[Span] = []
    for above in made_by_batches(work, item):
        stage, made = above.runner.stage, above.runner.published
        low = min(first for first, _ in spans)
        if made and (item.runner.strategy.is_made_whole or own is not None):
            low = min(low, made[0].first)  # a window of the span may begin before it, and an element lie ahead
        times = missing(stage.windows, longest_of(stage), made, low, above.runner.strategy.is_made_whole)
        if own is not None:
            times = tuple((saturating_add(first, -own.backward), INFINITY) for first, _ in times)
        elif item.runner.strategy.is_made_whole:  # an element of a gap would join a window behind it
            times = tuple((first, saturating_add(last, item.runner.stage.windows.longest - 1)) for first, last in times)
        found += times
    return tuple(sorted(found))


def complete_of(work: PipelineWork, item: StageWork, span: Span, gaps: tuple[Span, ...]) -> tuple[Made, ...]:
    """The windows that start in a span and have all their panes."""
    if not item.runner.strategy.follows_panes:
        return cut(span, gaps)
    found = [Made(*span)]
    for above in made_by_batches(work, item):
        both = [(one, other) for one in found for other in above.runner.published]
        parts = [Made(max(x.first, y.first), min(x.last, y.last), min(x.until, y.until)) for x, y in both]
        found = [part for part in parts if part.first < part.last]
    return tuple(found)


def first_of(work: PipelineWork, item: StageWork, start: int) -> int:
    """The first start of a window that a batch makes of a stage, where it makes what starts at that time of a source.

    Windows that cross the start wait in the batch before it, which has not published all that they read in front.
    Those that merge are made whole by any batch; inherited ones begin where those do from which they come.
    """
    stage, above = item.runner.stage, made_by_batches(work, item)
    if not above or item.runner.strategy.is_made_whole or stage.stage.window.IS_GLOBAL:
        return start
    if item.runner.strategy.follows_panes:
        return min(min(first_of(work, one, start), _first_across(work, one, start)) for one in above)
    first = _first_element(work, item, start)
    return start if first <= start - LONGEST else stage.windows.earliest_start(first)


def _first_across(work: PipelineWork, item: StageWork, time: int) -> int:
    """The first start of a window that the stage shows and that holds a time; that time without one."""
    table = work.lake.table(item.name, "current")
    if not table.exists(work.spark):
        return time
    start, end = call("unix_micros", col("window_start")), call("unix_micros", col("window_end"))
    across = where(table.read(work.spark), (start < bigint(time)) & (end > bigint(time)))
    found = group(across, (), {"first": call("min", start)}).collect()[0]["first"]
    return time if found is None else int(found)


def _first_element(work: PipelineWork, item: StageWork, start: int) -> int:
    """No element of these windows comes before this time."""
    times = [start]
    for above in made_by_batches(work, item):
        times.append(first_time_behind(above.runner.stage, _first_element(work, above, start)))
    own = item.runner.stage.stage.element_time
    return saturating_add(min(times), 0 if own is None or len(times) == 1 else -own.backward)


def catch_up(work: PipelineWork, item: StageWork) -> None:
    """Project the tables of a stage up to the head of its journal."""
    item.runner.refresh()
    item.catch_up()
    item.project()


def follow(work: PipelineWork, item: StageWork) -> None:
    """Make the ticks by which a stage that streams has read all that the stage in front of it has emitted.

    A stream beside it may make them too: whoever comes first.
    """
    item.runner.refresh()
    item.migrate()
    while has_stream(item.runner.last):
        try:
            if item.ticked(_followed(work, item)) is None:
                return
        except StepTaken:
            item.runner.reload()


def _followed(work: PipelineWork, item: StageWork) -> Control | None:
    return item.runner.advance(item.runner.upstream.head(work.spark), FOLLOW)


def offsets_of(work: PipelineWork, item: StageWork) -> Offsets:
    """How far a batch reads: as far as the stage's stream, or to the head where there is none."""
    runner = item.runner
    return runner.offsets if has_stream(runner.last) else runner.upstream.head(work.spark)
