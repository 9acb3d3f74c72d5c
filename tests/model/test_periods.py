"""The boundaries of `AtPeriod` against a search that looks at every one of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.periods import first_boundary_after, instant, local_time
from windrow.spec.times import DAY, HOUR, INFINITY, MINUTE, micros_of, parse_time
from windrow.spec.triggers.all import AtPeriod

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu"]
INSTANTS = st.integers(parse_time("1995-01-01"), parse_time("2012-01-01"))


@given(INSTANTS, st.integers(1, 3 * DAY), st.integers(-3 * DAY, 3 * DAY))
def test_a_boundary_is_the_first_one_strictly_after(clock: int, period: int, reference: int) -> None:
    boundary = first_boundary_after(AtPeriod(period, reference), clock)
    assert boundary - period <= clock < boundary
    assert (boundary - reference) % period == 0


@given(INSTANTS, st.sampled_from(ZONES), st.sampled_from([1, 2, 7]))
def test_local_boundaries_show_the_same_time_of_day(clock: int, zone: str, days: int) -> None:
    """A search over every local day; where the time of day does not exist, the first instant behind the gap."""
    spec = AtPeriod(days * DAY, parse_time("1990-06-01T00:30:00Z"), zone)
    boundaries = _boundaries(spec)
    assert first_boundary_after(spec, clock) == next(boundary for boundary in boundaries if boundary > clock)


@cache
def _boundaries(spec: AtPeriod) -> list[int]:
    zone = ZoneInfo(spec.zone)
    first = datetime(1990, 6, 1, 0, 30, tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    days = (first + timedelta(microseconds=spec.period) * k for k in range(9000))
    return [_first_instant_that_shows(wall, zone) for wall in days if wall.year < 2013]


def _first_instant_that_shows(wall: datetime, zone: ZoneInfo) -> int:
    """Of the instants around a local time, minute by minute, the first at which the clock shows it or more."""
    offsets = {zone.utcoffset(wall + timedelta(hours=hours)) for hours in (-26, 0, 26)}
    if len(offsets) == 1:
        return micros_of(wall.replace(tzinfo=zone))
    minutes = (wall.replace(tzinfo=UTC) + timedelta(minutes=minute) for minute in range(-15 * 60, 15 * 60))
    return micros_of(next(utc for utc in minutes if utc.astimezone(zone).replace(tzinfo=None) >= wall))


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("Europe/Berlin", "2000-03-26T02:30:00", "2000-03-26T01:00:00Z"),  # does not exist
        ("Europe/Berlin", "2000-03-26T02:00:00", "2000-03-26T01:00:00Z"),
        ("Europe/Berlin", "2000-03-26T03:00:00", "2000-03-26T01:00:00Z"),
        ("Europe/Berlin", "2000-10-29T02:30:00", "2000-10-29T00:30:00Z"),  # comes twice
        ("America/Sao_Paulo", "2000-10-08T00:00:00", "2000-10-08T03:00:00Z"),  # a day without a midnight
        ("UTC", "2000-01-01T00:00:00", "2000-01-01T00:00:00Z"),
    ],
)
def test_a_local_time_that_comes_twice_or_not_at_all(zone: str, local: str, utc: str) -> None:
    assert instant(parse_time(local), ZoneInfo(zone)) == parse_time(utc)


def test_a_local_time_is_what_the_clock_shows() -> None:
    assert local_time(0, ZoneInfo("Europe/Berlin")) == HOUR
    assert local_time(0, ZoneInfo("Asia/Kathmandu")) == 5 * HOUR + 30 * MINUTE


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_beyond_all_time_is_infinity(zone: str) -> None:
    assert first_boundary_after(AtPeriod(DAY, zone=zone), INFINITY) == INFINITY
    assert first_boundary_after(AtPeriod(DAY, zone=zone), INFINITY - 1) == INFINITY
