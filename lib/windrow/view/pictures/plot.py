"""Numbers over time, or over a length of time, as lines: lag, completeness, lateness. SVG like pictures of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import count

from windrow.spec.times import DAY, HOUR, MINUTE, SECOND
from windrow.spec.words import length
from windrow.view.pictures.axes import Axis, step_of
from windrow.view.pictures.panel import room_of
from windrow.view.pictures.shapes import LETTER, Shapes, shortened, width_of
from windrow.view.text.times import moment

_COLOURS = ("on_time", "late", "early", "watermark", "retracted", "soft")
"""The classes of the lines, in order; a line beyond them begins anew."""
_RIGHT, _HIGH, _LINE = 16.0, 190.0, 18.0


class Unit(StrEnum):
    """What the numbers of an axis are: microseconds, shares from 0 to 1, plain numbers, or times."""

    LENGTH = "length"
    SHARE = "share"
    NUMBER = "number"
    TIME = "time"


@dataclass(frozen=True)
class Series:
    """A line: its name and its points, from left to right. `is_steps`: a value holds up to the next point.

    `points_only`: the points are not joined.
    """

    name: str
    points: Sequence[tuple[int, float]]
    is_steps: bool = False
    points_only: bool = False


@dataclass(frozen=True)
class Plot:
    """Lines over one axis. `across` and `up` say what is meant, `unit_across` and `unit_up` in which unit.

    `note` is a sentence for who cannot see it. A point outside of the least and the greatest is not there, as these are
    those of the points.
    """

    title: str
    series: Sequence[Series]
    across: str = "time"
    up: str = ""
    unit_across: Unit = Unit.TIME
    unit_up: Unit = Unit.NUMBER
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(one.points for one in self.series)

    def _repr_svg_(self) -> str:
        """For notebooks."""
        return plot_svg(self)


def plot_svg(plot: Plot, width: int = 480, heading: bool = True, is_inline: bool = False) -> str:
    """The plot as SVG text. It must have a point."""
    return str(_Layout(plot, float(width), heading).drawn(is_inline))


@dataclass(frozen=True)
class _Layout:
    plot: Plot
    width: float
    heading: bool

    def drawn(self, is_inline: bool) -> Shapes:
        shapes = Shapes(self.width, round(self._bottom + 38), self.plot.title, self._words, is_inline)
        if self.heading:
            shapes.text("title start", 8, 17, shortened(self.plot.title, self.width - 16))
        for kind, name, x, y in self._legend:
            shapes.line(f"line {kind}", x, y - 4, x + 13, y - 4)
            shapes.text("start", x + 17, y, name)
        shapes.text("start", 8, self._top - 13, self.plot.up)
        self._grid(shapes)
        for number, one in enumerate(self.plot.series):
            self._draw(shapes, one, _COLOURS[number % len(_COLOURS)])
        return shapes

    def _draw(self, shapes: Shapes, one: Series, kind: str) -> None:
        places = [(self._x(x), self._y(y)) for x, y in one.points]
        if len(places) > 1 and not one.points_only:
            shapes.path(f"line {kind}", list(_steps(places)) if one.is_steps else places)
        if len(places) <= 60 or one.points_only:
            for (x, y), (at, value) in zip(places, one.points, strict=True):
                hint = f"{one.name}: {said(value, self.plot.unit_up)} at {said(at, self.plot.unit_across)}"
                shapes.circle(f"counted {kind}", x, y, 2.6, hint)

    def _grid(self, shapes: Shapes) -> None:
        for label, y in self._labels_up:
            shapes.line("grid", self._left, y, self.width - _RIGHT, y)
            shapes.text("end", self._left - 6, y + 4, label)
        for label, x in self._labels_across:
            shapes.line("grid", x, self._top, x, self._bottom)
            shapes.text("", min(x, self.width - width_of(label) / 2), self._bottom + 16, label)
        shapes.line("frame", self._left, self._top, self._left, self._bottom)
        shapes.line("frame", self._left, self._bottom, self.width - _RIGHT, self._bottom)
        words = self._axis.words if self.plot.unit_across is Unit.TIME else ""
        shapes.text("end", self.width - _RIGHT, self._bottom + 32, f"{self.plot.across}{words}")

    @cached_property
    def _legend(self) -> list[tuple[str, str, float, float]]:
        if len(self.plot.series) < 2:
            return []
        placed, x, y = [], 8.0, 36.0 if self.heading else 16.0
        for number, one in enumerate(self.plot.series):
            if x > 8 and x + 22 + width_of(one.name) > self.width:
                x, y = 8.0, y + _LINE
            placed.append((_COLOURS[number % len(_COLOURS)], one.name, x, y))
            x += 30 + width_of(one.name)
        return placed

    @property
    def _top(self) -> float:
        return (self._legend[-1][3] if self._legend else 18.0 if self.heading else 0.0) + 34

    @property
    def _bottom(self) -> float:
        return self._top + _HIGH

    @cached_property
    def _span(self) -> tuple[int, int]:
        times = [x for one in self.plot.series for x, _ in one.points]
        first = min(times) if self.plot.unit_across is Unit.TIME else min(0, *times)
        return first, max(max(times), first + 1)

    @property
    def _axis(self) -> Axis:
        return Axis(*self._span, self._left, self.width - _RIGHT)

    @cached_property
    def _values(self) -> tuple[float, float]:
        """Of the axis upward: it begins at 0, but where all shares are large; then it ends at all."""
        values = [y for one in self.plot.series for _, y in one.points]
        least, most = min(values), max(values)
        if self.plot.unit_up is Unit.SHARE and least >= 0.5:
            return (least - (1 - least) * 0.1 if least < 1 else 0.9), 1.0
        room = 0.01 if self.plot.unit_up is Unit.SHARE else 1.0
        return min(0.0, least), most * 1.05 if most > 0 else room

    @property
    def _labels_up(self) -> list[tuple[str, float]]:
        least, most = self._values
        step = spacing_of(most - least, self.plot.unit_up)
        first = -(-least // step)
        values = [(first + n) * step for n in range(12) if (first + n) * step <= most + step * 1e-9]
        return [(said(value, self.plot.unit_up), self._y(value)) for value in values]

    @property
    def _labels_across(self) -> list[tuple[str, float]]:
        if self.plot.unit_across is Unit.TIME:
            return self._axis.marks(room_of(self._axis))
        first, last = self._span
        step = round(max(1, spacing_of(last - first, self.plot.unit_across)))
        return [
            (said(at, self.plot.unit_across), self._x(at)) for at in range(-(-first // step) * step, last + 1, step)
        ]

    @cached_property
    def _left(self) -> float:
        least, most = self._values
        step = spacing_of(most - least, self.plot.unit_up)
        labels = [said(-(-least // step) * step + n * step, self.plot.unit_up) for n in range(6)]
        return 16 + LETTER * max(map(len, labels))

    def _x(self, at: int) -> float:
        return self._axis.at(at)

    def _y(self, value: float) -> float:
        least, most = self._values
        return self._bottom - (self._bottom - self._top) * (value - least) / (most - least)

    @property
    def _words(self) -> str:
        lines = []
        for one in self.plot.series:
            if one.points:
                values = [value for _, value in one.points]
                least, most, last = (said(v, self.plot.unit_up) for v in (min(values), max(values), values[-1]))
                lines.append(f"{one.name}: between {least} and {most}, at last {last}.")
        return " ".join([*lines, *([self.plot.note] if self.plot.note else [])])


def said(value: float, unit: Unit) -> str:
    """A number of a unit, as short as it is told apart."""
    match unit:
        case Unit.SHARE:
            return f"{value * 100:.4g} %"
        case Unit.LENGTH:
            return "0" if value == 0 else length(_rounded(value))
        case Unit.TIME:
            return moment(round(value))
        case Unit.NUMBER:
            return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def spacing_of(span: float, unit: Unit) -> float:
    """Between two lines of an axis: a round number, so that there are at most six."""
    if unit in (Unit.LENGTH, Unit.TIME):
        return step_of(max(1, round(span)), 5)
    return next(step for step in _round_numbers() if span / step <= 5)


def _rounded(micros: float) -> int:
    """A length to about three digits, in a unit that people read."""
    unit = next((one for one in (DAY, HOUR, MINUTE, SECOND, 1000) if abs(micros) >= 10 * one), 1)
    smaller = {DAY: HOUR, HOUR: MINUTE, MINUTE: SECOND, SECOND: 100_000}.get(unit, 1)
    return round(micros / smaller) * smaller


def _round_numbers() -> Iterator[float]:
    yield from (n * 10.0**power for power in count(-6) for n in (1, 2, 5))


def _steps(places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Each value up to the next point."""
    before: float | None = None
    for x, y in places:
        if before is not None:
            yield x, before
        yield x, y
        before = y
