"""The windows that batches have published as last, as intervals of their starts.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from windrow.compile.sql.columns import Column, any_of, bigint
from windrow.compile.windows.base import WindowTimes
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add

Span = tuple[int, int]
"""Windows that start in [first, last), in microseconds."""


@dataclass(frozen=True)
class Made:
    """Windows that a batch has published as last: they start in [first, last) and end at or before `until`."""

    first: int
    last: int
    until: int = INFINITY

    def holds(self, start: Column, end: Column) -> Column:
        """Whether a window is one of them; that of all time is, where there is no end to them."""
        inside = starts_in(((self.first, self.last),), start)
        return inside if self.until == INFINITY else inside & (end <= bigint(self.until))

    def has(self, start: int, end: int) -> bool:
        """The same of one window, on the driver."""
        return (self.first <= start < self.last or start == MINUS_INFINITY) and end <= self.until

    def is_within(self, others: Iterable[Made]) -> bool:
        """Whether the others have all of these windows between them."""
        reached = self.first
        for one in sorted((one for one in others if one.until >= self.until), key=lambda one: one.first):
            if one.first > reached:
                break
            reached = max(reached, one.last)
        return reached >= self.last


def is_made(made: Iterable[Made], start: Column, end: Column) -> Column:
    """Whether a window is among those that batches have published."""
    return any_of(one.holds(start, end) for one in made)


def starts_in(spans: tuple[Span, ...], start: Column) -> Column:
    """Whether a window starts in one of the spans; the window of all time starts in each."""
    return any_of(
        ((start >= bigint(first)) & (start < bigint(last))) | (start == bigint(MINUS_INFINITY)) for first, last in spans
    )


def joined(windows: WindowTimes, made: Iterable[Made], is_made_whole: bool = False) -> tuple[Made, ...]:
    """The same windows in as few intervals as there can be, in order: those of a schedule become one.

    Of windows that are made whole (`WindowStrategy`) the next batch has published those that cross into its interval.
    """
    found: list[Made] = []
    for one in disjoint(made):
        before = found[-1] if found else None
        if before is None or before.last < one.first:
            found.append(one)
        elif before.until == one.until or (before.until < one.until and is_complete(windows, before, is_made_whole)):
            found[-1] = Made(before.first, one.last, one.until)
        else:
            found.append(one)
    return tuple(found)


def disjoint(made: Iterable[Made]) -> list[Made]:
    """The same windows in intervals that do not overlap, in order."""
    made = tuple(made)
    cuts = sorted({bound for one in made for bound in (one.first, one.last)})
    return [
        Made(first, last, until) for first, last in pairwise(cuts) if (until := _until(made, first, last)) is not None
    ]


def _until(made: Iterable[Made], first: int, last: int) -> int | None:
    return max((one.until for one in made if one.first <= first and last <= one.last), default=None)


def is_complete(windows: WindowTimes, made: Made, is_made_whole: bool = False) -> bool:
    """Whether they are all windows that start in the interval, where the next one begins at its end."""
    if made.until == INFINITY:
        return True
    if is_made_whole:
        return made.until >= made.last
    end = _last_end(windows, made.first, made.last)
    return end is None or end <= made.until


def missing(
    windows: WindowTimes, longest: int | None, made: Iterable[Made], low: int, is_made_whole: bool = False
) -> tuple[Span, ...]:
    """The event times from `low` on at which elements may be yet to come, of windows that are not among these.

    An element comes at the end of its window; or, where `longest` is known, up to so long before it, but not before
    the window. Windows that are made whole (`WindowStrategy`) are among these where they overlap them.
    """
    parts = joined(windows, made, is_made_whole)
    first = low if is_made_whole else windows.earliest_start(low)
    cuts = sorted({first, *[bound for one in parts for bound in (one.first, one.last) if bound > first]})
    found: list[Span] = []
    for start, stop in pairwise([*cuts, INFINITY]):
        until = _until(parts, start, stop)
        end = _last_end(windows, start, stop)
        length = longest if is_made_whole else None
        if end is None or (until is not None and _all_came(length, until, stop, end)):
            continue
        begin = start if until is None else max(start, earliest_behind(windows, longest, until, is_made_whole))
        if end > low:
            found.append((max(begin, low), end))
    return tuple(found)


def earliest_behind(windows: WindowTimes, longest: int | None, time: int, is_made_whole: bool = False) -> int:
    """No element that is a pane of a window which ends behind a time comes before this; `longest` as for `missing`."""
    if longest is None or time in (MINUS_INFINITY, INFINITY):
        return time
    return saturating_add(time, -longest) if is_made_whole else windows.earliest_start(time)


def _all_came(longest: int | None, until: int, stop: int, end: int) -> bool:
    """Whether the elements of all windows that start before `stop` have come: those merged ones too that end later."""
    if longest is not None and until < INFINITY:
        return saturating_add(until, -longest) >= stop
    return until >= end


def _last_end(windows: WindowTimes, start: int, stop: int) -> int | None:
    """The last end of a window that starts in an interval, before any merging; None without one."""
    if stop == INFINITY:
        return INFINITY
    last = windows.greatest_start_before(stop)
    return None if last is None or last[0] < start else last[1]


def cut(span: Span, gaps: Iterable[Span]) -> tuple[Made, ...]:
    """The windows that start in the span and touch none of the gaps."""
    found, first = [], span[0]
    for start, end in sorted(gaps):
        if start > first:
            found.append(Made(first, span[1], start))
        first = max(first, end)
        if first >= span[1]:
            return tuple(found)
    return (*found, Made(first, span[1]))
