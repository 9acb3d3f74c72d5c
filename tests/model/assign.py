"""Which windows an element falls in by itself, whatever other elements there are. Rule: docs/semantics.md#windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from math import floor, isfinite
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from tests.model.periods import instant, local_time
from tests.model.xxhash import xxhash64
from windrow.spec.times import DAY, INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.windows.aligned import (
    CalendarWindows,
    CumulativeWindows,
    FixedWindows,
    GlobalWindow,
    Phase,
    SlidingWindows,
    Unit,
    Weekday,
)
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

_EPOCH = date(1970, 1, 1).toordinal()
_WEEK = list(Weekday)


class Window(NamedTuple):
    """A window, half-open: [start, end), in microseconds."""

    start: int
    end: int

    @property
    def is_global(self) -> bool:
        return self == ALL_OF_TIME


class NoWindows(Exception):
    """What an element says of its windows is none that there can be: it is dead, with the function's `REASON`."""


ALL_OF_TIME = Window(MINUS_INFINITY, INFINITY)


def windows_of(
    function: WindowFunction,
    event_time: int,
    key: Sequence[Any] = (),
    key_types: Sequence[str] = (),
    arguments: Mapping[str, Any] | None = None,
) -> list[Window]:
    """The windows of an element, in the order of their bounds.

    `arguments` are the values of the function's expressions. Errors: NoWindows where one of them, or a class of a
    user's own, gives what it must not.
    """
    if hasattr(function, "windows_at"):
        return _own(function, event_time, arguments or {})
    if isinstance(function, Sessions):
        return [_proto_window(function, event_time, arguments or {})]
    if isinstance(function, FixedWindows) and function.phase is Phase.BY_KEY:
        shift = xxhash64(key, key_types) % function.size
        return [Window(start + shift, end + shift) for start, end in assign(function, event_time - shift)]
    return assign(function, event_time)


def _own(function: Any, event_time: int, arguments: Mapping[str, Any]) -> list[Window]:
    given = function.windows_at(event_time, **arguments)
    if given is None:
        raise NoWindows
    for start, end in given:
        if not start <= event_time < end or end - start > function.longest:
            raise NoWindows(f"[{start}, {end})")
    return sorted({Window(*bounds) for bounds in given})


def _proto_window(function: Sessions, event_time: int, arguments: Mapping[str, Any]) -> Window:
    """The session of an element that is alone; with a gap from the element that one, if it is positive and allowed."""
    gap = _micros(arguments["gap"]) if "gap" in arguments else function.longest_gap
    if gap is None or not 0 < gap <= function.longest_gap:
        raise NoWindows(f"a gap of {gap} us")
    return Window(event_time, event_time + gap)


def _micros(length: Any) -> int | None:
    """An interval, or a number of seconds, rounded to microseconds; None for what is no length."""
    if isinstance(length, timedelta):
        return length // timedelta(microseconds=1)
    if length is None or (isinstance(length, float) and not isfinite(length)):
        return None
    return floor(Fraction(length) * SECOND + Fraction(1, 2))


def on_grid(function: RecordWindows, event_time: int) -> int:
    """The time of a record: taken down to a multiple of the resolution."""
    return event_time // function.resolution * function.resolution


def assign(function: WindowFunction, event_time: int) -> list[Window]:
    """The windows that hold an instant, whatever its key; none for an element in a gap.

    Of record windows the one that ends at it: which others there are is for the records around it to say.
    """
    match function:
        case GlobalWindow():
            return [ALL_OF_TIME]
        case FixedWindows():
            start = (event_time - function.offset) // function.size * function.size + function.offset
            return [Window(start, start + function.size)]
        case SlidingWindows():
            return _sliding(function, event_time)
        case CumulativeWindows():
            return _cumulative(function, event_time)
        case CalendarWindows():
            return [_calendar(function, event_time)]
        case RecordWindows():
            end = on_grid(function, event_time) + function.resolution
            return [Window(end - function.length, end)]
    raise NotImplementedError(function.NAME)


def _calendar(function: CalendarWindows, event_time: int) -> Window:
    """The last window whose first midnight is at or before the instant."""
    zone = ZoneInfo(function.zone)
    today = date.fromordinal(_EPOCH + local_time(event_time, zone) // DAY)
    number = _unit_number(function, today) // function.count
    bounds = [_midnight(_first_day(function, (number + k) * function.count), zone) for k in (0, 1, 2)]
    return Window(*bounds[1:]) if bounds[1] <= event_time else Window(*bounds[:2])


def _unit_number(function: CalendarWindows, day: date) -> int:
    """How many units lie between the one that holds 1970-01-01 and that of the day."""
    match function.unit:
        case Unit.DAY:
            return day.toordinal() - _EPOCH
        case Unit.WEEK:
            return (day.toordinal() - _first_week(function)) // 7
        case Unit.MONTH:
            return (day.year - 1970) * 12 + day.month - 1
        case Unit.QUARTER:
            return (day.year - 1970) * 4 + (day.month - 1) // 3
        case Unit.YEAR:
            return day.year - 1970


def _first_day(function: CalendarWindows, number: int) -> date:
    """The first day of the unit of that number."""
    match function.unit:
        case Unit.DAY:
            return date.fromordinal(_EPOCH + number)
        case Unit.WEEK:
            return date.fromordinal(_first_week(function) + 7 * number)
        case Unit.MONTH:
            return date(1970 + number // 12, number % 12 + 1, 1)
        case Unit.QUARTER:
            return date(1970 + number // 4, number % 4 * 3 + 1, 1)
        case Unit.YEAR:
            return date(1970 + number, 1, 1)


def _first_week(function: CalendarWindows) -> int:
    """The ordinal of the last such weekday up to 1970-01-01."""
    wanted = _WEEK.index(function.week_start)
    return next(day for day in range(_EPOCH, _EPOCH - 7, -1) if date.fromordinal(day).weekday() == wanted)


def _midnight(day: date, zone: ZoneInfo) -> int:
    return instant((day.toordinal() - _EPOCH) * DAY, zone)


def _cumulative(function: CumulativeWindows, event_time: int) -> list[Window]:
    """Of the windows that begin with the one of the full size, those that end behind the instant."""
    start = (event_time - function.offset) // function.size * function.size + function.offset
    ends = range(start + function.step, start + function.size + 1, function.step)
    return [Window(start, end) for end in ends if end > event_time]


def _sliding(function: SlidingWindows, event_time: int) -> list[Window]:
    start = (event_time - function.offset) // function.period * function.period + function.offset
    windows = []
    while start + function.size > event_time:
        windows.append(Window(start, start + function.size))
        start -= function.period
    return windows[::-1]
