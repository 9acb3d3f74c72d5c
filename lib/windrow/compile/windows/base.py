"""What every window function says of itself: columns over elements, and times on the driver.

Rule: docs/semantics.md#windows.

What one family alone needs is said by the class of that family (`families.py`, `records.py`), and used by its strategy
(`windrow.engine.windows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.compile.cells.cell import CellColumns
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, call
from windrow.spec.times import DAY, INFINITY
from windrow.spec.windows.base import LONGEST

Bounds = tuple[int, int]
"""A window, half-open: `[start, end)`, in microseconds."""


class WindowColumns(ABC):
    """The windows of elements, as columns. `expired_end`: windows that end at or before it have expired.

    A window is known by its id: its start, or its end where several windows begin together.
    """

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of an element that its windows are made from, beside the expressions that the user gives."""
        return ()

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        """What else the windows of an element depend on: columns that go with it, so that they are computed once.

        `arguments` are the window function's expressions over the element.
        """
        return {}

    def wrong(self, event_time: Column) -> Column | None:
        """Whether an element's windows are invalid; None where that cannot happen."""
        return None

    @abstractmethod
    def assigned(self, event_time: Column) -> Column:
        """The number of windows that an element falls in."""

    @abstractmethod
    def late(self, event_time: Column, expired_end: int) -> Column:
        """The number of those that have expired."""

    @abstractmethod
    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        """The ids of the element's windows that have expired, as an array."""

    @abstractmethod
    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        """The start and the end of the window with that id."""

    def last_end(self, event_time: Column) -> Column:
        """The greatest end of the element's windows, null without one."""
        ends = sql.each(self.late_window_ids(event_time, INFINITY), lambda window_id: self.bounds(window_id)[1])
        return call("array_max", ends)


class WindowTimes(ABC):
    """Where windows lie in time, on the driver, in microseconds."""

    @property
    def is_aligned(self) -> bool:
        """Whether the event time of an element alone says in which windows it is: those of all keys are the same."""
        return True

    def windows_of_each(self, earliest: int, expired_end: int) -> int | None:
        """In how many windows each element from a time on is, if none has expired; None where it is not known."""
        return None

    @property
    def longest(self) -> int:
        """A length that no window of an element exceeds; LONGEST where none is known."""
        return LONGEST

    @abstractmethod
    def greatest_end(self, event_time: int) -> int | None:
        """The greatest end of a window of an element at that time; None in a gap, or where the time does not say."""

    @abstractmethod
    def earliest_start(self, event_time: int) -> int:
        """A time that no window of an element at that time starts before."""

    @abstractmethod
    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        """The bounds of the longest of the last windows that can start before a time, or None without one."""

    @abstractmethod
    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """From the first start of a window that can start in [start, end) to the last end; None without one."""

    def windows_holding(self, time: int) -> list[Bounds] | None:
        """The windows that hold an instant, in order; None where the key or the elements decide which there are."""
        return None

    def windows_among(self, times: Sequence[int]) -> list[Bounds] | None:
        """The windows of a key whose elements have these event times, none of them late, in order.

        None where that is not known on the driver.
        """
        found = [self.windows_holding(time) for time in times]
        return None if None in found else sorted({bounds for some in found for bounds in some or ()})

    @property
    def hold_all_between(self) -> bool:
        """Whether a window holds every element of its key between its bounds."""
        return True

    @property
    def bucket_size(self) -> int:
        """The length of the coarse partitions of window time, by which cells are found."""
        return max(self.longest, DAY // WINDOWS_PER_BUCKET) * WINDOWS_PER_BUCKET

    def bucket(self, start: Column) -> Column:
        """The coarse partition of window time that a window belongs to."""
        return sql.div(sql.floor_to(start, self.bucket_size, 0), self.bucket_size)

    def bucket_range(self, earliest: int, latest: int) -> tuple[int, int]:
        """The buckets that windows of elements between two event times may belong to."""
        return (earliest - self.longest) // self.bucket_size - 1, latest // self.bucket_size + 1


WINDOWS_PER_BUCKET = 64
"""A bucket holds at least as many windows of the longest length, one after the other."""


@dataclass(frozen=True)
class WindowsOfPanes:
    """What a stage that inherits windows knows of them: those of the panes that it reads.

    `longest`: the length that none exceeds, or LONGEST where it is not known. `origin`: the window function that made
    them, where they have not merged since. `is_moved`: a stage on the way has event times of its own, so that a pane
    may lie anywhere beside its window.
    """

    longest: int = LONGEST
    origin: CompiledWindows | None = None
    is_moved: bool = False


NOT_KNOWN = WindowsOfPanes()
"""Of windows of which nobody knows how long they are, nor what made them."""


class CompiledWindows(WindowColumns, WindowTimes):
    """A window function, compiled."""

    @property
    def cells(self) -> type[CellColumns]:
        """What a tick does to the cells of such windows, and what it keeps of them."""
        return CellColumns

    @property
    def retention(self) -> int:
        """How long a cell is kept after its window has expired, in microseconds."""
        return 0

    @property
    def late_span(self) -> int:
        """How far behind the start of its dead letter's window the last window starts that an element was late for."""
        return 0

    @property
    def of_panes(self) -> WindowsOfPanes:
        """What is known of the windows of its panes."""
        return WindowsOfPanes(self.longest, self)


class UnalignedWindows(CompiledWindows):
    """Windows that depend on more than the event time: on the driver one may begin anywhere."""

    @property
    def is_aligned(self) -> bool:
        return False

    def greatest_end(self, event_time: int) -> int | None:
        return None

    def earliest_start(self, event_time: int) -> int:
        return event_time - self.longest + 1

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        return time - 1, time - 1 + self.longest

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        return start, end - 1 + self.longest
