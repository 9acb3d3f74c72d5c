"""What a tick asks of a window function: columns over elements, and times on the driver.

Rule: docs/semantics.md#windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing
from windrow.spec.times import DAY, INFINITY, MINUS_INFINITY
from windrow.spec.windows.base import LONGEST


class CompiledWindows(Protocol):
    """What a tick asks of a window function. `expired_end`: windows that end at or before it have expired.

    A window is told from the others by its mark: its start, or its end where several windows begin together. Where
    nothing is spread a slice is the mark of its one window.
    """

    @property
    def needs_spread(self) -> bool:
        """True where a slice is in more or fewer windows than one."""

    @property
    def is_aligned(self) -> bool:
        """True where the windows of an element depend on its event time alone."""
        return True

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of an element that its windows are made from, beside the expressions that the user gives."""
        return ()

    @property
    def longest(self) -> int:
        """A length that no window of an element exceeds, in microseconds; LONGEST where none is known."""
        return LONGEST

    @property
    def merges(self) -> bool:
        """True where windows of a key that overlap become one."""
        return False

    def joined(self, windows: Column) -> Column | None:
        """What the sorted windows of a key become, where a function says so; None where those that overlap merge."""
        return None

    @property
    def made_by_records(self) -> bool:
        """True where the windows of an element depend on the other elements of its key."""
        return False

    @property
    def touches(self) -> bool:
        """Whether windows that only touch merge too."""
        return False

    @property
    def remembered(self) -> int:
        """How long the bounds of an expired window are remembered behind its expiry, in microseconds."""
        return 0

    @property
    def reach(self) -> int:
        """How far behind the start of its dead letter's window the last window starts that an element was late for."""
        return 0

    def suspect(self, event_time: Column, expired_end: int) -> Column:
        """Whether the window of an element has not expired, but may overlap one of its key that has."""
        return sql.lit(False)

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        """What else the windows of an element depend on: columns that go with it, so that they are computed once.

        `arguments` are the window function's expressions over the element.
        """
        return {}

    def wrong(self, event_time: Column) -> Column | None:
        """Whether the windows of an element are none that there can be; None where that cannot happen."""
        return None

    def last_end(self, event_time: Column) -> Column:
        """The greatest end of the element's windows, null without one."""
        ends = sql.each(self.late_marks(event_time, INFINITY), lambda mark: self.bounds(mark)[1])
        return call("array_max", ends)

    def assigned(self, event_time: Column) -> Column:
        """The number of windows that an element falls in."""

    def late(self, event_time: Column, expired_end: int) -> Column:
        """The number of those that have expired."""

    def slice_of(self, event_time: Column) -> Column:
        """What tells the element's slice from the others: its start."""

    def bounds(self, mark: Column) -> tuple[Column, Column]:
        """The start and the end of the window with that mark."""

    def marks_of_slice(self, piece: Column, expired_end: int) -> Column:
        """The marks of the windows of a slice that have not expired, as an array."""

    def late_marks(self, event_time: Column, expired_end: int) -> Column:
        """The marks of the element's windows that have expired, as an array."""

    def greatest_end(self, event_time: int) -> int | None:
        """The greatest end of a window of an element at that time, or None in a gap. Of aligned windows."""

    def earliest_start(self, event_time: int) -> int:
        """A time that no window of an element at that time starts before."""

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        """The bounds of the longest of the last windows that can start before a time, or None without one."""

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """From the first start of a window that can start in [start, end) to the last end; None without one."""

    def bucket(self, start: Column) -> Column:
        """The coarse partition of window time that a window belongs to."""

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        """The buckets that windows of elements between two event times may belong to."""


class UnalignedWindows(CompiledWindows, Protocol):
    """Windows that depend on more than the event time: on the driver one may begin anywhere."""

    @property
    def is_aligned(self) -> bool:
        return False

    def greatest_end(self, event_time: int) -> int | None:
        raise AssertionError("it depends on more than the time")

    def earliest_start(self, event_time: int) -> int:
        return event_time - self.longest + 1

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        return time - 1, time - 1 + self.longest

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        return start, end - 1 + self.longest

    @property
    def _bucket_size(self) -> int:
        return max(self.longest, DAY // _BUCKET_WINDOWS) * _BUCKET_WINDOWS

    def bucket(self, start: Column) -> Column:
        return sql.div(sql.floor_to(start, self._bucket_size, 0), self._bucket_size)

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        return (earliest - self.longest) // self._bucket_size - 1, latest // self._bucket_size + 1


_BUCKET_WINDOWS = 64


class SuccessiveWindows(CompiledWindows, Protocol):
    """Windows that follow each other: every element is in one, and a slice is a window."""

    @property
    def needs_spread(self) -> bool:
        return False

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        if expired_end == INFINITY:
            return bigint(1)
        return self._has_expired(self.slice_of(event_time), expired_end).cast("bigint")

    def marks_of_slice(self, piece: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return sql.array(piece)
        return sql.case((self._has_expired(piece, expired_end), _NONE), otherwise=sql.array(piece))

    def late_marks(self, event_time: Column, expired_end: int) -> Column:
        start = self.slice_of(event_time)
        if expired_end == INFINITY:
            return sql.array(start)
        return sql.case((self._has_expired(start, expired_end), sql.array(start)), otherwise=_NONE)

    def _has_expired(self, start: Column, expired_end: int) -> Column:
        return self.bounds(start)[1] <= changing(expired_end, start)


_NONE = sql.empty_array("bigint")
