"""Stacked bars over time, as the numbers that a drawing needs: where each segment begins and how high it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil

from windrow.spec.times import format_time

WIDTH, HEIGHT = 720, 220
"""Of the drawing, in its own units; a page scales it."""
NARROW = 360
"""The width of the drawing on a phone."""
LEFT, BOTTOM, TOP = 46, 26, 10


@dataclass(frozen=True)
class Segment:
    """One rectangle: which series it is of, its number, and where it is."""

    series: str
    number: int
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Bars:
    """One bar for each time (microseconds), its segments from the bottom up in the order of `series`."""

    series: Sequence[str]
    bars: Mapping[int, Mapping[str, int]]
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def most(self) -> int:
        return max((sum(bar.values()) for bar in self.bars.values()), default=0)

    @property
    def spacing(self) -> int:
        """Between two lines of the axis: a round number, so that there are at most five."""
        spacings = (n * int(10**power) for power in count() for n in (1, 2, 5))
        return next(spacing for spacing in spacings if 5 * spacing >= self.most)

    @property
    def top(self) -> int:
        """The end of the axis: the first line that is not below any bar."""
        return max(1, ceil(self.most / self.spacing)) * self.spacing

    @property
    def totals(self) -> dict[str, int]:
        """By series, over all bars."""
        return {name: sum(bar.get(name, 0) for bar in self.bars.values()) for name in self.series}

    @property
    def segments(self) -> Iterator[Segment]:
        spacing = (self.width - LEFT) / max(1, len(self.bars))
        for index, (time, bar) in enumerate(sorted(self.bars.items())):
            bottom = 0
            for name in self.series:
                number = bar.get(name, 0)
                if number:
                    y, height = self._y(bottom + number), self._y(bottom) - self._y(bottom + number)
                    yield Segment(
                        name, number, _short(time), LEFT + index * spacing + spacing * 0.1, y, spacing * 0.8, height
                    )
                bottom += number

    @property
    def lines(self) -> list[tuple[int, float]]:
        """Numbers on the axis and their heights."""
        return [(number, self._y(number)) for number in range(0, self.top + 1, self.spacing)]

    @property
    def marks(self) -> list[tuple[str, float]]:
        """Times below the axis, at most six, and as many as there is room for."""
        times, most = sorted(self.bars), min(6, self.width // 100)
        spacing, every = (self.width - LEFT) / max(1, len(times)), max(1, ceil(len(times) / most))
        marks = [(_short(times[i]), LEFT + i * spacing + spacing * 0.1) for i in range(0, len(times), every)]
        return [(text, x) for text, x in marks if x < self.width - 70]  # a text is not cut off

    def _y(self, number: float) -> float:
        return TOP + (self.height - BOTTOM - TOP) * (1 - number / self.top)


def _short(time: int) -> str:
    """`01-02 05:00`: a time without its year and seconds."""
    return format_time(time)[5:16].replace("T", " ")
