"""Window functions as columns. Aligned windows are combined per slice and never exploded over elements.

Rule: docs/semantics.md#windows.

A slice is the largest interval that no window boundary cuts: the greatest common divisor
of size and period. Every element of a slice is in the same windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, floor_to
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.by_key import CompiledByKey
from windrow.compile.windows.calendar import CompiledCalendar
from windrow.compile.windows.cumulative import CompiledCumulative
from windrow.compile.windows.custom import CompiledCustom, CustomWindows
from windrow.compile.windows.records import CompiledRecords
from windrow.compile.windows.sessions import CompiledSessions
from windrow.spec.times import DAY, INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.windows.aligned import (
    CalendarWindows,
    CumulativeWindows,
    FixedWindows,
    GlobalWindow,
    Phase,
    SlidingWindows,
)
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

_BUCKET_WINDOWS = 64


@dataclass(frozen=True)
class AlignedWindows(CompiledWindows):
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
    def needs_spread(self) -> bool:
        return self.size != self.period

    @property
    def bucket_size(self) -> int:
        return max(self.size, self.period, DAY // _BUCKET_WINDOWS) * _BUCKET_WINDOWS

    def _starts_between(self, after: Column, until: Column) -> Column:
        """The number of window starts s with after < s <= until."""
        number = floor_to(until, self.period, self.offset) - floor_to(after, self.period, self.offset)
        return sql.greatest(sql.div(number, self.period), bigint(0))

    def assigned(self, event_time: Column) -> Column:
        if not self.needs_spread:
            return bigint(1)
        return self._starts_between(event_time - bigint(self.size), event_time)

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        if expired_end == INFINITY:
            return self.assigned(event_time)
        if not self.needs_spread:
            end = self.slice_of(event_time) + bigint(self.size)
            return (end <= changing(expired_end, event_time)).cast("bigint")
        last = sql.least(event_time, self._last_expired(expired_end, event_time))
        return self._starts_between(event_time - bigint(self.size), last)

    def slice_of(self, event_time: Column) -> Column:
        return floor_to(event_time, self.slice_size, self.offset)

    def bounds(self, mark: Column) -> tuple[Column, Column]:
        return mark, mark + bigint(self.size)

    def marks_of_slice(self, piece: Column, expired_end: int) -> Column:
        first_possible = piece + bigint(self.slice_size - self.size)
        return self._starts(first_possible, piece, expired_end)

    def late_marks(self, event_time: Column, expired_end: int) -> Column:
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

    def greatest_end_until(self, time: int) -> int:
        """The greatest end of a window at or before a time."""
        return (time - self.size - self.offset) // self.period * self.period + self.offset + self.size

    def greatest_end(self, event_time: int) -> int | None:
        start = (event_time - self.offset) // self.period * self.period + self.offset
        return start + self.size if start + self.size > event_time else None

    def earliest_start(self, event_time: int) -> int:
        return -((self.size - 1 - event_time + self.offset) // self.period) * self.period + self.offset

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        start = (time - 1 - self.offset) // self.period * self.period + self.offset
        return start, start + self.size

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        first = -((self.offset - start) // self.period) * self.period + self.offset
        last = (end - 1 - self.offset) // self.period * self.period + self.offset
        return (first, last + self.size) if first <= last else None

    def bucket(self, start: Column) -> Column:
        return sql.div(floor_to(start, self.bucket_size, 0), self.bucket_size)

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        return (earliest - self.size) // self.bucket_size - 1, latest // self.bucket_size + 1


@dataclass(frozen=True)
class GlobalWindows(CompiledWindows):
    """The one window of all time."""

    needs_spread = False

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        return bigint(1 if expired_end == INFINITY else 0)

    def slice_of(self, event_time: Column) -> Column:
        return bigint(MINUS_INFINITY)

    def bounds(self, mark: Column) -> tuple[Column, Column]:
        return mark, bigint(INFINITY)

    def marks_of_slice(self, piece: Column, expired_end: int) -> Column:
        return sql.array(piece)

    def late_marks(self, event_time: Column, expired_end: int) -> Column:
        return sql.array(bigint(MINUS_INFINITY))

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


def compile_windows(
    window: WindowFunction, kinds: Mapping[str, str] | None = None, inherited: CompiledWindows | None = None
) -> CompiledWindows:
    """The columns of a window function. `kinds` are the types of its expressions, by name.

    `inherited` are those of the panes that the stage reads, if it reads a stage.
    """
    match window:
        case FixedWindows(phase=Phase.BY_KEY):
            return CompiledByKey(window.size, window.offset)
        case FixedWindows():
            return AlignedWindows(window.size, window.size, window.offset)
        case SlidingWindows():
            return AlignedWindows(window.size, window.period, window.offset)
        case CumulativeWindows():
            return CompiledCumulative(window.size, window.step, window.offset)
        case CalendarWindows():
            return CompiledCalendar(window)
        case Sessions():
            return CompiledSessions(window, (kinds or {}).get("gap", ""))
        case RecordWindows():
            return CompiledRecords(window)
        case GlobalWindow():
            return GlobalWindows()
        case CustomWindows():
            return CompiledCustom(window)
        case InheritedWindows():
            assert inherited is not None, "only a stage that reads a stage can have them"
            return inherited
        case _:
            raise NotImplementedError(type(window).__name__)
