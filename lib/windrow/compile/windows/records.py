"""Record windows as columns: the one that ends at a record, and the one that starts behind it.

Rule: docs/semantics.md#record-windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.compile.cells.cell import CellColumns
from windrow.compile.cells.records import RecordCells
from windrow.compile.columns import SLICE
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, changing, col, floor_to
from windrow.compile.windows.base import Bounds, UnalignedWindows
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.windows.records import RecordWindows

_NONE = sql.empty_array("bigint")


@dataclass(frozen=True)
class CompiledRecords(UnalignedWindows):
    """A slice is a time on the grid, `u`; the window that is marked by it is the one that ends there.

    Which others hold it depends on the other records of its key, so they are made in the tick.
    """

    window: RecordWindows

    @property
    def cells(self) -> type[CellColumns]:
        return RecordCells

    @property
    def difference(self) -> int:
        return self.window.difference

    @property
    def resolution(self) -> int:
        return self.window.resolution

    @property
    def longest(self) -> int:
        return self.window.length

    @property
    def retention(self) -> int:
        """Until the window behind the record has expired."""
        return self.window.length + self.window.resolution

    @property
    def late_span(self) -> int:
        """From the window that ends at a record to the one right behind it."""
        return self.window.length

    def last_end(self, event_time: Column) -> Column:
        return self.bounds(self.slice_of(event_time))[1]

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        return self._has_expired(self.slice_of(event_time), expired_end).cast("bigint")

    def slice_of(self, event_time: Column) -> Column:
        """The time of the record on the grid."""
        return floor_to(event_time, self.resolution, 0)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id - bigint(self.difference), window_id + bigint(self.resolution)

    def starts(self, window_id: Column) -> Column:
        """The starts of the windows that a record makes, as an array."""
        return sql.array(window_id - bigint(self.difference), window_id + bigint(self.resolution))

    def starts_of_own(self, last: Column) -> Column:
        """The same, but for a window that a later record makes too. `last` is the last record of the one behind it."""
        window_id = col(SLICE)
        is_own = last.is_not_null() & (last != window_id + bigint(self.resolution + self.difference))
        before = window_id - bigint(self.difference)
        return sql.case((is_own, self.starts(window_id)), otherwise=sql.array(before))

    def is_lost(self, window_id: Column, expired_end: Column) -> Column:
        """Whether every window that could hold the record has expired."""
        return window_id + bigint(self.longest) <= expired_end

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        window_id = self.slice_of(event_time)
        if expired_end == INFINITY:
            return sql.array(window_id)
        return sql.case((self._has_expired(window_id, expired_end), sql.array(window_id)), otherwise=_NONE)

    def _has_expired(self, window_id: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return sql.lit(False)
        return self.bounds(window_id)[1] <= changing(expired_end, window_id)

    def windows_among(self, times: Sequence[int]) -> list[Bounds] | None:
        at = sorted({time // self.resolution * self.resolution for time in times})
        before = {(time - self.difference, time + self.resolution) for time in at}
        behind = [(time + self.resolution, time + self.resolution + self.longest) for time in at]
        return sorted(before | {(start, end) for start, end in behind if any(start <= time < end for time in at)})

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """A window may have been made by the record right before it."""
        return start - self.resolution, end - 1 + self.longest
