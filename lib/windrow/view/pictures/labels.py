"""The values of panes, written where nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from windrow.view.pictures.boxes import Box
from windrow.view.pictures.dots import LINE, Area
from windrow.view.pictures.shapes import Shapes, shortened, width_of

_ABOVE = 4.0


@dataclass
class Labels:
    """The places that are taken, on a drawing between two edges."""

    shapes: Shapes
    left: float
    right: float
    taken: list[Area] = field(default_factory=list)

    def write(self, kind: str, box: Box, text: str, is_above: bool = False) -> None:
        """Write the text at the top of a box, or above it: at the first place that is free, or that is least taken."""
        if not text:
            return
        text = shortened(text, self.right - self.left)
        half = width_of(text) / 2 + 2
        places = list(self._places(box, half, is_above))
        x, y = min(
            places, key=lambda place: (round(self._taken(_area(place[0], place[1], half)), 1), places.index(place))
        )
        self.taken.append(_area(x, y, half))
        self.shapes.text(kind, x, y, text)

    def _places(self, box: Box, half: float, is_above: bool) -> Iterator[tuple[float, float]]:
        first = 11.5 if box.pane.is_retraction else LINE
        rows = [box.top - _ABOVE] if is_above else [box.top + first]
        if not is_above:
            rows += [y for y in (box.top + 2 * LINE, box.top + 3 * LINE) if y <= box.bottom]
        for y in rows:
            for x in ((box.left + box.right) / 2, box.right - half - 3, box.left + half + 3):
                yield min(max(x, self.left + half), self.right - half), y

    def _taken(self, area: Area) -> float:
        return sum(area.overlaps(one) for one in self.taken)


def _area(x: float, y: float, half: float) -> Area:
    return Area(x - half, y - 10, x + half, y + 3)
