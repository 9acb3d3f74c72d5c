"""The families of window functions, and what each says beside, for its own strategy.

Rule: docs/semantics.md#windows.

Windows either stay as they are, or merge. Most that stay can be formed from slices of window time. Windows that records
make (`records.py`) are a family of one function, and so are those that overlap (`aligned.py`).
"""

from __future__ import annotations

from abc import abstractmethod

from windrow.compile.cells.cell import CellColumns
from windrow.compile.cells.merging import MergingCells
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, changing
from windrow.compile.windows.base import NOT_KNOWN, CompiledWindows, UnalignedWindows, WindowsOfPanes
from windrow.spec.times import INFINITY, MINUS_INFINITY


class NonMergingWindows(CompiledWindows):
    """Windows that stay as they are. Elements of a slice are in the same windows, so they are combined first."""

    @property
    @abstractmethod
    def shares_slices(self) -> bool:
        """Whether a slice may be in more or fewer windows than one; else it is the mark of its window."""

    @abstractmethod
    def slice_of(self, event_time: Column) -> Column:
        """What tells the element's slice from the others: its start, or the windows of its elements."""

    @abstractmethod
    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        """The marks of the windows of a slice that have not expired, as an array."""


class SlicedWindows(NonMergingWindows):
    """Windows that slices of window time can form. A slice is known by its start, and lies in all of its windows."""

    @abstractmethod
    def slice_end(self, slice_id: Column) -> Column:
        """The end of a slice."""

    def last_end_of_slice(self, slice_id: Column) -> Column:
        """The greatest end of a window that has the slice, null without one."""
        return self.last_end(slice_id)

    def window_ids_ending(self, slice_id: Column, behind: int, until: int) -> Column:
        """The ids of the windows of a slice that end behind one time, and perhaps of some that end behind the other."""
        return self.window_ids_of_slice(slice_id, behind)

    @property
    def earlier_span_of_slice(self) -> int:
        """How far before a slice a window can start that has it, and how far behind it one can end."""
        return 0

    @property
    def number_of_each(self) -> int | None:
        """In how many windows every element is, whatever its time; None where the time matters."""
        return None

    def windows_of_each(self, earliest: int, expired_end: int) -> int | None:
        is_open = expired_end == MINUS_INFINITY or earliest >= self.greatest_end_until(expired_end)
        return self.number_of_each if self.is_aligned and is_open else None

    def greatest_end_until(self, time: int) -> int:
        """The greatest end of a window at or before a time, or a time behind it where the driver does not know."""
        return time


class SuccessiveWindows(SlicedWindows):
    """Windows that follow each other: every element is in one, and a slice is a window, marked by its start."""

    @property
    def shares_slices(self) -> bool:
        return False

    @property
    def number_of_each(self) -> int | None:
        return 1

    def slice_end(self, slice_id: Column) -> Column:
        return self.bounds(slice_id)[1]

    def last_end_of_slice(self, slice_id: Column) -> Column:
        return self.slice_end(slice_id)

    def last_end(self, event_time: Column) -> Column:
        return self.slice_end(self.slice_of(event_time))

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        if expired_end == INFINITY:
            return bigint(1)
        return self._has_expired(self.slice_of(event_time), expired_end).cast("bigint")

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return sql.array(slice_id)
        return sql.case((self._has_expired(slice_id, expired_end), _NONE), otherwise=sql.array(slice_id))

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        start = self.slice_of(event_time)
        if expired_end == INFINITY:
            return sql.array(start)
        return sql.case((self._has_expired(start, expired_end), sql.array(start)), otherwise=_NONE)

    def _has_expired(self, start: Column, expired_end: int) -> Column:
        return self.bounds(start)[1] <= changing(expired_end, start)


_NONE = sql.empty_array("bigint")


class MergingWindows(UnalignedWindows):
    """Windows of a key that become one where they meet. Those of an element are its own, before any merging."""

    @property
    def cells(self) -> type[CellColumns]:
        return MergingCells

    @property
    def retention(self) -> int:
        """As long as the window of an element in time may meet that of the cell."""
        return self.longest

    @property
    def of_panes(self) -> WindowsOfPanes:
        """How long windows become that merge is not known, nor which they will be."""
        return NOT_KNOWN

    @property
    @abstractmethod
    def shares_slices(self) -> bool:
        """Whether an element may have more or fewer windows than one."""

    @property
    def touches(self) -> bool:
        """Whether windows that only touch merge too."""
        return False

    @abstractmethod
    def suspect(self, event_time: Column, expired_end: int) -> Column:
        """Whether a window of an element has not expired, but may overlap one of its key that has."""

    @abstractmethod
    def slice_of(self, event_time: Column) -> Column:
        """What tells elements that are in one window in any case from the others."""

    def joined(self, windows: Column) -> Column | None:
        """What the sorted windows of a key become, where a function says so; None where those that overlap merge."""
        return None

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        """A merged window may have begun at any time before."""
        return MINUS_INFINITY, super().bucket_range(earliest, latest)[1]
