"""The windows that batches have published as last, as intervals of their starts. Rule: SEMANTICS section 11."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from windrow.compile.sql.columns import Column, any_of, bigint
from windrow.compile.windows.base import CompiledWindows
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


def joined(windows: CompiledWindows, made: Iterable[Made]) -> tuple[Made, ...]:
    """The same windows in as few intervals as there can be, in order: those of a schedule become one."""
    found: list[Made] = []
    for one in pieces(made):
        before = found[-1] if found else None
        if before is None or before.last < one.first:
            found.append(one)
        elif before.until == one.until or (before.until < one.until and is_complete(windows, before)):
            found[-1] = Made(before.first, one.last, one.until)
        else:
            found.append(one)
    return tuple(found)


def pieces(made: Iterable[Made]) -> list[Made]:
    """The same windows in intervals that do not overlap, in order."""
    made = tuple(made)
    cuts = sorted({bound for one in made for bound in (one.first, one.last)})
    return [
        Made(first, last, until) for first, last in pairwise(cuts) if (until := _until(made, first, last)) is not None
    ]


def _until(made: Iterable[Made], first: int, last: int) -> int | None:
    return max((one.until for one in made if one.first <= first and last <= one.last), default=None)


def is_complete(windows: CompiledWindows, made: Made) -> bool:
    """Whether they are all windows that an element can have and that start in the interval."""
    if made.until == INFINITY:
        return True
    last = windows.greatest_start_before(made.last)
    return last is None or last[0] < made.first or last[1] <= made.until


def first_missing(windows: CompiledWindows, longest: int | None, made: Iterable[Made], start: int) -> int:
    """No element from `start` on that comes before this time comes from a window that is not among these.

    An element comes at the end of its window, or `longest` before it at most, but not before the window. Windows that
    merge are among these from `start` on where they overlap it.
    """
    first = start if windows.merges else windows.earliest_start(start)
    joined_ones = joined(windows, made)
    cuts = sorted({first, *[bound for one in joined_ones for bound in (one.first, one.last) if bound > first]})
    least = INFINITY
    for low, high in pairwise([*cuts, INFINITY]):
        until = _until(joined_ones, low, high)
        if until is None and high < INFINITY and _has_none(windows, low, high):
            continue
        if until is not None and is_complete(windows, Made(low, high, until)):
            continue
        reached = MINUS_INFINITY if until is None else until if longest is None else saturating_add(until, -longest)
        least = min(least, max(reached, low, start))
    return least


def _has_none(windows: CompiledWindows, first: int, last: int) -> bool:
    """Whether no window starts in an interval."""
    before = windows.greatest_start_before(last)
    return before is None or before[0] < first
