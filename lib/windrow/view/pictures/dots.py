"""Elements as dots that do not lie on each other: those that arrived together stand in levels, from the top down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windrow.view.pictures.axes import Axis
from windrow.view.pictures.shapes import width_of
from windrow.view.pictures.values import Element

LARGE, SMALL = 9.0, 4.0
"""The radius of a dot with its label inside, and of one without, or with it beside."""
LEVEL = 19.0
"""From one level to the next, where labels are inside of the dots."""
LINE = 13.0
"""And where they are beside them: a line of text."""
_MOST_LEVELS = 8
_MOST_APART = 60
"""More dots than these are not kept from lying on each other, unless they have labels."""


@dataclass(frozen=True)
class Area:
    """A rectangle that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> float:
        """By how much, in units of the drawing squared."""
        across = min(self.right, other.right) - max(self.left, other.left)
        up = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, up)

    def moved(self, down: float) -> Area:
        return Area(self.left, self.top + down, self.right, self.bottom + down)


@dataclass(frozen=True)
class Dot:
    """An element at a place across and in a level; its label is inside, or on one side."""

    element: Element
    x: float
    level: int
    is_left: bool = False

    @property
    def radius(self) -> float:
        return radius_of(self.element)

    @property
    def is_inside(self) -> bool:
        return self.radius == LARGE

    @property
    def down(self) -> float:
        """How far its level moves it."""
        return self.level * step_of(self.element)

    def area(self, y: float) -> Area:
        return _area(self.element, self.x, y, self.is_left)


def step_of(element: Element) -> float:
    """From one level to the next for an element."""
    return LEVEL if radius_of(element) == LARGE else LINE


def radius_of(element: Element) -> float:
    """A label of one or two letters is inside of its dot."""
    return LARGE if 0 < len(element.label) <= 2 else SMALL


def dots_of(
    elements: Sequence[Element], across: Axis, up: Callable[[Element], float], to_scale: bool = False
) -> list[Dot]:
    """Each element in the first level in which nothing is in its way. `up` says where it is but for the level.

    `to_scale`: upward is time. Then only a dot with a label moves, as it could not be read otherwise.
    """
    dots: list[Dot] = []
    taken: list[Area] = []
    for element in sorted(elements, key=lambda one: (one.processing_time, one.event_time, one.label)):
        x, y = across.at(element.event_time), up(element)
        if not element.label and (to_scale or len(elements) > _MOST_APART):
            dots.append(Dot(element, x, 0))
            continue
        is_left = x + _beside(element) > across.end + 14 and x - _beside(element) > across.start
        area = _area(element, x, y, is_left)
        moved = [area.moved(level * step_of(element)) for level in range(_MOST_LEVELS)]
        level = next((n for n, at in enumerate(moved) if not any(at.overlaps(one) for one in taken)), 0)
        taken.append(moved[level])
        dots.append(Dot(element, x, level, is_left))
    return dots


def _beside(element: Element) -> float:
    """How far the label of an element reaches, from its middle on."""
    return SMALL + 3 + width_of(element.label)


def _area(element: Element, x: float, y: float, is_left: bool) -> Area:
    radius = radius_of(element)
    beside = _beside(element) if radius == SMALL and element.label else radius
    left, right = (beside, radius) if is_left else (radius, beside)
    half = LINE / 2 if beside > radius else radius
    return Area(x - left, y - half, x + right, y + half)
