"""Calendar windows: their bounds as columns, and on the driver. Rule: docs/semantics.md#windows.

Units are numbered from the one that holds 1970-01-01, and start at a local date, which is a number of days.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo

from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, lit
from windrow.compile.windows.base import Bounds
from windrow.compile.windows.families import SuccessiveWindows
from windrow.compile.windows.local_time import instant_of, local_of, shifted_instant_of
from windrow.spec.times import DAY, HOUR, MINUTE
from windrow.spec.windows.aligned import CalendarWindows, Unit, Weekday

_DAYS = {Unit.DAY: 1, Unit.WEEK: 7, Unit.MONTH: 31, Unit.QUARTER: 92, Unit.YEAR: 366}
"""The most days of a unit."""
_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}
_THURSDAY = list(Weekday).index(Weekday.THURSDAY)
"""1970-01-01 was one."""


@dataclass(frozen=True)
class CompiledCalendar(SuccessiveWindows):
    """Calendar windows follow each other: a slice is a window."""

    window: CalendarWindows

    # ---------------------------------------------------------------- as columns

    def slice_of(self, event_time: Column) -> Column:
        """The local date's unit, or the next where its first midnight has come already (clocks were put back)."""
        first = self._first_day(self._local_day(event_time), 0)
        start = self._instant(first)
        if not self._is_put_back_over_midnight:
            return start
        following = self._instant(self._first_day(self._local_day(event_time), 1))
        return sql.case((following <= event_time, following), otherwise=start)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id, self._instant(self._first_day(self._local_day(window_id), 1))

    def _local_day(self, instant: Column) -> Column:
        """The local date of an instant, as a number of days."""
        if self.window.zone == "UTC":
            return sql.div(sql.floor_to(instant, DAY, 0), DAY).cast("int")
        local = call("from_utc_timestamp", call("timestamp_micros", instant), self.window.zone)
        return call("unix_date", local.cast("date"))

    def _first_day(self, day: Column, behind: int) -> Column:
        """The first day of the window of a day, or of one so many windows behind it."""
        count, unit = self.window.count, self.window.unit
        if unit not in _MONTHS:
            length, shift = _DAYS[unit] * count, self._week_shift
            return sql.floor_to(day, length, -shift) + lit(behind * length)
        date = call("date_from_unix_date", day)
        months = (call("year", date) - lit(1970)) * lit(12) + call("month", date) - lit(1)
        first = sql.floor_to(months, _MONTHS[unit] * count, 0) + lit(behind * _MONTHS[unit] * count)
        return call("unix_date", Column(f"add_months(DATE'1970-01-01', CAST({first.text} AS INT))"))

    def _instant(self, day: Column) -> Column:
        """The instant of a local midnight."""
        if self.window.zone == "UTC":
            return day.cast("bigint") * bigint(DAY)
        date = call("date_from_unix_date", day.cast("int"))
        plain = call("unix_micros", call("to_utc_timestamp", date.cast("timestamp"), self.window.zone))
        gaps = [(day == lit(gap), bigint(instant)) for gap, instant in _gaps(self.window.zone).items()]
        return sql.case(*gaps, otherwise=plain) if gaps else plain

    @property
    def _is_put_back_over_midnight(self) -> bool:
        return _is_put_back_over_midnight(self.window.zone)

    @property
    def _week_shift(self) -> int:
        """How many days the week that holds 1970-01-01 began before it."""
        if self.window.unit is not Unit.WEEK:
            return 0
        return (_THURSDAY - list(Weekday).index(self.window.week_start)) % 7

    # ---------------------------------------------------------------- on the driver

    def windows_holding(self, time: int) -> list[Bounds] | None:
        return [self._bounds(time)]

    def greatest_end(self, event_time: int) -> int | None:
        return self._bounds(event_time)[1]

    def earliest_start(self, event_time: int) -> int:
        return self._bounds(event_time)[0]

    def greatest_end_until(self, time: int) -> int:
        """Where a zone has rules, only the JVM's count, which makes the windows: those of Python may be others."""
        return self.earliest_start(time) if self.window.zone == "UTC" else time

    def greatest_start_before(self, time: int) -> tuple[int, int] | None:
        return self._bounds(time - 1)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        first, following = self._bounds(start)
        first = first if first == start else following
        last, behind = self._bounds(end - 1)
        return (first, behind) if first <= last else None

    def _bounds(self, time: int) -> tuple[int, int]:
        """The window that holds an instant."""
        zone = ZoneInfo(self.window.zone)
        day = local_of(time, zone) // DAY
        bounds = [instant_of(self._first_day_of(day, behind) * DAY, zone) for behind in (0, 1, 2)]
        return (bounds[1], bounds[2]) if bounds[1] <= time else (bounds[0], bounds[1])

    def _first_day_of(self, day: int, behind: int) -> int:
        import numpy as np  # who only looks at a lake may not have it

        count, unit = self.window.count, self.window.unit
        if unit not in _MONTHS:
            length = _DAYS[unit] * count
            return (day + self._week_shift) // length * length - self._week_shift + behind * length
        months = int(np.datetime64(day, "D").astype("datetime64[M]").astype(int))
        length = _MONTHS[unit] * count
        first = months // length * length + behind * length
        return int(np.datetime64(first, "M").astype("datetime64[D]").astype(int))

    @property
    def longest(self) -> int:
        return (_DAYS[self.window.unit] * self.window.count + 2) * DAY


_DAYS_OF_CHANGES = range(-50_000, 50_000)
"""From 1833 to 2106: the years in which zones have changed, or will by a rule."""


@cache
def _gaps(zone: str) -> dict[int, int]:
    """The midnights in a gap for which Spark gives another instant than its end."""
    made = ZoneInfo(zone)
    exact = {day: instant_of(day * DAY, made) for day in _near_changes(zone)}
    return {day: instant for day, instant in exact.items() if instant != shifted_instant_of(day * DAY, made)}


@cache
def _is_put_back_over_midnight(zone: str) -> bool:
    """Whether there is a midnight behind which the clocks go back before it."""
    made = ZoneInfo(zone)
    behind = range(5 * MINUTE, 3 * HOUR, 5 * MINUTE)
    return any(
        local_of(instant_of(day * DAY, made) + later, made) < day * DAY
        for day in _near_changes(zone)
        for later in behind
    )


@cache
def _near_changes(zone: str) -> tuple[int, ...]:
    """The days around those on which the zone's offset changes."""
    made = ZoneInfo(zone)
    ahead = [local_of(day * DAY, made) - day * DAY for day in _DAYS_OF_CHANGES]
    changed = [_DAYS_OF_CHANGES[i] for i in range(1, len(ahead)) if ahead[i] != ahead[i - 1]]
    return tuple(sorted({day + near for day in changed for near in (-2, -1, 0, 1)}))
