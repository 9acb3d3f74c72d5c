"""Windows of a user's own: a class that says in columns which windows an element is in.

Rule: docs/pipeline-files.md#windows-of-your-own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from windrow.compile.columns import WINDOWS
from windrow.compile.elements import envelope
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, coalesce, col, when
from windrow.compile.windows.base import CompiledWindows, UnalignedWindows
from windrow.compile.windows.families import MergingWindows, NonMergingWindows
from windrow.spec.errors import SpecError
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.windows.base import LONGEST, MOST_WINDOWS, WindowFunction

_MERGES = ("none", "overlap")
_WINDOW = "struct<`start`: bigint, `end`: bigint>"


class CustomWindows(WindowFunction):
    """The base of window functions that a module of the user's own registers; a frozen dataclass with a `NAME`.

    What `assign` gives must hold for every element: a list, not null; of at most 10,000 windows; each of which holds
    the element's event time, `start <= event_time < end`, and is at most `longest`. An element of which it does not
    hold is a dead letter `bad_expression`; one with an empty list is unassigned. The same window twice is one.

    `merge` says whether the windows of a key merge: `none`, `overlap` (those that overlap become one), or a method

        def merge(self, windows: Column) -> Column

    which gives, for the sorted list of the open and new windows of a key, the list of what they become. Each window
    becomes one with the others inside the same one of these; one that is in none of them stays by itself.
    """

    merge: ClassVar[Any] = "none"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not callable(cls.merge) and cls.merge not in _MERGES:
            raise SpecError(f"{cls.__name__}.merge", f"must be {', '.join(_MERGES)}, or a method", cls.merge)
        cls.MERGES = cls.merge != "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.longest, int) or not 0 < self.longest <= LONGEST:
            error = SpecError("longest", "must be positive, and at most 10,000 years", f"{self.longest}us")
            error.is_refusal = True
            raise error

    @property
    @abstractmethod
    def longest(self) -> int:
        """A length that no window exceeds, in microseconds; a backfill waits so long behind the start of a window."""

    @abstractmethod
    def assign(self, event_time: Column, **arguments: Column) -> Column:
        """The windows of an element, as an array of `window(start, end)`, in microseconds.

        `arguments` are the values of `expressions`, by name. The text must not raise on any row.
        """


def window(start: Column, end: Column) -> Column:
    """A window, for what `assign` gives."""
    return sql.struct(start=start, end=end)


NO_WINDOWS = sql.empty_array(_WINDOW)
"""For elements that are in no window: they are counted as unassigned."""


@dataclass(frozen=True)
class _GivenWindows(UnalignedWindows):
    """The windows of each element are a column of its own; a slice is what has the same ones."""

    window: CustomWindows

    @property
    def shares_slices(self) -> bool:
        return True

    @property
    def longest(self) -> int:
        return self.window.longest

    @property
    def hold_all_between(self) -> bool:
        return False

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        given = self.window.assign(event_time, **arguments).cast(f"array<{_WINDOW}>")
        return {WINDOWS: when(col(envelope.REASON).is_null(), call("array_distinct", given))}

    def wrong(self, event_time: Column) -> Column | None:
        def is_wrong(window: Column) -> Column:
            start, end = self.bounds(window)
            holds = (start <= event_time) & (event_time < end)
            near = (start > event_time - bigint(self.longest)) & (end <= event_time + bigint(self.longest))
            return ~coalesce(holds & near & (end - start <= bigint(self.longest)), False)

        some = sql.some(col(WINDOWS), is_wrong) | (sql.size(col(WINDOWS)) > MOST_WINDOWS)
        return coalesce(some, True)

    def assigned(self, event_time: Column) -> Column:
        return sql.size(col(WINDOWS))

    def late(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return bigint(0)
        return sql.size(self.late_window_ids(event_time, expired_end))

    def slice_of(self, event_time: Column) -> Column:
        return col(WINDOWS)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id.field("start"), window_id.field("end")

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == INFINITY:
            return col(WINDOWS)
        return sql.keep(col(WINDOWS), lambda window_id: self._has_expired(window_id, expired_end))

    def _has_expired(self, window_id: Column, expired_end: int) -> Column:
        start, end = self.bounds(window_id)
        return end <= changing(expired_end, start)


@dataclass(frozen=True)
class CompiledCustom(_GivenWindows, NonMergingWindows):
    """Windows of a user's own that stay as they are."""

    def window_ids_of_slice(self, slice_id: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return slice_id
        return sql.keep(slice_id, lambda window_id: ~self._has_expired(window_id, expired_end))


@dataclass(frozen=True)
class CompiledMergingCustom(_GivenWindows, MergingWindows):
    """Windows of a user's own that merge."""

    def joined(self, windows: Column) -> Column | None:
        return self.window.merge(windows) if callable(self.window.merge) else None

    def suspect(self, event_time: Column, expired_end: int) -> Column:
        def may_meet(window: Column) -> Column:
            start, end = self.bounds(window)
            return (start < changing(expired_end, start)) & (end > changing(expired_end, start))

        return sql.some(col(WINDOWS), may_meet)


def compile_custom(window: CustomWindows) -> CompiledWindows:
    """The windows of a class of the user's own, of the family that it says."""
    return CompiledMergingCustom(window) if window.MERGES else CompiledCustom(window)
