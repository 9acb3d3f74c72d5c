"""Windows as boxes: each pane closes one at its top, over the elements that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.view.pictures.axes import Axis
from windrow.view.pictures.dots import Dot
from windrow.view.pictures.upward import LANE, Upward
from windrow.view.pictures.values import Density, Pane, Picture, Window


@dataclass(frozen=True)
class Box:
    """A pane over its window, from the first element that it holds to when it was shown."""

    pane: Pane
    left: float
    top: float
    right: float
    bottom: float

    @property
    def size(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


def boxes_of(picture: Picture, across: Axis, up: Upward, dots: Mapping[Dot, float]) -> list[Box]:
    """The largest first, so that earlier panes lie on those that hold more. `dots` have their places upward."""
    last: dict[Window, float] = {}
    boxes = []
    for pane in sorted(picture.panes, key=up.pane, reverse=True):
        top = up.pane(pane)
        if pane.is_retraction:
            bottom = top + LANE - 3
        elif picture.clears and pane.window in last:
            bottom = last[pane.window] - 2
        else:
            first = first_of(pane.window, pane, up, dots) or first_counted(picture.density, pane.window, up)
            bottom = max(first or 0.0, top + LANE - 3)
        boxes.append(Box(pane, across.at(pane.start) + 1, top, across.at(pane.end) - 1, bottom))
        if not pane.is_retraction:
            last[pane.window] = top
    return sorted(boxes, key=lambda box: -box.size)


def first_of(window: Window, until: Pane | None, up: Upward, dots: Mapping[Dot, float]) -> float | None:
    """Below the first element of a window that a pane holds; None where none of its elements is known."""
    inside = [
        y + dot.radius + 3
        for dot, y in dots.items()
        if window.start <= dot.element.event_time < window.end
        and not dot.element.is_dead
        and (until is None or up.is_before(dot.element, until))
    ]
    return max(inside, default=None)


def first_counted(density: Density | None, window: Window, up: Upward) -> float | None:
    """Below the first place of a density where elements of a window are; None where there is no such."""
    if density is None:
        return None
    rows = [row for column, row in density.counts if window.start <= density.event_time_of(column + 0.5) < window.end]
    return None if not rows else up.time(density.processing_time_of(min(rows)))


def open_windows(picture: Picture) -> Sequence[Window]:
    """Those of which no pane was shown."""
    shown = {pane.window for pane in picture.panes}
    return [window for window in picture.windows if window not in shown]
