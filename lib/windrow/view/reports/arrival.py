"""The figure of a stage's watermark against arrival, and its plots over days, for a page.

A pane stands at the end of its window and at the time at which it was shown; the ground is where rows have arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from windrow.spec.times import DAY, HOUR, MINUTE, SECOND
from windrow.view.pictures.against_arrival import Point, against_arrival
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.plot import Plot, plot_svg
from windrow.view.pictures.values import Density, PaneCount, Picture

WIDTHS = (
    SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY,
    14 * DAY, 30 * DAY, 365 * DAY,
)  # fmt: skip
"""Widths of the bars of a chart over time, in microseconds."""
SCREENS = {"wide": 720, "narrow": 360}
"""How wide a drawing is, by the class of the screens that show it."""


@dataclass(frozen=True)
class Arrival:
    """What the figure of one stage shows; the watermark is in the order of processing time."""

    stage: str
    watermark: Sequence[Point]
    panes: Sequence[PaneCount]
    density: Density | None = None

    @property
    def picture(self) -> Picture:
        return against_arrival(f"Watermark of {self.stage} against arrival", self.watermark, self.panes, self.density)

    @property
    def drawings(self) -> list[tuple[str, Markup]]:
        """By the class of the screens that show it."""
        return [(screen, Markup(svg(self.picture, width, False, True))) for screen, width in SCREENS.items()]


@dataclass(frozen=True)
class OverDays:
    """Plots of a stage over time."""

    stage: str
    plots: Sequence[Plot]

    @property
    def drawings(self) -> list[Markup]:
        """Each as wide as half of a desk, or as a phone."""
        return [Markup(plot_svg(plot, is_inline=True)) for plot in self.plots]
