"""The part of a picture that shows one key: its frame, boxes, watermark and dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

from windrow.spec.times import MINUS_INFINITY
from windrow.view.pictures.axes import Axis
from windrow.view.pictures.boxes import Box, boxes_of, first_of, open_windows
from windrow.view.pictures.dots import Dot
from windrow.view.pictures.labels import Labels
from windrow.view.pictures.shapes import LETTER, Shapes
from windrow.view.pictures.upward import ByTick, ByTime, Upward
from windrow.view.pictures.values import PaneCount, Picture
from windrow.view.text.times import many, moment

Point = tuple[float, float]
_GRID = (96, 60)
"""Dots of panes are counted on a grid of so many places."""


@dataclass(frozen=True)
class Panel:
    """One key of a picture between `top` and `bottom`."""

    picture: Picture
    across: Axis
    up: Upward
    dots: Sequence[Dot]
    top: float
    bottom: float
    name: str = ""

    def draw(self, shapes: Shapes) -> None:
        """Draw everything, from the ground up."""
        self._grid(shapes)
        labels = Labels(shapes, self.across.start, self.across.end)
        self._density(shapes)
        self._open(shapes)
        boxes = boxes_of(self.picture, self.across, self.up, self.placed)
        for box in boxes:
            self._box(shapes, box)
        self._lines(shapes)
        for count in counted(self.picture.pane_counts, self):
            shapes.circle(f"counted {count.kind}", count.x, count.y, count.radius, count.words)
        for dot, y in self.placed.items():
            self._dot(shapes, dot, y, labels)
        for box in sorted(boxes, key=lambda one: (one.top, one.left)):
            self._value(box, labels)
        if self.name:
            shapes.text("label start", self.across.start + 4, self.top + 12, self.name)

    @cached_property
    def placed(self) -> dict[Dot, float]:
        """Each dot with its place upward."""
        return {dot: self.up.element(dot.element) + dot.down for dot in self.dots}

    @property
    def ideal(self) -> tuple[Point, Point] | None:
        """Where elements would be that arrive at once; None where that is not in the frame."""
        if not isinstance(self.up, ByTime):
            return None
        axis = self.up.axis
        first, last = max(self.across.first, axis.first), min(self.across.last, axis.last)
        if first >= last:
            return None
        return (self.across.at(first), axis.at(first)), (self.across.at(last), axis.at(last))

    @property
    def watermark(self) -> list[Point]:
        """Its line: a step for each move. From where it is not known on the left edge."""
        points: list[Point] = []
        x: float | None = None
        for one in self.picture.watermark:
            if one.watermark == MINUS_INFINITY:
                continue
            y, before, x = self.up.watermark(one), self.across.start if x is None else x, self.across.at(one.watermark)
            points += [(before, y), (x, y)]
        return points if x is None else [*points, (x, self.top)]

    def _grid(self, shapes: Shapes) -> None:
        for _, x in self.across.marks(room_of(self.across)):
            shapes.line("grid", x, self.top, x, self.bottom)
        for y in self.up.lines:
            shapes.line("grid", self.across.start, y, self.across.end, y)
        for label, y in self.up.marks:
            shapes.text("end", self.across.start - 6, y if isinstance(self.up, ByTick) else y + 4, label)
        shapes.line("frame", self.across.start, self.top, self.across.start, self.bottom)
        shapes.line("frame", self.across.start, self.bottom, self.across.end, self.bottom)

    def _density(self, shapes: Shapes) -> None:
        density = self.picture.density
        if density is None or not isinstance(self.up, ByTime):
            return
        most = log2(max(density.counts.values(), default=1) + 1)
        for kind, counts in (("many", density.counts), ("many-late", density.late)):
            for (column, row), number in sorted(counts.items()):
                left, right = (self.across.at(density.event_time_of(n)) for n in (column, column + 1))
                bottom, top = (self.up.axis.at(density.processing_time_of(n)) for n in (row, row + 1))
                shade = {"fill-opacity": f"{0.15 + 0.75 * log2(number + 1) / most:.2f}"}
                words = many(number, "element" if kind == "many" else "late element")
                shapes.rect(kind, left, top, right - left, bottom - top, words, **shade)

    def _open(self, shapes: Shapes) -> None:
        for window in open_windows(self.picture):
            left, right = self.across.at(window.start) + 1, self.across.at(window.end) - 1
            first = first_of(window, None, self.up, self.placed) or self.bottom
            shapes.rect("open", left, self.top + 1, right - left, first - self.top - 1, "open: no pane was shown")

    def _box(self, shapes: Shapes, box: Box) -> None:
        pane, width = box.pane, max(2.0, box.right - box.left)
        if pane.is_retraction and isinstance(self.up, ByTime):
            shapes.line("retracted", box.left, box.top, box.left + width, box.top)
            return
        kind = "retracted" if pane.is_retraction else f"box {pane.timing}"
        shapes.rect(kind, box.left, box.top, width, box.bottom - box.top, hint_of(box))

    def _lines(self, shapes: Shapes) -> None:
        if self.ideal is not None:
            shapes.path("ideal", self.ideal)
        if self.watermark:
            shapes.path("watermark", self.watermark)

    def _dot(self, shapes: Shapes, dot: Dot, y: float, labels: Labels) -> None:
        one = dot.element
        state = "dead" if one.is_dead else "behind" if one.is_late else ""
        words = "dead letter, " if one.is_dead else "late, " if one.is_late else ""
        hint = f"{words}event time {moment(one.event_time)}, arrived {moment(one.processing_time)}"
        labels.taken.append(dot.area(y))
        shapes.circle(f"{'element' if dot.is_inside else 'point'} {state}", dot.x, y, dot.radius, hint)
        if dot.is_inside:
            shapes.text("inside", dot.x, y + 4, one.label)
        elif one.label:
            side = -1 if dot.is_left else 1
            shapes.text("label end" if dot.is_left else "label start", dot.x + side * 7, y + 4, one.label)

    def _value(self, box: Box, labels: Labels) -> None:
        if not box.pane.is_retraction:
            labels.write("value", box, box.pane.value)
        elif box.pane.value:
            labels.write("minus", box, f"\N{MINUS SIGN}{box.pane.value}", isinstance(self.up, ByTime))


@dataclass(frozen=True)
class Counted:
    """A circle for panes at the same place: the more of them, the larger."""

    kind: str
    x: float
    y: float
    number: int

    @property
    def radius(self) -> float:
        return min(7.5, 2.6 + log2(self.number) * 0.45)

    @property
    def words(self) -> str:
        return f"{many(self.number, 'pane')} {self.kind.replace('_', ' ')}"


def counted(panes: Sequence[PaneCount], panel: Panel) -> list[Counted]:
    """Those at the same place of a grid together."""
    if not panes or not isinstance(panel.up, ByTime):
        return []
    across, up, numbers = panel.across, panel.up.axis, dict[tuple[str, int, int], int]()
    wide, high = (across.end - across.start) / _GRID[0], (up.end - up.start) / _GRID[1]
    for pane in panes:
        column, row = (
            round((across.at(pane.end) - across.start) / wide),
            round((up.at(pane.shown_at) - up.start) / high),
        )
        place = (pane.timing, column, row)
        numbers[place] = numbers.get(place, 0) + pane.number
    return [
        Counted(timing, across.start + column * wide, up.start + row * high, number)
        for (timing, column, row), number in numbers.items()
    ]


def room_of(axis: Axis) -> float:
    """How much a label of the axis needs."""
    return LETTER * (9 if axis.day is not None else 12) + 6


def hint_of(box: Box) -> str:
    """What is said of a pane to who points at it."""
    pane = box.pane
    words = "retracted" if pane.is_retraction else pane.timing.replace("_", " ")
    return f"{pane.value or 'a pane'}, {words}, shown {moment(pane.processing_time)}"
