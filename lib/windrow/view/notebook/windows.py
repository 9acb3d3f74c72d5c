"""How the windows of a stage lie in time, as a drawing: a dot is an element, a bar a window.

Time runs from left to right, to scale but for calendars. Of many windows that hold an element only some are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from windrow.spec.times import DAY, HOUR, MINUTE, SECOND, format_duration
from windrow.spec.windows.aligned import (
    CalendarWindows,
    CumulativeWindows,
    FixedWindows,
    GlobalWindow,
    Phase,
    SlidingWindows,
)
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions
from windrow.view.text.times import length, many

WIDTH, TOP, BAR, STEP = 380.0, 44.0, 18.0, 23.0
"""How wide the drawing is, where its bars begin, how high one is, and from one to the next."""
_SIDE = 20.0
_LETTER = 6.8
"""About how wide a letter is."""
_MOST = 5
"""More windows than these are not all drawn."""


@dataclass(frozen=True)
class Span:
    """A window, or the gap of a session: from one time to another, in a row."""

    start: float
    end: float
    row: int = 0
    holds: bool = False
    label: str = ""


@dataclass(frozen=True)
class Scene:
    """What is drawn, in units of time: windows, elements in a window and in none, gaps, times, and what is left out."""

    windows: Sequence[Span]
    elements: Sequence[float] = ()
    in_none: Sequence[float] = ()
    gaps: Sequence[Span] = ()
    times: Sequence[float] = ()
    omitted: Sequence[tuple[int, str]] = ()
    is_endless: bool = False
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A window in the drawing."""

    x: float
    y: float
    width: float
    holds: bool
    label: str


@dataclass(frozen=True)
class Drawing:
    """A scene in the units of the drawing."""

    scene: Scene
    words: str
    width: float = field(default=WIDTH, init=False)

    @property
    def height(self) -> float:
        rows = [span.row for span in (*self.scene.windows, *self.scene.gaps)] + [row for row, _ in self.scene.omitted]
        return self._y(1 + max(rows)) + 3

    @property
    def bars(self) -> Iterator[Bar]:
        for span in self.scene.windows:
            x, end = self._x(span.start), self._x(span.end)
            width = max(3.0, end - x - 2)
            fits = len(span.label) * _LETTER < width
            yield Bar(x + 1, self._y(span.row), width, span.holds, span.label if fits else "")

    @property
    def gaps(self) -> Iterator[tuple[float, float, float, str]]:
        for span in self.scene.gaps:
            yield self._x(span.start), self._x(span.end), self._y(span.row), span.label

    @property
    def dots(self) -> list[tuple[float, bool]]:
        return [(self._x(at), True) for at in self.scene.elements] + [(self._x(at), False) for at in self.scene.in_none]

    @property
    def marks(self) -> Iterator[tuple[float, str]]:
        """Times above the windows; of those that would touch, only the first."""
        taken = 0.0
        for time in self.scene.times:
            x, text = self._x(time), _mark(round(time))
            half = len(text) * _LETTER / 2
            if x - half >= taken and x + half <= WIDTH:
                taken = x + half + 8
                yield x, text
            else:
                yield x, ""

    @property
    def omitted(self) -> list[tuple[float, str]]:
        return [(self._y(row) + 13, text) for row, text in self.scene.omitted]

    def _x(self, time: float) -> float:
        times = [time for span in self.scene.windows for time in (span.start, span.end)]
        first, last = min(times), max(times)
        side = -6 if self.scene.is_endless else _SIDE
        return side + (time - first) / (last - first) * (WIDTH - 2 * side)

    def _y(self, row: int) -> float:
        return (TOP if self.dots else 4.0) + STEP * row


def _mark(time: int) -> str:
    """`0`, `1h 5m`, `2.5s`: how far from the beginning."""
    texts, rest = [], time
    for unit, letter in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        number, rest = divmod(rest, unit)
        texts += [f"{number}{letter}"] if number else []
    texts += [f"{rest / SECOND:g}s" if rest >= SECOND else format_duration(rest)] if rest else []
    return " ".join(texts) or "0"


def drawing_of(window: WindowFunction, words: str) -> Drawing | None:
    """The drawing of a window function, which `words` tell in words; None where only the elements would show it."""
    scene = _scene(window)
    return None if scene is None else Drawing(scene, words)


def _scene(window: WindowFunction) -> Scene | None:
    match window:
        case FixedWindows(size=size, offset=offset, phase=Phase.BY_KEY):
            return _by_key(size, offset)
        case FixedWindows(size=size, offset=offset):
            return _one_after_the_other(size, size, offset)
        case SlidingWindows(size=size, period=period, offset=offset) if window.has_gaps:
            return _one_after_the_other(size, period, offset)
        case SlidingWindows(size=size, period=period, offset=offset):
            return _sliding(size, period, offset)
        case CumulativeWindows(size=size, step=step, offset=offset):
            return _cumulative(size, step, offset)
        case CalendarWindows(unit=unit, count=count):
            words = many(count, str(unit))
            return Scene([Span(n, n + 1, 0, n == 1, words) for n in range(4)], [1.4])
        case Sessions(gap=gap):
            return _sessions(window.longest_gap, length(gap) if isinstance(gap, int) else "its gap")
        case RecordWindows(difference=difference):
            return _record(length(difference))
        case GlobalWindow():
            return Scene([Span(0, 1, 0, True, "all of time")], [0.2, 0.35, 0.7], is_endless=True)
        case _:
            return None


def _one_after_the_other(size: int, period: int, offset: int) -> Scene:
    starts = [offset + n * period for n in range(4)]
    windows = [Span(start, start + size, 0, n == 1) for n, start in enumerate(starts)]
    if period == size:
        return Scene(windows, [starts[1] + 0.4 * size], times=[*starts, starts[3] + size])
    between = starts[2] - 0.5 * (period - size)
    bounds = [bound for start in starts for bound in (start, start + size)]
    return Scene(windows, [starts[1] + 0.4 * size], [between], times=bounds, note="A hollow one is in no window.")


def _by_key(size: int, offset: int) -> Scene:
    shifts = {"of one key": 0.0, "of another": 0.55 * size}
    windows = [
        Span(offset + shift + n * size, offset + shift + (n + 1) * size, row, False, key)
        for row, (key, shift) in enumerate(shifts.items())
        for n in range(3)
    ]
    return Scene(windows)


def _sliding(size: int, period: int, offset: int) -> Scene:
    number = -(-size // period)
    at = offset + (number - 0.5) * period
    starts = _multiples(number + 1, period, offset)
    return _stacked([Span(start, start + size, 0, start <= at < start + size) for start in starts], at, starts)


def _cumulative(size: int, step: int, offset: int) -> Scene:
    number = size // step
    at = offset + (1.5 if number > 1 else 0.5) * step
    ends = [end + step for end in _multiples(number, step, offset)]
    every = [Span(offset, end, 0, at < end) for end in ends]
    anew = Span(offset + size, offset + size + step)
    return _stacked([*every, anew], at, [offset, *ends])


def _multiples(number: int, step: int, offset: int) -> list[int]:
    return [offset + n * step for n in range(number)]


def _stacked(every: Sequence[Span], at: float, times: Sequence[float]) -> Scene:
    """Windows one below the other. Of many the first three and the last two, and how many there are between."""
    few = len(every) <= _MOST + 1
    kept = every if few else [*every[:3], *every[-2:]]
    rows = [number if few or number < 3 else number + 1 for number in range(len(kept))]
    windows = [Span(span.start, span.end, row, span.holds) for span, row in zip(kept, rows, strict=True)]
    omitted = [] if few else [(3, f"and {len(every) - len(kept):,} between them")]
    shown = times if few else [span.start for span in kept[-2:-1]] + [kept[0].end, kept[-2].end]
    return Scene(windows, [at], times=sorted({*times[:1], *shown}), omitted=omitted)


def _sessions(gap: int, words: str) -> Scene:
    first, second = [0, 0.55 * gap, 1.3 * gap], [3.1 * gap, 3.5 * gap]
    windows = [Span(own[0], own[-1] + gap, 0, True) for own in (first, second)]
    gaps = [Span(own[-1], own[-1] + gap, 1, label=words) for own in (first, second)]
    return Scene(windows, [*first, *second], gaps=gaps)


def _record(words: str) -> Scene:
    at = [1.0, 1.6]
    windows = [Span(0.0, 1.0, 0), Span(0.6, 1.6, 1), Span(1.0, 2.0, 2)]
    note = "Of each element the window up to it, and the one behind it, if that holds another."
    return Scene([Span(one.start, one.end, one.row, True, words) for one in windows], at, note=note)
