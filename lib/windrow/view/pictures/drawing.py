"""A picture as SVG that needs nothing else: no network, no script, no font. It is light or dark as the screen is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from windrow.view.pictures.axes import Axis, finite, spread
from windrow.view.pictures.density import condensed
from windrow.view.pictures.dots import dots_of
from windrow.view.pictures.panel import Panel, room_of
from windrow.view.pictures.shapes import LETTER, Shapes, shortened, width_of
from windrow.view.pictures.upward import ByTime, by_tick, ticks_of
from windrow.view.pictures.values import Picture
from windrow.view.pictures.words import description_of

WIDTH = 480
"""How wide a drawing is by itself: it can be read where it is shown on 400 pixels, and beside another."""
MOST_KEYS = 6
"""Keys that have a panel of their own; those behind them are not drawn."""
_RIGHT, _LINE, _GAP = 16.0, 18.0, 14.0
_HIGH = {1: 330.0, 2: 230.0, 3: 190.0}


def svg(picture: Picture, width: int = WIDTH, heading: bool = True, is_inline: bool = False) -> str:
    """The picture as SVG text, `width` units wide; `heading` writes its title into it.

    `is_inline`: it stands in a page of HTML, and is no file of its own.
    """
    return str(_Layout(picture, float(width), heading).drawn(is_inline))


@dataclass(frozen=True)
class _Layout:
    picture: Picture
    width: float
    heading: bool

    def drawn(self, is_inline: bool) -> Shapes:
        panels, bottom = self._panels()
        words = description_of(self.picture)
        shapes = Shapes(self.width, round(bottom + 38), self.picture.title, words, is_inline)
        if self.heading:
            shapes.text("title start", 8, 17, shortened(self.picture.title, self.width - 16))
        for kind, words, x, y in self._legend:
            _key(shapes, kind, x, y)
            shapes.text("start", x + 17, y, words)
        shapes.text("start", 8, self._top - 7, self._upward)
        for panel in panels:
            panel.draw(shapes)
        for label, x in self.across.marks(room_of(self.across)):
            shapes.text("", min(x, self.width - width_of(label) / 2), bottom + 16, label)
        shapes.text("end", self.across.end, bottom + 32, f"event time{self.across.words}")
        if self._undrawn:
            shapes.text("start", 8, bottom + 32, f"and {self._undrawn:,} more keys")
        return shapes

    @cached_property
    def across(self) -> Axis:
        return Axis(*self._event_times, self._left, self.width - _RIGHT)

    @cached_property
    def _event_times(self) -> tuple[int, int]:
        picture = self.picture
        times = [one.event_time for one in picture.elements] + [one.end for one in picture.pane_counts]
        bounds = [bound for pane in picture.panes for bound in (pane.start, pane.end)]
        bounds += [bound for window in picture.windows for bound in (window.start, window.end)]
        times += bounds
        times += [] if picture.density is None else picture.density.event_times
        if not finite(bounds) and not picture.pane_counts:
            times += [one.watermark for one in picture.watermark]
        return spread(times, 0.04)

    @cached_property
    def _times(self) -> tuple[int, int]:
        """Of the axis upward: that of what is drawn, and of the watermark while it passes."""
        picture = self.picture
        times = [one.processing_time for one in picture.elements] + [pane.processing_time for pane in picture.panes]
        times += [one.shown_at for one in picture.pane_counts]
        times += [] if picture.density is None else picture.density.processing_times
        first, last = self._event_times
        inside = [one for one in picture.watermark if not picture.pane_counts or first <= one.watermark <= last]
        times += [one.processing_time for one in inside]
        return spread(times, 0.09)

    @property
    def _left(self) -> float:
        """As much as the labels of the axis upward need."""
        if self.picture.by_tick:
            return 34.0
        return 16 + LETTER * max([len(label) for label, _ in Axis(*self._times, 0, 300).marks(34)] or [5])

    @property
    def _keys(self) -> Sequence[str]:
        return self.picture.keys[:MOST_KEYS]

    @property
    def _undrawn(self) -> int:
        return len(self.picture.keys) - len(self._keys)

    @property
    def _upward(self) -> str:
        if self.picture.by_tick:
            return "tick, upward"
        return f"processing time{Axis(*self._times, 0, 1).words}, upward"

    @cached_property
    def _legend(self) -> list[tuple[str, str, float, float]]:
        """What the colours and lines say, as far as there are such: kind, words, and where, from left to right."""
        picture = self.picture
        timings = {pane.timing for pane in picture.panes if not pane.is_retraction}
        timings |= {count.timing for count in picture.pane_counts}
        found = [(f"box {name}", name.replace("_", " ")) for name in ("early", "on_time", "late") if name in timings]
        found += [("retracted", "retracted")] if any(pane.is_retraction for pane in picture.panes) else []
        found += [("watermark", "watermark")] if picture.watermark else []
        found += [] if picture.by_tick or not self._has_ideal else [("ideal", "no delay")]
        late = any(one.is_late for one in picture.elements) or bool(picture.density and picture.density.late)
        found += [("element behind", "late element")] if late else []
        found += [("element dead", "dead letter")] if any(one.is_dead for one in picture.elements) else []
        placed, x, y = [], 8.0, 36.0 if self.heading else 16.0
        for kind, words in found:
            if x > 8 and x + 22 + width_of(words) > self.width:
                x, y = 8.0, y + _LINE
            placed.append((kind, words, x, y))
            x += 30 + width_of(words)
        return placed

    @property
    def _has_ideal(self) -> bool:
        return max(self._event_times[0], self._times[0]) < min(self._event_times[1], self._times[1])

    @property
    def _top(self) -> float:
        last = self._legend[-1][3] if self._legend else (18.0 if self.heading else 0.0)
        return last + 30

    def _panels(self) -> tuple[list[Panel], float]:
        """One for each key, from the top down, and where the last one ends."""
        panels: list[Panel] = []
        top = self._top
        for key in self._keys:
            own = condensed(self.picture.of_key(key))
            name = key if len(self.picture.keys) > 1 else ""
            panel = self._rows(own, top, name) if own.by_tick else self._to_scale(own, top, name)
            panels.append(panel)
            top = panel.bottom + _GAP
        return panels, top - _GAP

    def _rows(self, own: Picture, top: float, name: str) -> Panel:
        """As high as its ticks need; a name has a line of its own."""
        dots = dots_of(own.elements, self.across, lambda one: 1000.0 * (one.tick or 0))
        rows = by_tick(own, ticks_of(self.picture), dots, self.across, 0.0)
        high = -min((row.top for row in rows.rows.values()), default=0.0) + (16 if name else 4)
        placed = by_tick(own, ticks_of(self.picture), dots, self.across, top + high)
        return Panel(own, self.across, placed, dots, top, top + high, name)

    def _to_scale(self, own: Picture, top: float, name: str) -> Panel:
        high = _HIGH.get(len(self._keys), 170.0)
        up = ByTime(Axis(*self._times, top + high, top), frozenset(pane.processing_time for pane in own.panes))
        dots = dots_of(own.elements, self.across, up.element, to_scale=True)
        return Panel(own, self.across, up, dots, top, top + high, name)


def _key(shapes: Shapes, kind: str, x: float, y: float) -> None:
    """A sample of it."""
    if kind in ("watermark", "ideal"):
        shapes.line(kind, x, y - 4, x + 13, y - 4)
    elif kind.startswith("element"):
        shapes.circle(kind, x + 6, y - 4, 5)
    else:
        shapes.rect(kind, x, y - 10, 13, 12)
