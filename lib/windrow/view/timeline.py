"""A transcript as a drawing: event time from left to right, one row a tick, downward; dots are elements, bars panes.

The red line is the watermark after each tick. What is drawn is what the case expects, so it is true of a case that has
passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

from windrow.spec.times import HOUR, INFINITY, MINUS_INFINITY, SECOND, format_time
from windrow.spec.transcripts.cases import Case
from windrow.spec.transcripts.steps import Expected, Step, TranscriptElement
from windrow.view.templates import template

WIDTH, LEFT, RIGHT, TOP = 760, 74, 24, 30
DOTS, BAR = 22, 21
"""The height of a row's elements, and of each of its panes."""
_MARKS = 8


@dataclass(frozen=True)
class Dot:
    """An element at its event time; a dead one is hollow."""

    x: float
    y: float
    label: str
    is_dead: bool


@dataclass(frozen=True)
class Bar:
    """A pane over its window. `kind` is its timing, or `withdrawn`."""

    x: float
    y: float
    width: float
    label: str
    kind: str


@dataclass(frozen=True)
class Row:
    """A tick: where it begins and ends, and what it is called."""

    label: str
    y: float
    height: float


@dataclass(frozen=True)
class Timeline:
    """The drawing of a case, as numbers."""

    case: Case

    @property
    def title(self) -> str:
        return self.case.name

    @cached_property
    def rows(self) -> Sequence[Row]:
        rows, y = [], float(TOP)
        for number, step in enumerate(self.case.steps, 1):
            height = DOTS + BAR * len(step.expect or ()) + 6.0
            now = "" if step.now is None else f", now {self._short(step.now)}"
            rows.append(Row(f"tick {number}{now}", y, height))
            y += height
        return rows

    @property
    def height(self) -> float:
        return self.rows[-1].y + self.rows[-1].height + 8

    @property
    def dots(self) -> Iterator[Dot]:
        for row, step in zip(self.rows, self.case.steps, strict=True):
            dead = [letter.fields.get("at") for letter in step.dead]
            for element in step.add:
                if element.at is not None:
                    is_dead = element.at in dead
                    yield Dot(self._x(element.at), row.y + 12, self._element(element), is_dead)

    @property
    def bars(self) -> Iterator[Bar]:
        for row, step in zip(self.rows, self.case.steps, strict=True):
            for number, pane in enumerate(step.expect or ()):
                start, end = pane.fields["window"]
                left, right = self._x(start), self._x(end)
                kind = "withdrawn" if _is_withdrawn(pane) else str(pane.fields.get("timing", "on_time"))
                yield Bar(left, row.y + DOTS + BAR * number, max(2.0, right - left), self._pane(pane), kind)

    @property
    def watermark(self) -> str:
        """The points of the line: a step for every tick after which it is known."""
        points: list[tuple[float, float]] = []
        for row, step in zip(self.rows, self.case.steps, strict=True):
            known = _watermark(step)
            if known is None and points:
                points.append((points[-1][0], row.y + row.height))
            elif known is not None and known != MINUS_INFINITY:
                x = self._x(known)
                points += [(points[-1][0] if points else x, row.y + row.height - 3), (x, row.y + row.height - 3)]
                points.append((x, row.y + row.height))
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

    @property
    def marks(self) -> list[tuple[str, float]]:
        """Times above the rows, at round numbers."""
        first, last = self._span
        step = next(step for step in _steps() if (last - first) / step <= _MARKS)
        return [(self._short(time), self._x(time)) for time in range(-(-first // step) * step, last + 1, step)]

    @cached_property
    def _span(self) -> tuple[int, int]:
        """The least and greatest time of the drawing."""
        elements = [element.at for step in self.case.steps for element in step.add if element.at is not None]
        bounds = [time for step in self.case.steps for pane in step.expect or () for time in pane.fields["window"]]
        known = [watermark for step in self.case.steps if (watermark := _watermark(step)) is not None]
        finite = [time for time in (*elements, *bounds, *known) if MINUS_INFINITY < time < INFINITY]
        return min(finite), max(max(finite), min(finite) + SECOND)

    def _x(self, time: int) -> float:
        first, last = self._span
        share = (min(max(time, first), last) - first) / (last - first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def _short(self, time: int) -> str:
        """Seconds near the epoch, else the day, or the time of day of a drawing that is shorter than two."""
        first, last = self._span
        if max(abs(first), abs(last)) < HOUR:
            return f"{time / SECOND:g} s"
        text = format_time(time)
        return text[:10] if last - first > 48 * HOUR else text[5:16].replace("T", " ")

    def _element(self, element: TranscriptElement) -> str:
        partition = () if element.partition is None else (element.partition,)
        return ", ".join([*partition, *map(_plain, element.columns.values())])

    def _pane(self, pane: Expected) -> str:
        (stage,) = self.case.stages
        keys = ", ".join(_plain(pane.fields[name]) for name in stage.keys if name in pane.fields)
        values = ", ".join(f"{n} {_plain(pane.fields[n])}" for n in stage.result_columns if n in pane.fields)
        sign = "\N{MINUS SIGN} " if _is_withdrawn(pane) else ""
        return sign + ": ".join(part for part in (keys, values) if part)


def drawing(case: Case) -> str:
    """The case as SVG."""
    return template("timeline.svg").render(timeline=Timeline(case))


def _is_withdrawn(pane: Expected) -> bool:
    return pane.fields.get("weight") == -1 or pane.fields.get("change") in ("update_preimage", "delete")


def _watermark(step: Step) -> int | None:
    return step.expect_watermark if step.watermark is None else step.watermark


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _steps() -> Iterator[int]:
    """Lengths between two marks, growing without end."""
    yield from (n * SECOND for n in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800))
    yield from (n * HOUR for n in (1, 2, 3, 6, 12))
    yield from (24 * HOUR * n * 10**power for power in count() for n in (1, 2, 5))
