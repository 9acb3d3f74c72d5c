"""A watermark against arrival: panes stand at the end of their windows and when they were shown, over the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.view.pictures.values import Density, PaneCount, Picture, WatermarkPoint

MOST = 400
"""Points of a line at most."""

Point = tuple[int, int]
"""An event time and a processing time, in microseconds."""


def against_arrival(
    title: str, watermark: Sequence[Point], panes: Sequence[PaneCount], density: Density | None
) -> Picture:
    """The picture; the watermark is in the order of processing time."""
    points = [WatermarkPoint(at, time) for time, at in watermark]
    return Picture(title, watermark=points, density=density, pane_counts=panes)


def around(watermark: Iterable[Point], first: int, last: int) -> list[Point]:
    """The watermark while it is between the two times, with the last point before and the first behind."""
    known = [(time, at) for time, at in watermark if MINUS_INFINITY < time < INFINITY]
    before = [point for point in known if point[0] < first][-1:]
    behind = [point for point in known if point[0] > last][:1]
    return [*before, *(point for point in known if first <= point[0] <= last), *behind]


def thinned(points: list[Point]) -> list[Point]:
    """At most `MOST` of them, and the last."""
    every = max(1, -(-len(points) // MOST))
    return points if every == 1 else [*points[::every], points[-1]]
