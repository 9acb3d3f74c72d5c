"""The plots of a simulation, as the numbers that drawings need. `pages/simulate.html` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from windrow.spec.times import HOUR, MINUTE, SECOND
from windrow.view.simulate.findings import Findings, Simulation
from windrow.view.simulate.words import lag, share

WIDTH, HEIGHT = 380, 240
"""Of each plot: readable on a phone without a zoom."""
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 12, 34
COLOURS = 8
"""So many lines can be told apart by colour; behind those they are dashed, too."""


@dataclass(frozen=True)
class Line:
    """A specification's line: points as SVG has them, and the number of its colour."""

    name: str
    points: str
    colour: int
    is_dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """A specification as a point of the choice between soon and right."""

    name: str
    x: float
    y: float
    colour: int
    is_on_front: bool
    words: str


@dataclass(frozen=True)
class Axis:
    """Marks with their places along an axis."""

    marks: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Completeness:
    """The share of elements that were shown, by the age of the window's end; the axis of ages is logarithmic."""

    lines: Sequence[Line]
    ages: Axis
    shares: Axis
    words: str

    @classmethod
    def of(cls, simulation: Simulation) -> Completeness:
        """With a line for what had arrived, which nothing can be above."""
        known = [[part for _, part in one.shown_by_age] for one in simulation.findings]
        lowest = _floor(min((part for parts in known for part in parts), default=0))
        lines = [
            Line("arrived", _points(arrival.elements, lowest), 0, True) for _, arrival in simulation.arrivals[:1]
        ] + [
            Line(one.name, _points(one.shown_by_age, lowest), number % COLOURS + 1, number >= COLOURS)
            for number, one in enumerate(simulation.findings)
        ]
        ages = Axis([(lag(age * SECOND), _age(age)) for age in (0, 60, 600, 3600, 21600, 86400, 604800)])
        shares = Axis([(share(part), _height(part, lowest)) for part in _fifths(lowest)])
        said = "; ".join(f"{one.name} {_at(one, 3600)} after an hour" for one in simulation.findings)
        return cls(lines, ages, shares, f"Share of the elements shown, by the age of the window's end: {said}")


@dataclass(frozen=True)
class Choice:
    """Soon against right: the median time until windows are first shown as complete, and those that were wrong then."""

    dots: Sequence[Dot]
    lags: Axis
    wrong: Axis
    words: str

    @classmethod
    def of(cls, simulation: Simulation) -> Choice:
        """Specifications that never show such a pane are left out."""
        known = [one for one in simulation.findings if one.to_on_time.median is not None]
        longest = max((one.to_on_time.median or 0 for one in known), default=0) or MINUTE
        most = max((1 - one.share_right_at_first for one in known), default=0) or 0.01
        dots = [
            Dot(
                one.name,
                LEFT + (WIDTH - LEFT - RIGHT) * max(0, one.to_on_time.median or 0) / (1.1 * longest),
                _down(1 - one.share_right_at_first, 1.1 * most),
                simulation.findings.index(one) % COLOURS + 1,
                one.name in simulation.front,
                f"{one.name}: {lag(one.to_on_time.median)}, {share(1 - one.share_right_at_first)} wrong at first",
            )
            for one in known
        ]
        every = _spacing(longest)
        numbers = range(0, int(1.1 * longest) + 1, every)
        lags = Axis([(lag(n), LEFT + (WIDTH - LEFT - RIGHT) * n / (1.1 * longest)) for n in numbers])
        wrong = Axis([(share(most * n / 4), _down(most * n / 4, 1.1 * most)) for n in range(5)])
        return cls(dots, lags, wrong, "; ".join(dot.words for dot in dots))


def _points(shares: Sequence[tuple[int, float]], lowest: float) -> str:
    return " ".join(f"{_age(age):.1f},{_height(part, lowest):.1f}" for age, part in shares)


def _age(seconds: int) -> float:
    """A place on the logarithmic axis that begins at the end of the window."""
    most = log10(1 + 604800 / 60)
    return LEFT + (WIDTH - LEFT - RIGHT) * log10(1 + seconds / 60) / most


def _height(part: float, lowest: float) -> float:
    return _down(part - lowest, 1 - lowest)


def _down(value: float, most: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)


def _floor(part: float) -> float:
    """The bottom of the axis: a fifth below what is shown."""
    return max(0.0, int(part * 5 - 0.0001) / 5)


def _fifths(lowest: float) -> Sequence[float]:
    return [lowest + (1 - lowest) * n / 5 for n in range(6)]


def _spacing(longest: int) -> int:
    """Between two marks of time: a round number, so that there are at most six."""
    spacings = [n * unit for unit in (SECOND, MINUTE, HOUR, 24 * HOUR) for n in (1, 2, 5, 10, 15, 30)]
    return next((one for one in sorted(spacings) if 5 * one >= longest), longest)


def _at(one: Findings, age: int) -> str:
    return next((share(part) for known, part in one.shown_by_age if known == age), "nothing")
