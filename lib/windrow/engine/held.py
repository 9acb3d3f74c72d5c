"""The windows that the elements of a tick may not enter: they have expired, or a backfill has made them.

Rule: SEMANTICS section 11. A backfill without a stream makes windows from the rows that had landed by then. A stream
that starts later skips those rows in those windows; rows that landed after the backfill are late there.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.compile.sql import Column, any_of, bigint, changing, keep, size
from windrow.compile.windows import CompiledWindows
from windrow.spec.times import INFINITY, MINUS_INFINITY

Span = tuple[int, int]
"""Windows that start in [first, last), in microseconds."""


@dataclass(frozen=True)
class Held:
    """What no element of a tick may enter.

    `expired_end`: windows that end at or before it. `taken`: made by a backfill that has the tick's rows. `made`: made
    by one before they landed.
    """

    expired_end: int = MINUS_INFINITY
    taken: tuple[Span, ...] = ()
    made: tuple[Span, ...] = ()

    @property
    def by_backfill(self) -> bool:
        return bool(self.taken or self.made)

    def admits(self, start: Column, end: Column) -> Column:
        """Whether elements may enter the window."""
        return (end > changing(self.expired_end, start)) & ~starts_in(self.taken, start) & ~starts_in(self.made, start)

    def _is_late(self, start: Column, end: Column) -> Column:
        return ((end <= changing(self.expired_end, start)) | starts_in(self.made, start)) & ~starts_in(
            self.taken, start
        )

    def open_starts(self, windows: CompiledWindows, slice_start: Column) -> Column:
        """The starts of the windows of a slice that elements may enter, as an array."""
        starts = windows.starts_of_slice(slice_start, self.expired_end)
        if not self.by_backfill:
            return starts
        return keep(starts, lambda start: self.admits(start, windows.end_of(start)))

    def late_starts(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The starts of the element's windows for which it is late, as an array."""
        if not self.by_backfill:
            return windows.late_starts(event_time, self.expired_end)
        return keep(_all(windows, event_time), lambda start: self._is_late(start, windows.end_of(start)))

    def late(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The number of the element's windows for which it is late."""
        if not self.by_backfill:
            return windows.late(event_time, self.expired_end)
        return size(self.late_starts(windows, event_time))

    def skipped(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The number of the element's windows that have it by a backfill."""
        if not self.taken:
            return bigint(0)
        return size(keep(_all(windows, event_time), lambda start: starts_in(self.taken, start)))


def starts_in(spans: tuple[Span, ...], start: Column) -> Column:
    """Whether a window starts in one of the spans; the window of all time starts in each."""
    return any_of(
        ((start >= bigint(first)) & (start < bigint(last))) | (start == bigint(MINUS_INFINITY)) for first, last in spans
    )


def _all(windows: CompiledWindows, event_time: Column) -> Column:
    return windows.late_starts(event_time, INFINITY)
