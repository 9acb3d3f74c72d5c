"""The intervals of windows that batches have published, against the windows themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.registry import compile_windows
from windrow.engine.tick.published import Made, cut, joined, missing
from windrow.spec.times import INFINITY
from windrow.spec.windows.aligned import CumulativeWindows, FixedWindows, SlidingWindows
from windrow.spec.windows.sessions import Sessions

LONG = 60
WINDOWS = {
    "fixed": FixedWindows(4, 1),
    "sliding": SlidingWindows(6, 2),
    "sampled": SlidingWindows(2, 5),
    "cumulative": CumulativeWindows(6, 2),
}
MADE = st.lists(
    st.builds(lambda first, length, until: Made(first, first + length, until), st.integers(0, LONG),
              st.integers(1, 12), st.integers(0, LONG) | st.just(INFINITY)), max_size=5,
)  # fmt: skip


def all_windows(name: str) -> Iterator[tuple[int, int]]:
    """Those that start within a while around the intervals, by the definition of each function."""
    function = WINDOWS[name]
    for start in range(-40, 2 * LONG):
        if isinstance(function, FixedWindows):
            if (start - function.offset) % function.size == 0:
                yield start, start + function.size
        elif isinstance(function, SlidingWindows):
            if start % function.period == 0:
                yield start, start + function.size
        elif isinstance(function, CumulativeWindows) and start % function.size == 0:
            yield from ((start, start + end) for end in range(function.step, function.size + 1, function.step))


def compiled(name: str) -> CompiledWindows:
    return compile_windows(WINDOWS[name])


def holds(made: Made, window: tuple[int, int]) -> bool:
    return made.first <= window[0] < made.last and window[1] <= made.until


@pytest.mark.parametrize("name", WINDOWS)
@given(made=MADE)
def test_the_joined_intervals_hold_the_same_windows(name: str, made: list[Made]) -> None:
    found = joined(compiled(name), made)
    for window in all_windows(name):
        assert any(holds(one, window) for one in found) == any(holds(one, window) for one in made), window
    assert all(before.last <= after.first for before, after in pairwise(found))


def test_a_schedule_is_one_interval() -> None:
    windows = compiled("fixed")
    made = [Made(first, first + 7, windows.greatest_start_before(first + 7)[1]) for first in range(0, 70, 7)]  # type: ignore[index]
    assert len(joined(windows, made)) == 1
    sessions = compile_windows(Sessions(3))
    assert len(joined(sessions, [Made(first, first + 10, first + 10) for first in range(0, 100, 10)], True)) == 1
    assert len(joined(sessions, [Made(0, 10, 9), Made(10, 20, 25)], True)) == 2, "sessions of the first may wait"


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("keeps_times", [False, True])
@given(made=MADE, low=st.integers(0, LONG))
def test_what_is_to_come_comes_in_the_gaps(name: str, keeps_times: bool, made: list[Made], low: int) -> None:
    """An element comes at the last moment of its window, or at any moment of it where it keeps its own time."""
    windows = compiled(name)
    gaps = missing(windows, windows.longest if keeps_times else None, made, low)
    to_come = [w for w in all_windows(name) if not any(holds(one, w) for one in made)]
    for window in to_come:
        times = range(window[0], window[1]) if keeps_times else [window[1] - 1]
        assert all(any(first <= time < last for first, last in gaps) for time in times if time >= low), window
    for first, last in gaps:
        near = (first - windows.longest, min(last, 2 * LONG) + windows.longest)
        assert any(near[0] <= start and end <= near[1] for start, end in to_come), "no gap without a window"


def test_sessions_are_complete_when_all_that_start_in_the_interval_have_ended() -> None:
    sessions = compile_windows(Sessions(3))
    made = [Made(0, 10, 15), Made(30, 40, 45)]
    assert missing(sessions, None, made, 0, True) == ((10, 32), (40, INFINITY))
    assert missing(sessions, 7, made, 0, True) == ((8, 12), (10, 32), (38, 42), (40, INFINITY)), (
        "one may have begun before"
    )


@given(
    span=st.tuples(st.integers(0, 20), st.integers(1, 20)).map(lambda found: (found[0], found[0] + found[1])),
    gaps=st.lists(st.tuples(st.integers(-5, 40), st.integers(1, 9)).map(lambda x: (x[0], x[0] + x[1])), max_size=4),
)
def test_cut_leaves_the_windows_that_touch_no_gap(span: tuple[int, int], gaps: list[tuple[int, int]]) -> None:
    found = cut(span, gaps)
    for start in range(span[0], span[1]):
        for end in range(start + 1, 50):
            touches = any(start < last and first < end for first, last in gaps)
            assert any(holds(one, (start, end)) for one in found) != touches, (start, end)
