"""Processing time, upward: to scale, or a row for each tick where the clock does not tell ticks apart.

Within a tick elements come first, then the watermark moves, then panes are shown. In a row they stand in this order,
from the bottom to the top, so that an element is judged by the line left of or right of which it stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from windrow.view.pictures.axes import Axis
from windrow.view.pictures.dots import LEVEL, Dot
from windrow.view.pictures.shapes import width_of
from windrow.view.pictures.values import Element, Pane, Picture, WatermarkPoint

LANE = 18.0
"""How high the top of a box is that stands above others in a row."""
_LEAST = 20.0
_BELOW = 11.0
"""How far below the line of its tick a label stands that came in the moment of a firing."""
_GAP = 5.0


class Upward(Protocol):
    """Where things are upward; a larger number is further down."""

    def element(self, one: Element) -> float: ...

    def watermark(self, one: WatermarkPoint) -> float: ...

    def pane(self, one: Pane) -> float:
        """The top of its box."""

    def time(self, processing_time: int) -> float | None:
        """Where a processing time is; None where it is not to scale."""

    def is_before(self, one: Element, pane: Pane) -> bool:
        """Whether the element was there when the pane was shown."""

    @property
    def marks(self) -> list[tuple[str, float]]:
        """What is written at the axis."""

    @property
    def lines(self) -> list[float]:
        """Lines of the grid."""


@dataclass(frozen=True)
class ByTime:
    """To scale. Only an element with a label that came at a moment of `fired` stands below its time.

    Its label would be on the top of the box that was shown then.
    """

    axis: Axis
    fired: frozenset[int] = frozenset()

    def element(self, one: Element) -> float:
        is_below = bool(one.label) and one.processing_time in self.fired
        return self.axis.at(one.processing_time) + (_BELOW if is_below else 0.0)

    def watermark(self, one: WatermarkPoint) -> float:
        return self.axis.at(one.processing_time)

    def pane(self, one: Pane) -> float:
        return self.axis.at(one.processing_time)

    def time(self, processing_time: int) -> float | None:
        return self.axis.at(processing_time)

    def is_before(self, one: Element, pane: Pane) -> bool:
        return one.processing_time <= pane.processing_time

    @property
    def marks(self) -> list[tuple[str, float]]:
        return self.axis.marks(34)

    @property
    def lines(self) -> list[float]:
        return [y for _, y in self.marks]


@dataclass(frozen=True)
class Row:
    """A tick: its bottom, where its elements begin, its watermark, and its top."""

    bottom: float
    elements: float
    watermark: float
    top: float


@dataclass(frozen=True)
class ByTick:
    """A row for each tick, as high as what is in it needs."""

    rows: Mapping[int, Row]
    lanes: Mapping[Pane, int]

    def element(self, one: Element) -> float:
        return self.rows[one.tick or 0].elements

    def watermark(self, one: WatermarkPoint) -> float:
        return self.rows[one.tick or 0].watermark

    def pane(self, one: Pane) -> float:
        return self.rows[one.tick or 0].watermark - LANE * (1 + self.lanes[one]) + 1

    def time(self, processing_time: int) -> float | None:
        return None

    def is_before(self, one: Element, pane: Pane) -> bool:
        return (one.tick or 0) <= (pane.tick or 0)

    @property
    def marks(self) -> list[tuple[str, float]]:
        return [(str(tick), (row.top + row.bottom) / 2 + 4) for tick, row in self.rows.items()]

    @property
    def lines(self) -> list[float]:
        return [row.top for row in self.rows.values()]


def ticks_of(picture: Picture) -> list[int]:
    """The ticks, in order; each has a row, also where one key has nothing in it."""
    named = [one.tick for many in (picture.elements, picture.panes, picture.watermark) for one in many]
    return sorted({tick for tick in named if tick is not None})


def by_tick(picture: Picture, ticks: Sequence[int], dots: Sequence[Dot], across: Axis, bottom: float) -> ByTick:
    """Rows from the bottom up."""
    needed: dict[int, float] = defaultdict(float)
    for dot in dots:
        needed[dot.element.tick or 0] = max(needed[dot.element.tick or 0], dot.down + LEVEL)
    lanes = lanes_of(picture.panes, across)
    high: dict[int, int] = defaultdict(int)
    for pane, lane in lanes.items():
        high[pane.tick or 0] = max(high[pane.tick or 0], lane + 1)
    rows = {}
    for tick in ticks:
        watermark = bottom - max(needed[tick] + 2, 0 if high[tick] else _LEAST - _GAP)
        top = watermark - LANE * high[tick] - _GAP
        rows[tick] = Row(bottom, watermark + LEVEL / 2 + 1, watermark, top)
        bottom = top
    return ByTick(rows, lanes)


def lanes_of(panes: Sequence[Pane], across: Axis) -> dict[Pane, int]:
    """In which lane of its tick each pane stands: the lowest in which nothing is in its way, retractions below."""
    lanes: dict[Pane, int] = {}
    taken: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for pane in sorted(panes, key=lambda one: (one.tick or 0, not one.is_retraction, one.start, one.end)):
        left, right = extent_of(pane, across)
        lane = 0
        while any(left < end and start < right for start, end in taken[pane.tick or 0, lane]):
            lane += 1
        taken[pane.tick or 0, lane].append((left, right))
        lanes[pane] = lane
    return lanes


def extent_of(pane: Pane, across: Axis) -> tuple[float, float]:
    """From the left to the right of a pane with its label."""
    left, right = across.at(pane.start), across.at(pane.end)
    half, middle = width_of(pane.value) / 2 + 4, (left + right) / 2
    return min(left, middle - half), max(right, middle + half)
