"""Which windows an element falls in. SEMANTICS section 3."""

from __future__ import annotations

from typing import NamedTuple

from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.windows import FixedWindows, GlobalWindow, SlidingWindows, WindowFunction


class Window(NamedTuple):
    """A window, half-open: [start, end), in microseconds."""

    start: int
    end: int

    @property
    def is_global(self) -> bool:
        return self == ALL_OF_TIME


ALL_OF_TIME = Window(MINUS_INFINITY, INFINITY)


def assign(function: WindowFunction, event_time: int) -> list[Window]:
    """The windows that hold an instant, in the order of their starts; none for an element in a gap."""
    match function:
        case GlobalWindow():
            return [ALL_OF_TIME]
        case FixedWindows():
            start = (event_time - function.offset) // function.size * function.size + function.offset
            return [Window(start, start + function.size)]
        case SlidingWindows():
            return _sliding(function, event_time)
    raise NotImplementedError(function.NAME)


def _sliding(function: SlidingWindows, event_time: int) -> list[Window]:
    start = (event_time - function.offset) // function.period * function.period + function.offset
    windows = []
    while start + function.size > event_time:
        windows.append(Window(start, start + function.size))
        start -= function.period
    return windows[::-1]
