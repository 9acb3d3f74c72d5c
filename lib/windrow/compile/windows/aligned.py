"""Fixed and sliding windows, and the window of all time, as columns. They are never exploded over elements.

Rule: docs/semantics.md#windows.

A slice is the largest interval that no window boundary cuts: the greatest common divisor
of size and period. Every element of a slice is in the same windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, floor_to
from windrow.compile.windows.base import WINDOWS_PER_BUCKET, Bounds
from windrow.compile.windows.families import NonMergingWindows, SlicedWindows
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add

_FAR = 2**62
"""Behind every time, and far enough from the ends of a bigint that a size may be added."""


@dataclass(frozen=True)
class AlignedWindows(SlicedWindows):
    """Fixed and sliding windows: `[k * period + offset, k * period + offset + size)`."""

    size: int
    period: int
    offset: int

    @property
    def longest(self) -> int:
        return self.size

    @property
    def slice_size(self) -> int:
        return gcd(self.size, self.period)

    @property
    def shares_slices(self) -> bool:
        return self.size != self.period

    @property
    def number_of_each(self) -> int | None:
        return self.size // self.period if self.size % self.period == 0 else None

    @property
    def bucket_size(self) -> int:
        return max(super().bucket_size, self.period * WINDOWS_PER_BUCKET)

    def _starts_between(self, after: Column, until: Column) -> Column:
        """The number of window starts s with after < s <= until."""
        number = floor_to(until, self.period, self.offset) - floor_to(after, self.period, self.offset)
        return sql.greatest(sql.div(number, self.period), bigint(0))

    def assigned(self, event_time: Column) -> Column:
        if not self.shares_slices:
            return bigint(1)
        return self._starts_between(event_time - bigint(self.size), event_time)

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        if expired_end == INFINITY:
            return self.assigned(event_time)
        if not self.shares_slices:
            end = self.slice_of(event_time) + bigint(self.size)
            return (end <= changing(expired_end, event_time)).cast("bigint")
        last = sql.least(event_time, self._last_expired(expired_end, event_time))
        return self._starts_between(event_time - bigint(self.size), last)

    def slice_of(self, event_time: Column) -> Column:
        return floor_to(event_time, self.slice_size, self.offset)

    def slice_end(self, slice_id: Column) -> Column:
        return slice_id + bigint(self.slice_size)

    @property
    def earlier_span_of_slice(self) -> int:
        return self.size - self.slice_size

    def greatest_end_until(self, time: int) -> int:
        return (time - self.size - self.offset) // self.period * self.period + self.offset + self.size

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id, window_id + bigint(self.size)

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        first_possible = slice_id + bigint(self.slice_size - self.size)
        return self._starts(first_possible, slice_id, expired_end)

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        first_possible = event_time - bigint(self.size - 1)
        last = event_time
        if expired_end != INFINITY:
            last = sql.least(last, self._last_expired(expired_end, event_time))
        return self.starts_between(first_possible, last)

    def _last_expired(self, expired_end: int, row: Column) -> Column:
        """The greatest start of an expired window, as a number that can be rounded without an overflow."""
        return changing(max(expired_end - self.size, -(2**62)), row)

    def _starts(self, first_possible: Column, last_possible: Column, expired_end: int) -> Column:
        if expired_end != MINUS_INFINITY:
            first_open = min(saturating_add(expired_end, 1 - self.size), 2**62)
            first_possible = sql.greatest(first_possible, changing(first_open, first_possible))
        return self.starts_between(first_possible, last_possible)

    def starts_between(self, first_possible: Column, last_possible: Column) -> Column:
        """The window starts from first_possible to last_possible, both included, as an array."""
        last = floor_to(last_possible, self.period, self.offset)
        first = floor_to(first_possible + bigint(self.period - 1), self.period, self.offset)
        return sql.when(first <= last, call("sequence", first, last, bigint(self.period)), sql.empty_array("bigint"))

    def last_end(self, event_time: Column) -> Column:
        end = floor_to(event_time, self.period, self.offset) + bigint(self.size)
        return end if self.period <= self.size else sql.when(end > event_time, end)

    def greatest_end(self, event_time: int) -> int | None:
        start = (event_time - self.offset) // self.period * self.period + self.offset
        return start + self.size if start + self.size > event_time else None

    def windows_holding(self, time: int) -> list[Bounds] | None:
        last = (time - self.offset) // self.period * self.period + self.offset
        return [(start, start + self.size) for start in range(self.earliest_start(time), last + 1, self.period)]

    def earliest_start(self, event_time: int) -> int:
        return -((self.size - 1 - event_time + self.offset) // self.period) * self.period + self.offset

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        start = (time - 1 - self.offset) // self.period * self.period + self.offset
        return start, start + self.size

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        first = -((self.offset - start) // self.period) * self.period + self.offset
        last = (end - 1 - self.offset) // self.period * self.period + self.offset
        return (first, last + self.size) if first <= last else None


@dataclass(frozen=True)
class OverlappingWindows(AlignedWindows):
    """Sliding windows with a period below their size: two blocks of slices form each."""

    def window_ids_ending(self, slice_id: Column, behind: int, until: int) -> Column:
        first = slice_id - bigint(self.earlier_span_of_slice)
        return self.starts_ending(first, slice_id, (behind, until), slice_id)

    def starts_ending(self, first: Column, last: Column, ends: tuple[int, int], row: Column) -> Column:
        """The window starts from first to last of windows that end behind the one time and up to the other."""
        behind, until = (min(max(end, -_FAR), _FAR) - self.size for end in ends)
        return self.starts_between(
            sql.greatest(first, changing(behind + 1, row)), sql.least(last, changing(until, row))
        )


@dataclass(frozen=True)
class GlobalWindows(NonMergingWindows):
    """The one window of all time."""

    @property
    def shares_slices(self) -> bool:
        return False

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        return bigint(1 if expired_end == INFINITY else 0)

    def slice_of(self, event_time: Column) -> Column:
        return bigint(MINUS_INFINITY)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id, bigint(INFINITY)

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        return sql.array(slice_id)

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        return sql.array(bigint(MINUS_INFINITY))

    def windows_holding(self, time: int) -> list[Bounds] | None:
        return [(MINUS_INFINITY, INFINITY)]

    def greatest_end(self, event_time: int) -> int | None:
        return INFINITY

    def earliest_start(self, event_time: int) -> int:
        return MINUS_INFINITY

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        return MINUS_INFINITY, INFINITY

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        return MINUS_INFINITY, INFINITY

    def bucket(self, start: Column) -> Column:
        return bigint(0)

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        return 0, 0
