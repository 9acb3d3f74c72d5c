"""Calendar windows: the engine's arithmetic on the driver beside the model's, over zones, units and times."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.model.assign import assign
from windrow.compile.windows.registry import compile_windows
from windrow.spec.times import DAY, HOUR, parse_time
from windrow.spec.windows.aligned import CalendarWindows, Unit, Weekday

ZONES = [
    "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "America/Toronto",
    "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Monrovia", "Asia/Gaza",
]  # fmt: skip
INSTANTS = st.integers(parse_time("1880-01-01"), parse_time("2100-01-01"))


@st.composite
def calendars(draw: st.DrawFn) -> CalendarWindows:
    unit = draw(st.sampled_from(Unit))
    start = draw(st.sampled_from(Weekday)) if unit is Unit.WEEK else Weekday.MONDAY
    return CalendarWindows(unit, draw(st.sampled_from([1, 1, 1, 2, 5])), draw(st.sampled_from(ZONES)), start)


@given(calendars(), INSTANTS)
def test_the_driver_agrees_with_the_model(window: CalendarWindows, time: int) -> None:
    (expected,) = assign(window, time)
    windows = compile_windows(window)
    assert windows.greatest_start_before(time + 1) == expected
    assert windows.greatest_end(time) == expected.end


@given(calendars(), INSTANTS)
def test_windows_follow_each_other(window: CalendarWindows, time: int) -> None:
    (now,) = assign(window, time)
    assert now.start <= time < now.end
    assert assign(window, now.start) == assign(window, now.end - 1) == [now]
    assert assign(window, now.end)[0].start == now.end


@given(calendars(), INSTANTS, st.integers(1, 40 * DAY))
def test_a_span_is_that_of_the_windows_that_start_in_it(window: CalendarWindows, start: int, length: int) -> None:
    starts, time = [], start
    while time < start + length:
        (found,) = assign(window, time)
        starts += [found] if start <= found.start else []
        time = found.end
    expected = (starts[0].start, starts[-1].end) if starts else None
    assert compile_windows(window).span(start, start + length) == expected


def test_a_day_has_23_or_25_hours() -> None:
    berlin = CalendarWindows(Unit.DAY, zone="Europe/Berlin")
    lengths = [assign(berlin, parse_time(f"2013-{day}T12:00:00Z"))[0] for day in ("03-31", "10-27", "07-01")]
    assert [window.end - window.start for window in lengths] == [23 * HOUR, 25 * HOUR, 24 * HOUR]
