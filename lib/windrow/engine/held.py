"""The windows that the elements of a tick may not enter: they have expired, or a backfill has made them.

Rule: SEMANTICS section 11. A backfill without a stream makes windows from the rows that had landed by then. A stream
that starts later skips those rows in those windows; rows that landed after the backfill are late there.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.compile.sql import Column, any_of, bigint, changing, keep, size
from windrow.compile.window_columns import CompiledWindows
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

    def open_marks(self, windows: CompiledWindows, piece: Column) -> Column:
        """The marks of the windows of a slice that elements may enter, as an array."""
        marks = windows.marks_of_slice(piece, self.expired_end)
        if not self.by_backfill:
            return marks
        return keep(marks, lambda mark: self.admits(*windows.bounds(mark)))

    def late_marks(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The marks of the element's windows for which it is late, as an array."""
        if not self.by_backfill:
            return windows.late_marks(event_time, self.expired_end)
        return keep(_all(windows, event_time), lambda mark: self._is_late(*windows.bounds(mark)))

    def late(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The number of the element's windows for which it is late."""
        if not self.by_backfill:
            return windows.late(event_time, self.expired_end)
        return size(self.late_marks(windows, event_time))

    def skipped(self, windows: CompiledWindows, event_time: Column) -> Column:
        """The number of the element's windows that have it by a backfill."""
        if not self.taken:
            return bigint(0)
        return _number_in(windows, event_time, self.taken)


def starts_in(spans: tuple[Span, ...], start: Column) -> Column:
    """Whether a window starts in one of the spans; the window of all time starts in each."""
    return any_of(
        ((start >= bigint(first)) & (start < bigint(last))) | (start == bigint(MINUS_INFINITY)) for first, last in spans
    )


def has_window_in(windows: CompiledWindows, event_time: Column, spans: tuple[Span, ...]) -> Column:
    """Whether one of the element's windows starts in one of the spans."""
    return _number_in(windows, event_time, spans) > 0


def _number_in(windows: CompiledWindows, event_time: Column, spans: tuple[Span, ...]) -> Column:
    return size(keep(_all(windows, event_time), lambda mark: starts_in(spans, windows.bounds(mark)[0])))


def _all(windows: CompiledWindows, event_time: Column) -> Column:
    return windows.late_marks(event_time, INFINITY)
