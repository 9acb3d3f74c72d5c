"""Windows of a fixed length: the engine's arithmetic on the driver beside all windows that the model has, by trial."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.model.assign import Window, assign, windows_of
from windrow.compile.windows.registry import compile_windows
from windrow.spec.windows.aligned import CumulativeWindows, FixedWindows, Phase, SlidingWindows, WindowFunction

NEAR = range(-60, 60)
INSTANTS = st.integers(-20, 20)


@st.composite
def aligned(draw: st.DrawFn) -> WindowFunction:
    """Windows of a few microseconds, so that every instant can be tried."""
    size, step = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from([FixedWindows, SlidingWindows, CumulativeWindows]))
    if kind is FixedWindows:
        return FixedWindows(size, draw(st.integers(0, size - 1)))
    if kind is SlidingWindows:
        period = draw(st.integers(1, 15))
        return SlidingWindows(size, period, draw(st.integers(0, period - 1)))
    return CumulativeWindows(step * (size // 4 + 1), step, draw(st.integers(0, step * (size // 4 + 1) - 1)))


@given(st.integers(1, 12), st.integers(0, 11), st.integers(-99, 99), INSTANTS, st.integers(1, 20))
def test_windows_of_a_key_are_within_what_the_driver_says(
    size: int, offset: int, key: int, time: int, length: int
) -> None:
    """The driver knows no key: its bounds are those of all that there can be."""
    window = FixedWindows(size, offset % size, Phase.BY_KEY)
    made = compile_windows(window)
    found = {w for at in NEAR for w in windows_of(window, at, (key,), ("bigint",))}
    (own,) = windows_of(window, time, (key,), ("bigint",))
    assert own.end - own.start == size and made.earliest_start(time) <= own.start <= time < own.end
    last, span = made.greatest_start_before(time), made.span(time, time + length)
    assert last is not None and max(w for w in found if w.start < time) <= last
    inside = [w for w in found if time <= w.start < time + length]
    assert span is not None and all(span[0] <= w.start and w.end <= span[1] for w in inside)


def all_windows(window: WindowFunction) -> list[Window]:
    return sorted({found for time in NEAR for found in assign(window, time)})


@given(aligned(), INSTANTS)
def test_the_windows_of_an_element(window: WindowFunction, time: int) -> None:
    found = assign(window, time)
    assert found == [w for w in all_windows(window) if w.start <= time < w.end]
    made = compile_windows(window)
    assert made.greatest_end(time) == max((w.end for w in found), default=None)
    assert made.earliest_start(time) == min((w.start for w in found), default=made.earliest_start(time))


@given(aligned(), INSTANTS)
def test_the_last_window_that_starts_before_a_time(window: WindowFunction, time: int) -> None:
    assert compile_windows(window).greatest_start_before(time) == max(w for w in all_windows(window) if w.start < time)


@given(aligned(), INSTANTS, st.integers(1, 20))
def test_the_span_of_the_windows_that_start_in_an_interval(window: WindowFunction, start: int, length: int) -> None:
    inside = [w for w in all_windows(window) if start <= w.start < start + length]
    expected = (inside[0].start, max(w.end for w in inside)) if inside else None
    assert compile_windows(window).span(start, start + length) == expected
