"""The figure of a watermark against arrival: event time across, processing time up.

A pane stands at the end of its window and at the time at which it was shown, a landing batch at its newest event time
and its arrival. Left of the watermark everything has come, as far as it knows. The model is the figure of Akidau et
al., The Dataflow Model (2015).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from windrow.spec.times import DAY, HOUR, MINUTE, SECOND, format_time
from windrow.view.text.times import many, moment

WIDTHS = (
    SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY,
    14 * DAY, 30 * DAY, 365 * DAY,
)  # fmt: skip
"""Steps of an axis of times, in microseconds."""
WIDE, NARROW = (720, 360), (360, 340)
"""The sizes of the drawing on a desk and on a phone, in its own units."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 14, 12, 30
_COLUMNS, _ROWS = 96, 60
"""Panes are counted on a grid of so many places."""

Point = tuple[int, int]
"""An event time and a processing time, in microseconds."""


@dataclass(frozen=True)
class ShownPanes:
    """Panes of one timing that were shown at the same time, of windows that end at the same time."""

    timing: str
    end: int
    shown_at: int
    number: int


@dataclass(frozen=True)
class Dot:
    """A circle, in the units of a drawing."""

    kind: str
    x: float
    y: float
    radius: float
    label: str = ""


@dataclass(frozen=True)
class Arrival:
    """What the figure of one stage shows; the watermark is in the order of processing time."""

    stage: str
    watermark: Sequence[Point]
    panes: Sequence[ShownPanes]
    landed: Sequence[Point] = ()

    @property
    def drawings(self) -> list[tuple[str, Drawing]]:
        """By the class of the screens that show it."""
        return [("wide", Drawing(self, *WIDE)), ("narrow", Drawing(self, *NARROW))]

    @property
    def description(self) -> str:
        """The figure in words."""
        by_timing = Counter[str]()
        for pane in self.panes:
            by_timing[pane.timing] += pane.number
        panes = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in by_timing.items())
        time, at = self.watermark[-1]
        return (
            f"{many(sum(by_timing.values()), 'pane')}: {panes}. The watermark reached {moment(time)} at {moment(at)}."
        )


@dataclass(frozen=True)
class Drawing:
    """The figure at one size."""

    arrival: Arrival
    width: int
    height: int

    @property
    def _events(self) -> Point:
        ends = [pane.end for pane in self.arrival.panes]
        return _spread(min(ends), max(ends))

    @property
    def _times(self) -> Point:
        shown = [pane.shown_at for pane in self.arrival.panes]
        inside = [at for time, at in self.arrival.watermark if self._events[0] <= time <= self._events[1]]
        return _spread(min(shown + inside), max(shown + inside))

    def x(self, time: int) -> float:
        first, last = self._events
        return _LEFT + (self.width - _LEFT - _RIGHT) * (time - first) / (last - first)

    def y(self, time: int) -> float:
        first, last = self._times
        return _TOP + (self.height - _TOP - _BOTTOM) * (1 - (time - first) / (last - first))

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Where the points are: left, top, width, height."""
        return _LEFT, _TOP, self.width - _LEFT - _RIGHT, self.height - _TOP - _BOTTOM

    @property
    def across(self) -> list[tuple[str, float]]:
        """Event times below the axis."""
        return [(label, self.x(time)) for label, time in _axis(*self._events, int(self.frame[2] // 78))]

    @property
    def up(self) -> list[tuple[str, float]]:
        """Processing times beside the axis."""
        return [(label, self.y(time)) for label, time in _axis(*self._times, 6)]

    @property
    def watermark(self) -> str:
        """The points of its line, a step for each move; what is outside of the frame is cut off there."""
        points: list[str] = []
        before: float | None = None
        for time, at in self.arrival.watermark:
            x, y = self.x(time), self.y(at)
            points += [f"{before:.1f},{y:.1f}"] if before is not None else []
            points.append(f"{x:.1f},{y:.1f}")
            before = x
        if before is not None:
            points.append(f"{before:.1f},{_TOP}")
        return " ".join(points)

    @property
    def diagonal(self) -> tuple[float, float, float, float] | None:
        """Where rows would be that arrive at once; None where that is not in the frame."""
        first, last = max(self._events[0], self._times[0]), min(self._events[1], self._times[1])
        return (self.x(first), self.y(first), self.x(last), self.y(last)) if first < last else None

    @property
    def landed(self) -> list[Dot]:
        (first, last), (low, high) = self._events, self._times
        inside = [(time, at) for time, at in self.arrival.landed if first <= time <= last and low <= at <= high]
        return [Dot("landed", self.x(time), self.y(at), 1.6) for time, at in inside]

    @property
    def panes(self) -> list[Dot]:
        """Those at the same place of the grid together, the more of them the larger."""
        numbers: dict[tuple[str, int, int], int] = {}
        _, _, width, height = self.frame
        for pane in self.arrival.panes:
            column = round((self.x(pane.end) - _LEFT) / width * _COLUMNS)
            row = round((self.y(pane.shown_at) - _TOP) / height * _ROWS)
            numbers[pane.timing, column, row] = numbers.get((pane.timing, column, row), 0) + pane.number
        across, up = width / _COLUMNS, height / _ROWS
        return [
            Dot(
                timing, _LEFT + column * across, _TOP + row * up, min(7.5, 2.6 + log2(number) * 0.45),
                f"{many(number, 'pane')} {timing.replace('_', ' ')}",
            )
            for (timing, column, row), number in numbers.items()
        ]  # fmt: skip


def _spread(first: int, last: int) -> Point:
    """A little more than from the first to the last, and never nothing."""
    margin = max((last - first) // 20, SECOND)
    return first - margin, last + margin


def _axis(first: int, last: int, most: int) -> list[tuple[str, int]]:
    """Round times between the two: `01-02 05:00`, or `05:00:10` where they are less than a minute apart."""
    step = next((width for width in WIDTHS if (last - first) // width <= most), WIDTHS[-1])
    part = slice(11, 19) if step < MINUTE else slice(5, 16)
    return [(format_time(time)[part].replace("T", " "), time) for time in range(first + -first % step, last + 1, step)]
