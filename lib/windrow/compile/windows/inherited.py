"""Inherited windows: each element is a pane, and its window is the pane's.

Rules: docs/semantics.md#windows, docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.compile.columns import WINDOWS
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, coalesce, col
from windrow.compile.windows.base import NOT_KNOWN, CompiledWindows, UnalignedWindows, WindowsOfPanes
from windrow.compile.windows.families import NonMergingWindows
from windrow.spec.times import DAY, INFINITY, MINUS_INFINITY
from windrow.spec.windows.base import LONGEST

_BOUNDS = ("window_start", "window_end")
_NONE = sql.empty_array("struct<`start`: bigint, `end`: bigint>")


@dataclass(frozen=True)
class CompiledInherited(UnalignedWindows, NonMergingWindows):
    """The bounds are a column of its own, and the id of the window."""

    of_panes: WindowsOfPanes = NOT_KNOWN

    @property
    def longest(self) -> int:
        return self.of_panes.longest

    @property
    def columns_read(self) -> tuple[str, ...]:
        return _BOUNDS

    @property
    def shares_slices(self) -> bool:
        return False

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        start = coalesce(call("unix_micros", col(_BOUNDS[0])), bigint(MINUS_INFINITY))
        end = coalesce(call("unix_micros", col(_BOUNDS[1])), bigint(INFINITY))
        return {WINDOWS: sql.struct(start=start, end=end)}

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def last_end(self, event_time: Column) -> Column:
        return self.bounds(col(WINDOWS))[1]

    def late(self, event_time: Column, expired_end: int) -> Column:
        return self._has_expired(col(WINDOWS), expired_end).cast("bigint")

    def slice_of(self, event_time: Column) -> Column:
        return col(WINDOWS)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id.field("start"), window_id.field("end")

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        return sql.case((self._has_expired(slice_id, expired_end), _NONE), otherwise=sql.array(slice_id))

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == INFINITY:
            return sql.array(col(WINDOWS))
        return sql.case((self._has_expired(col(WINDOWS), expired_end), sql.array(col(WINDOWS))), otherwise=_NONE)

    def _has_expired(self, window_id: Column, expired_end: int) -> Column:
        start, end = self.bounds(window_id)
        return end <= changing(expired_end, start)

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        origin = self.of_panes.origin
        return super().greatest_start_before(time) if origin is None else origin.greatest_start_before(time)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The event times of the panes of windows that start in the span."""
        return super().span(start, end) if self._lies_inside else (MINUS_INFINITY, INFINITY)

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        return super().bucket_range(earliest, latest) if self._lies_inside else (MINUS_INFINITY, INFINITY)

    @property
    def bucket_size(self) -> int:
        return super().bucket_size if self.longest < LONGEST else DAY

    @property
    def _lies_inside(self) -> bool:
        """Whether an element is inside its window, and that not longer than is known."""
        return not self.of_panes.is_moved and self.longest < LONGEST


def together(windows: Sequence[CompiledWindows]) -> CompiledWindows:
    """The windows of several inputs as one: where they are inherited, as long as the longest, of one origin or none."""
    inherited = [one.of_panes for one in windows if isinstance(one, CompiledInherited)]
    if not inherited or len(windows) == 1:
        return windows[0]
    origins = {one.origin for one in inherited}
    origin = origins.pop() if len(origins) == 1 else None
    longest = max(one.longest for one in inherited)
    return CompiledInherited(WindowsOfPanes(longest, origin, any(one.is_moved for one in inherited)))
