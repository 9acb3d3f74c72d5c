"""Cumulative windows: a slice is a step, and the id of a window is its end, as those of one size begin together.

Rule: docs/semantics.md#windows.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, floor_to
from windrow.compile.windows.base import Bounds
from windrow.compile.windows.families import SlicedWindows
from windrow.spec.times import INFINITY, MINUS_INFINITY


@dataclass(frozen=True)
class CompiledCumulative(SlicedWindows):
    """`[start, start + step)`, `[start, start + 2 step)` and so on to `[start, start + size)`; step divides size."""

    size: int
    step: int
    offset: int

    @property
    def shares_slices(self) -> bool:
        return True

    @property
    def longest(self) -> int:
        return self.size

    # ---------------------------------------------------------------- as columns

    def assigned(self, event_time: Column) -> Column:
        return self._number(event_time, self.last_end(event_time))

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        return self._number(event_time, self._last_expired(event_time, expired_end))

    def slice_of(self, event_time: Column) -> Column:
        return floor_to(event_time, self.step, self.offset)

    def slice_end(self, slice_id: Column) -> Column:
        return slice_id + bigint(self.step)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return floor_to(window_id - 1, self.size, self.offset), window_id

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        return self.window_ids_ending(slice_id, expired_end, INFINITY)

    def window_ids_ending(self, slice_id: Column, behind: int, until: int) -> Column:
        first = slice_id + bigint(self.step)
        if behind != MINUS_INFINITY:
            first = sql.greatest(first, changing(self._following(behind), slice_id))
        return self._sequence(first, sql.least(self.last_end(slice_id), changing(until, slice_id)))

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        first = self.slice_of(event_time) + bigint(self.step)
        return self._sequence(first, self._last_expired(event_time, expired_end))

    def last_end(self, event_time: Column) -> Column:
        return floor_to(event_time, self.size, self.offset) + bigint(self.size)

    def _last_expired(self, event_time: Column, expired_end: int) -> Column:
        """The last end of the element's windows, or of any before it, that has expired."""
        last = self.last_end(event_time)
        if expired_end == INFINITY:
            return last
        latest = max(_floor(expired_end, self.step, self.offset), -(2**62))
        return sql.least(last, changing(latest, event_time))

    def _following(self, expired_end: int) -> int:
        """The first end that has not expired."""
        end = _floor(expired_end, self.step, self.offset) + self.step
        return min(max(end, MINUS_INFINITY), INFINITY)

    def _number(self, event_time: Column, last: Column) -> Column:
        """The number of ends behind an event time, up to the last."""
        return sql.greatest(sql.div(last - self.slice_of(event_time), self.step), bigint(0))

    def _sequence(self, first: Column, last: Column) -> Column:
        return sql.when(first <= last, call("sequence", first, last, bigint(self.step)), sql.empty_array("bigint"))

    # ---------------------------------------------------------------- on the driver

    def windows_holding(self, time: int) -> list[Bounds] | None:
        start, first = self.earliest_start(time), _floor(time, self.step, self.offset) + self.step
        return [(start, end) for end in range(first, start + self.size + 1, self.step)]

    def greatest_end(self, event_time: int) -> int | None:
        return self.earliest_start(event_time) + self.size

    def earliest_start(self, event_time: int) -> int:
        return _floor(event_time, self.size, self.offset)

    @property
    def earlier_span_of_slice(self) -> int:
        return self.size - self.step

    def greatest_end_until(self, time: int) -> int:
        return _floor(time, self.step, self.offset)

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        start = self.earliest_start(time - 1)
        return start, start + self.size

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        first, last = _floor(start + self.size - 1, self.size, self.offset), self.earliest_start(end - 1)
        return (first, last + self.size) if first <= last else None


def _floor(time: int, period: int, offset: int) -> int:
    """The largest `k * period + offset` at or before the time."""
    return (time - offset) // period * period + offset
