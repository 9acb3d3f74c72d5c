"""Which windows the elements of a tick may enter: not those that have expired or that a batch has published.

Rules: docs/semantics.md#lateness-expiry-and-closing, docs/semantics.md#the-watermark-of-a-batch.

A window that a batch has published as last has expired for its lake. Rows that the batch
had read are skipped there; rows that landed later are late.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.compile.sql.columns import Column, changing, keep, size
from windrow.compile.windows.base import WindowColumns
from windrow.compile.windows.families import MergingWindows, NonMergingWindows
from windrow.engine.tick.published import Made, Span, is_made, starts_in
from windrow.spec.times import INFINITY, MINUS_INFINITY


@dataclass(frozen=True)
class Admission:
    """Which windows admit elements in a tick.

    These do not: windows that end at or before `expired_end`; those of `counted`, which a batch published that
    had read the tick's rows; those of `made`, published before the rows landed.
    """

    expired_end: int = MINUS_INFINITY
    counted: tuple[Made, ...] = ()
    made: tuple[Made, ...] = ()

    @property
    def by_backfill(self) -> bool:
        return bool(self.counted or self.made)

    @property
    def last_end(self) -> int:
        """No window that has expired ends later."""
        return max([self.expired_end, *[one.until for one in (*self.counted, *self.made)]])

    def admits(self, start: Column, end: Column) -> Column:
        """Whether elements may enter the window."""
        is_open = end > changing(self.expired_end, start)
        return is_open & ~is_made((*self.counted, *self.made), start, end) if self.by_backfill else is_open

    def _is_late(self, start: Column, end: Column) -> Column:
        has_expired = (end <= changing(self.expired_end, start)) | is_made(self.made, start, end)
        return has_expired & ~is_made(self.counted, start, end)

    def open_window_ids(self, windows: NonMergingWindows, slice_id: Column) -> Column:
        """The ids of the windows of a slice that elements may enter, as an array."""
        window_ids = windows.window_ids_of_slice(slice_id, self.expired_end)
        if not self.by_backfill:
            return window_ids
        return keep(window_ids, lambda window_id: self.admits(*windows.bounds(window_id)))

    def late_window_ids(self, windows: WindowColumns, event_time: Column) -> Column:
        """The ids of the element's windows for which it is late, as an array."""
        if not self.by_backfill:
            return windows.late_window_ids(event_time, self.expired_end)
        return keep(_all(windows, event_time), lambda window_id: self._is_late(*windows.bounds(window_id)))

    def late(self, windows: WindowColumns, event_time: Column) -> Column:
        """The number of the element's windows for which it is late."""
        if not self.by_backfill:
            return windows.late(event_time, self.expired_end)
        return size(self.late_window_ids(windows, event_time))

    def suspects(self, windows: MergingWindows, event_time: Column) -> Column:
        """The number of the element's windows that are open, but begin early enough to overlap one that has expired."""
        return _number(
            windows, event_time, lambda start, end: self.may_overlap_expired(windows, start) & self.admits(start, end)
        )

    def may_overlap_expired(self, windows: MergingWindows, start: Column) -> Column:
        """Whether a window begins early enough to overlap one that has expired."""
        end = changing(self.last_end, start)
        return start <= end if windows.touches else start < end


def has_window_in(windows: WindowColumns, event_time: Column, spans: tuple[Span, ...]) -> Column:
    """Whether one of the element's windows starts in one of the spans."""
    return _number(windows, event_time, lambda start, end: starts_in(spans, start)) > 0


def _number(windows: WindowColumns, event_time: Column, holds: Callable[[Column, Column], Column]) -> Column:
    """How many of the element's windows satisfy a condition."""
    return size(keep(_all(windows, event_time), lambda window_id: holds(*windows.bounds(window_id))))


def _all(windows: WindowColumns, event_time: Column) -> Column:
    return windows.late_window_ids(event_time, INFINITY)
