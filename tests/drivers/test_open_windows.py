"""The number of open windows over slices is that of the windows which a plain look at each slice finds."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.drivers.inspect.status.open_windows_of_slices import OpenWindows
from windrow.engine.tick.published import Made
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.windows.aligned import CumulativeWindows, FixedWindows, SlidingWindows
from windrow.spec.windows.base import WindowFunction

SPAN = 40

WINDOWS: dict[WindowFunction, int] = {
    FixedWindows(size=6, offset=1): 6,
    SlidingWindows(size=12, period=3, offset=2): 3,
    SlidingWindows(size=10, period=4): 2,
    CumulativeWindows(size=12, step=4, offset=3): 4,
}
"""Window functions, and the size of their slices."""


def every_window(window: WindowFunction) -> set[tuple[int, int]]:
    """The windows by their definition, far around the slices."""
    match window:
        case FixedWindows(size=size, offset=offset):
            return {(at, at + size) for at in range(offset - 20 * size, 20 * size, size)}
        case SlidingWindows(size=size, period=period, offset=offset):
            return {(at, at + size) for at in range(offset - 40 * period, 40 * period, period)}
        case CumulativeWindows(size=size, step=step, offset=offset):
            starts = range(offset - 20 * size, 20 * size, size)
            return {(at, at + part) for at in starts for part in range(step, size + 1, step)}
    raise AssertionError(window)


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(-SPAN, SPAN)), max_size=12),
    st.one_of(st.just(MINUS_INFINITY), st.integers(-SPAN, SPAN)),
    st.lists(st.builds(Made, st.integers(-SPAN, 0), st.integers(1, SPAN), st.sampled_from([5, INFINITY])), max_size=1),
)
def test_the_number_of_open_windows(
    window: WindowFunction, elements: list[tuple[str | None, int]], expired_end: int, made: list[Made]
) -> None:
    size = WINDOWS[window]
    offset = getattr(window, "offset", 0)
    slices = [(key, (at - offset) // size * size + offset) for key, at in elements]
    rows = [{"k": key, "window_start": start, "window_end": start + size} for key, start in slices]
    schema = pa.schema({"k": pa.string(), "window_start": pa.int64(), "window_end": pa.int64()})
    expected = {
        (key, *bounds)
        for key, at in elements
        for bounds in every_window(window)
        if bounds[0] <= at < bounds[1] and bounds[1] > expired_end
        if not any(one.first <= bounds[0] < one.last and bounds[1] <= one.until for one in made)
    }
    found = OpenWindows(window, expired_end, tuple(made), ("k",)).number(pa.Table.from_pylist(rows, schema))
    assert found == len(expected)
