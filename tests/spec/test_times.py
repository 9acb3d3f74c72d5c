"""Times and durations: what is read, what is written, what is refused.

Rules: docs/semantics.md#event-times-and-clocks, docs/pipeline-files.md#how-files-are-read.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.spec.errors import SpecError
from windrow.spec.times import (
    DAY,
    EARLIEST_EVENT_TIME,
    HOUR,
    INFINITY,
    LATEST_EVENT_TIME,
    MINUS_INFINITY,
    MINUTE,
    SECOND,
    check_zone,
    format_duration,
    format_time,
    parse_decimal,
    parse_duration,
    parse_time,
    saturating_add,
)

NOON = 946_728_000 * SECOND
"""2000-01-01T12:00:00Z."""


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("250ms", 250_000), ("10s", 10 * SECOND), ("1m", MINUTE), ("2h", 2 * HOUR), ("1d", DAY), ("2w", 14 * DAY),
        ("7us", 7), ("1.5s", 1_500_000), ("-1h", -HOUR), ("+1h", HOUR), (" 1 h ", HOUR), ("0s", 0),
        ("PT10S", 10 * SECOND), ("PT1.5S", 1_500_000), ("P1DT2H3M", DAY + 2 * HOUR + 3 * MINUTE), ("P2W", 14 * DAY),
        ("-PT5S", -5 * SECOND), (5, 5 * SECOND), (-10, -10 * SECOND), (timedelta(hours=1), HOUR),
    ],
)  # fmt: skip
def test_duration(text: object, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


@pytest.mark.parametrize(
    "text", ["", "h", "1h30m", "1y", "1M", "P", "PT", "P1Y", "P1M", "1e3s", "ten", 1.5, True, None, ["1h"]]
)
def test_not_a_duration(text: object) -> None:
    with pytest.raises(SpecError, match="must be a duration") as error:
        parse_duration(text)
    assert "250ms, 10s, 1m, 2h, 1d" in str(error.value)


def test_a_part_of_a_microsecond_is_refused() -> None:
    with pytest.raises(SpecError, match="must be a whole number of microseconds"):
        parse_duration("0.1us")
    with pytest.raises(SpecError, match="must be a whole number of microseconds"):
        parse_time(0.0000001)


@pytest.mark.parametrize("huge", ["106751992d", "-106751992d", "99999999999999999w", 10**30, timedelta.max])
def test_a_duration_beyond_64_bits_is_refused(huge: object) -> None:
    with pytest.raises(SpecError, match="must fit in 64 bits"):
        parse_duration(huge)


@given(st.integers(MINUS_INFINITY + 1, INFINITY - 1))
def test_a_duration_is_read_as_it_was_written(microseconds: int) -> None:
    assert parse_duration(format_duration(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("microseconds", "text"), [(0, "0s"), (DAY, "1d"), (90 * MINUTE, "90m"), (1500, "1500us"), (-2000, "-2ms")]
)
def test_a_duration_is_written_in_its_largest_unit(microseconds: int, text: str) -> None:
    assert format_duration(microseconds) == text


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        (0, 0), (-1, -SECOND), (1.5, 1_500_000), (-0.25, -250_000), ("12:00", NOON), ("12:00:01", NOON + SECOND),
        ("12:00:00.000001", NOON + 1), ("9:05", NOON - 2 * HOUR - 55 * MINUTE),
        ("9:05:01.5", NOON - 2 * HOUR - 55 * MINUTE + 1_500_000), ("2000-01-01T12:00:00Z", NOON),
        ("2000-01-01T13:00:00+01:00", NOON), ("2000-01-01T12:00:00", NOON), ("2000-01-01", NOON - 12 * HOUR),
        ("1969-12-31T23:59:59.999999Z", -1), (datetime(2000, 1, 1, 12), NOON),
        ("0001-01-01T00:00:00Z", EARLIEST_EVENT_TIME), ("9999-12-31T23:59:59.999999Z", LATEST_EVENT_TIME),
    ],
)  # fmt: skip
def test_time(value: object, micros: int) -> None:
    assert parse_time(value) == micros


@pytest.mark.parametrize("value", ["", "noon", "24:00", "12:60", "2000-02-30", "-1", "1:2", True, None, ["12:00"]])
def test_not_a_time(value: object) -> None:
    with pytest.raises(SpecError, match="must be a time") as error:
        parse_time(value)
    assert "2013-01-01T05:00:00Z" in str(error.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_a_number_that_is_no_time(value: float) -> None:
    with pytest.raises(SpecError):
        parse_time(value)


@given(st.integers(EARLIEST_EVENT_TIME, LATEST_EVENT_TIME))
def test_a_time_is_read_as_it_was_written(micros: int) -> None:
    assert parse_time(format_time(micros)) == micros


def test_times_beyond_the_calendar_have_words_too() -> None:
    assert format_time(INFINITY) == "max"
    assert format_time(MINUS_INFINITY) == "min"
    assert format_time(INFINITY - 1) == f"{INFINITY - 1}us"


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        (1, 2, 3), (INFINITY, -1, INFINITY), (INFINITY, 1, INFINITY), (INFINITY - 1, 1, INFINITY),
        (INFINITY - 1, 2, INFINITY), (INFINITY - 2, 1, INFINITY - 1), (5, INFINITY, INFINITY),
        (MINUS_INFINITY, 1, MINUS_INFINITY), (MINUS_INFINITY + 1, -2, MINUS_INFINITY),
    ],
)  # fmt: skip
def test_sums_stay_at_the_infinities(a: int, b: int, total: int) -> None:
    assert saturating_add(a, b) == total


def test_zone() -> None:
    assert check_zone("Europe/Berlin") == "Europe/Berlin"
    for name in ("Berlin", "CEST", "", "../etc/passwd", "/usr"):
        with pytest.raises(SpecError, match="must be an IANA time zone"):
            check_zone(name)


def test_decimal() -> None:
    assert str(parse_decimal("1.50")) == "1.50"
    with pytest.raises(SpecError, match="must be a number"):
        parse_decimal("a")
