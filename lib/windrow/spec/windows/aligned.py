"""Windows that the event time of an element decides: fixed, sliding, cumulative, calendar, and all of time.

Rule: docs/semantics.md#windows.

A window is half-open, `[start, end)`, in microseconds. All fields that are lengths are microseconds too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import ClassVar, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import DURATION, POSITIVE_DURATION, POSITIVE_INTEGER, ZONE, choice
from windrow.spec.fields.reading import Kind
from windrow.spec.fields.typed import Converted, DurationLike, converted, plain, specification
from windrow.spec.windows.base import LONGEST, MOST_WINDOWS, WindowFunction
from windrow.spec.words import length, many

_SIZE_HINTS = {"length": "size", "duration": "size", "width": "size", "slide": "period", "every": "period"}


MOST_UNITS = 10_000
"""Of a calendar window."""


class Phase(StrEnum):
    """By what fixed windows are shifted, beside their offset."""

    BY_KEY = "by_key"


PhaseLike = Phase | Literal["by_key"]
PHASE: Kind[Phase, PhaseLike] = choice(Phase)


@specification
class FixedWindows(WindowFunction):
    """Windows of one size that follow each other: `start = floor((t - offset) / size) * size + offset`.

    With `phase: by_key` those of each key are shifted by `pmod(xxhash64(keys), size)` more. Errors: a size that is not
    positive, an offset outside `0 <= offset < size`.
    """

    NAME = "fixed"
    YAML_HINTS = _SIZE_HINTS

    size: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    offset: Converted[int, DurationLike] = converted(DURATION, default=0)
    phase: Converted[Phase | None, PhaseLike | None] = converted(PHASE, default=None)

    @property
    def has_slices(self) -> bool:
        return True

    def validate(self) -> None:
        _check_size(self.size)
        if self.offset >= self.size:
            raise SpecError("offset", "must be smaller than size", None, "0 <= offset < size")

    def check_keys(self, has_keys: bool) -> None:
        if self.phase is Phase.BY_KEY and not has_keys:
            raise SpecError(
                "phase", "shifts windows by the keys of the stage, which has none", str(self.phase), "offset"
            )

    @property
    def overlap(self) -> str | None:
        return None

    def words(self) -> str:
        each = "; each key's begin at a time of its own" if self.phase is Phase.BY_KEY else ""
        return f"{length(self.size)} long, one after the other{_offset(self.offset)}{each}"


def _offset(offset: int) -> str:
    return f", {length(offset)} after the full ones" if offset else ""


def _check_size(size: int) -> None:
    if size > LONGEST:
        raise SpecError("size", "must be at most 10,000 years of 365 days", f"{size}us", "a global window has no end")


def _check_number(place: str, size: int, step: int) -> None:
    """Refuse more windows for each element than can be written for it."""
    number = -(-size // step)
    if number > MOST_WINDOWS:
        rule = f"must be at least 1/{MOST_WINDOWS:,} of size: each element is in so many windows"
        raise SpecError(place, rule, f"{number:,} windows")


@specification
class SlidingWindows(WindowFunction):
    """Windows of one size, one of which starts at every `k * period + offset`; also called hopping.

    With a period smaller than the size they overlap; with a larger one there are gaps, and an element in a gap is
    `unassigned`. Errors: a size or period that is not positive, an offset outside `0 <= offset < period`.
    """

    NAME = "sliding"
    YAML_HINTS = _SIZE_HINTS

    size: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    period: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    offset: Converted[int, DurationLike] = converted(DURATION, default=0)

    @property
    def has_slices(self) -> bool:
        return self.period <= self.size

    def validate(self) -> None:
        _check_size(max(self.size, self.period))
        _check_number("period", self.size, self.period)
        if self.offset >= self.period:
            raise SpecError("offset", "must be smaller than period", None, "0 <= offset < period")

    @property
    def has_gaps(self) -> bool:
        return self.period > self.size

    def windows_over(self, start: int, end: int) -> Iterable[tuple[int, int]]:
        first = -((self.size - end + self.offset) // self.period) * self.period + self.offset
        return [(at, at + self.size) for at in range(first, start + 1, self.period)]

    @property
    def overlap(self) -> str | None:
        most = -(-self.size // self.period)
        return None if most == 1 else f"windows overlap: an element is in up to {most}"

    def words(self) -> str:
        begins = f"{length(self.size)} long, one begins every {length(self.period)}{_offset(self.offset)}"
        if self.has_gaps:
            return f"{begins}; an element between two windows is counted as unassigned"
        fewest, most = self.size // self.period, -(-self.size // self.period)
        each = many(most, "window") if fewest == most else f"{fewest} or {most} windows"
        return f"{begins}; an element is in {each}"


@specification
class CumulativeWindows(WindowFunction):
    """Windows that begin together and grow: `[start, start + step)`, `[start, start + 2 step)` and so on.

    The last is `[start, start + size)`; they begin anew at every `k * size + offset`: the day so far, hour by hour.
    Errors: a size or step that is not positive, a step that does not divide the size or is too small a part of it, an
    offset outside `0 <= offset < size`.
    """

    NAME = "cumulative"
    YAML_HINTS: ClassVar[Mapping[str, str]] = {"max_size": "size", "period": "step", "slide": "step", "every": "step"}

    size: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    step: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    offset: Converted[int, DurationLike] = converted(DURATION, default=0)

    @property
    def has_slices(self) -> bool:
        return True

    def validate(self) -> None:
        _check_size(self.size)
        if self.size % self.step != 0:
            raise SpecError("step", "must divide size", None, "for instance {size: 1d, step: 1h}")
        _check_number("step", self.size, self.step)
        if self.offset >= self.size:
            raise SpecError("offset", "must be smaller than size", None, "0 <= offset < size")

    def windows_over(self, start: int, end: int) -> Iterable[tuple[int, int]]:
        first = (start - self.offset) // self.size * self.size + self.offset
        return [(first, at) for at in range(end, first + self.size + 1, self.step)]

    @property
    def overlap(self) -> str | None:
        return None if self.step == self.size else "windows grow: one holds those that began with it and end sooner"

    def words(self) -> str:
        grows = f"each {length(self.step)} longer than the one before, up to {length(self.size)}"
        begin = f"several begin every {length(self.size)}{_offset(self.offset)}"
        return f"{begin}, {grows}; an element is in at most {many(self.size // self.step, 'window')}"


class Unit(StrEnum):
    """What calendar windows count."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class Weekday(StrEnum):
    """The day on which a week begins."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


UnitLike = Unit | Literal["day", "week", "month", "quarter", "year"]
WeekdayLike = Weekday | Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
UNIT: Kind[Unit, UnitLike] = choice(Unit)
WEEKDAY: Kind[Weekday, WeekdayLike] = choice(Weekday)


@specification
class CalendarWindows(WindowFunction):
    """Days, weeks, months, quarters or years of a zone: bounds are local midnights, so a day may have 23 or 25 hours.

    With a `count` above 1, so many units are one window; they are counted from the unit that holds 1970-01-01. A
    midnight that comes twice is the first one, one that does not exist the first instant after the gap. Errors: a count
    that is not from 1 to 10,000, a zone that is not known, `week_start` beside a unit that is not a week.
    """

    NAME = "calendar"
    YAML_HINTS: ClassVar[Mapping[str, str]] = {"timezone": "zone", "tz": "zone", "size": "unit", "start": "week_start"}

    unit: Converted[Unit, UnitLike] = converted(UNIT)
    count: int = plain(POSITIVE_INTEGER, default=1)
    zone: str = plain(ZONE, default="UTC")
    week_start: Converted[Weekday, WeekdayLike] = converted(WEEKDAY, default=Weekday.MONDAY)

    @property
    def has_slices(self) -> bool:
        return True

    def validate(self) -> None:
        if self.count > MOST_UNITS:
            raise SpecError("count", f"must be at most {MOST_UNITS:,}", self.count)
        if self.unit is not Unit.WEEK and self.week_start is not Weekday.MONDAY:
            raise SpecError("week_start", "is for weeks", str(self.week_start), "unit: week")

    @property
    def overlap(self) -> str | None:
        return None

    def words(self) -> str:
        first = f", from {self.week_start}" if self.unit is Unit.WEEK else ""
        return f"{many(self.count, str(self.unit))} long{first}, from midnight in {self.zone}"


@specification
class GlobalWindow(WindowFunction):
    """One window, all of time: `[-infinity, +infinity)`. It completes at the watermark +infinity only."""

    NAME = "global"
    IS_GLOBAL = True

    @property
    def overlap(self) -> str | None:
        return None

    def words(self) -> str:
        return "one, all of time: it is complete only when the stream is drained"
