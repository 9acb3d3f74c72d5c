"""Windows of a user's own, for transcripts and laws: in columns for the engine, and in plain Python for the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import windrow
from windrow.extend import (
    DAY,
    EXPRESSION,
    HOUR,
    NO_WINDOWS,
    POSITIVE_DURATION,
    Column,
    CustomWindows,
    Expression,
    SpecError,
    of,
    sql,
    window,
)

THURSDAY = 3
"""1970-01-01 was one, counted from Monday."""


@windrow.register
@dataclass(frozen=True)
class OfficeHours(CustomWindows):
    """The hours in which an office is open, from Monday to Friday; an element outside of them is in no window."""

    NAME = "office_hours"

    opens: int = 9
    closes: int = 17

    def validate(self) -> None:
        if not 0 <= self.opens < self.closes <= 24:
            raise SpecError("closes", "must be behind opens", self.closes)

    @property
    def longest(self) -> int:
        return (self.closes - self.opens) * HOUR

    def assign(self, event_time: Column, **arguments: Column) -> Column:
        midnight = sql.floor_to(event_time, DAY, 0)
        weekday = sql.call("pmod", sql.div(midnight, DAY) + THURSDAY, 7)
        start, end = midnight + sql.bigint(self.opens * HOUR), midnight + sql.bigint(self.closes * HOUR)
        is_open = (weekday < 5) & (start <= event_time) & (event_time < end)
        return sql.when(is_open, sql.array(window(start, end)), NO_WINDOWS)

    def windows_at(self, event_time: int) -> list[tuple[int, int]]:
        day, time = divmod(event_time, DAY)
        is_open = (day + THURSDAY) % 7 < 5 and self.opens * HOUR <= time < self.closes * HOUR
        return [(day * DAY + self.opens * HOUR, day * DAY + self.closes * HOUR)] if is_open else []


@windrow.register
@dataclass(frozen=True)
class Grids(CustomWindows):
    """Fixed windows of two sizes at once."""

    NAME = "grids"

    small: int = field(metadata=of(POSITIVE_DURATION))
    large: int = field(metadata=of(POSITIVE_DURATION))

    @property
    def longest(self) -> int:
        return max(self.small, self.large)

    def assign(self, event_time: Column, **arguments: Column) -> Column:
        starts = {size: sql.floor_to(event_time, size, 0) for size in (self.small, self.large)}
        return sql.array(*[window(starts[size], starts[size] + sql.bigint(size)) for size in (self.small, self.large)])

    def windows_at(self, event_time: int) -> list[tuple[int, int]]:
        return [(event_time // s * s, event_time // s * s + s) for s in (self.small, self.large)]


@windrow.register
@dataclass(frozen=True)
class Around(CustomWindows):
    """A window for each element, of which the element says how long before and behind it, in microseconds."""

    NAME = "around"

    before: Expression = field(metadata=of(EXPRESSION))
    after: Expression = field(metadata=of(EXPRESSION))
    most: int = field(metadata=of(POSITIVE_DURATION))

    @property
    def longest(self) -> int:
        return self.most

    @property
    def expressions(self) -> Mapping[str, Expression]:
        return {"before": self.before, "after": self.after}

    def assign(self, event_time: Column, **arguments: Column) -> Column:
        return sql.array(window(event_time - arguments["before"], event_time + arguments["after"]))

    def windows_at(self, event_time: int, before: int | None, after: int | None) -> list[tuple[int, int]] | None:
        return None if before is None or after is None else [(event_time - before, event_time + after)]


@windrow.register
@dataclass(frozen=True)
class Shifts(CustomWindows):
    """The hour of each element and the one after it, if it is in the second half; those that overlap merge."""

    NAME = "shifts"
    merge = "overlap"

    length: int = field(metadata=of(POSITIVE_DURATION))

    @property
    def longest(self) -> int:
        return self.length * 2

    def assign(self, event_time: Column, **arguments: Column) -> Column:
        start = sql.floor_to(event_time, self.length, 0)
        is_second = event_time - start >= sql.bigint(self.length // 2)
        size = sql.when(is_second, sql.bigint(self.length * 2), sql.bigint(self.length))
        return sql.array(window(start, start + size))

    def windows_at(self, event_time: int) -> list[tuple[int, int]]:
        start = event_time // self.length * self.length
        return [(start, start + self.length * (2 if event_time - start >= self.length // 2 else 1))]


@windrow.register
@dataclass(frozen=True)
class Visits(CustomWindows):
    """An instant for each element; those of a key that are at most `apart` from the next become one visit."""

    NAME = "visits"

    apart: int = field(metadata=of(POSITIVE_DURATION))

    @property
    def longest(self) -> int:
        return 1

    def assign(self, event_time: Column, **arguments: Column) -> Column:
        return sql.array(window(event_time, event_time + 1))

    def windows_at(self, event_time: int) -> list[tuple[int, int]]:
        return [(event_time, event_time + 1)]

    def merge(self, windows: Column) -> Column:
        """The last window grows while the next one begins soon."""
        kind = "array<struct<start: bigint, end: bigint>>"
        grown = (
            "concat(slice(found, 1, size(found) - 1), array(named_struct('start', element_at(found, -1).start, "
            "'end', greatest(element_at(found, -1).end, next.end))))"
        )
        reaches = f"size(found) > 0 AND next.start <= get(found, size(found) - 1).end + {self.apart}L"
        step = f"IF({reaches}, {grown}, concat(found, array(next)))"
        return Column(f"aggregate({windows.text}, CAST(array() AS {kind}), (found, next) -> {step})")

    def merged_at(self, windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for start, end in windows:
            if found and start <= found[-1][1] + self.apart:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found
