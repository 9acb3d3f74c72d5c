"""Which windows have all of their elements, where batches have made the stages in front, and where these lie.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from windrow.compile.sql.columns import bigint, call, col
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.batch_clock import first_time_behind, longest_of
from windrow.engine.frames import group, where
from windrow.engine.tick.published import Made, Span, cut, missing
from windrow.spec.times import INFINITY, saturating_add
from windrow.spec.windows.base import LONGEST
from windrow.store.journal.control import has_stream


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
