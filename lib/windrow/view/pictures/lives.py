"""The life of one window of one key as a picture: what is known of its elements, its watermark and its panes.

Anything that has these fields can be drawn; times are microseconds, and None where nobody knows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from windrow.view.pictures.transcripts import plain
from windrow.view.pictures.values import Element, Pane, Picture, WatermarkPoint, Window
from windrow.view.text.times import window as window_words

IN_RESULT = ("in the result", "counted by a backfill")
"""The places of elements that count; an element at any other place is in no result."""
_LONGEST = 8
"""Letters of what an element brings that are written beside it: what it brings to several results is in the table."""
NOT_DRAWN = ("filtered", "not read yet")
"""Those that never met the window."""


class OneElement(Protocol):
    """A row of the key. `place` says what became of it."""

    @property
    def event_time(self) -> int | None: ...
    @property
    def arrival_time(self) -> int | None: ...
    @property
    def processing_time(self) -> int | None: ...
    @property
    def tick(self) -> int | None: ...
    @property
    def place(self) -> str: ...
    @property
    def label(self) -> str: ...


class OnePane(Protocol):
    """A pane, or the retraction of one."""

    @property
    def tick(self) -> int: ...
    @property
    def processing_time(self) -> int | None: ...
    @property
    def timing(self) -> str: ...
    @property
    def window(self) -> tuple[int, int]: ...
    @property
    def value(self) -> Mapping[str, Any]: ...
    @property
    def is_retraction(self) -> bool: ...


class OnePoint(Protocol):
    """The watermark after a tick."""

    @property
    def processing_time(self) -> int: ...
    @property
    def watermark(self) -> int: ...
    @property
    def tick(self) -> int: ...


class Life(Protocol):
    """What is known of a window."""

    @property
    def stage(self) -> str: ...
    @property
    def key(self) -> Mapping[str, Any]: ...
    @property
    def window(self) -> tuple[int, int] | None: ...
    @property
    def elements(self) -> Sequence[OneElement]: ...
    @property
    def panes(self) -> Sequence[OnePane]: ...
    @property
    def watermarks(self) -> Sequence[OnePoint]: ...
    @property
    def clears(self) -> bool:
        """Whether the stage discards what it has shown."""


def picture_of(life: Life) -> Picture:
    """Its picture. Elements stand where they arrived; without that time, at the processing time of their tick.

    An element is late if the watermark before its tick is ahead of it. Panes without a processing time are
    not drawn.
    """
    bounds = [] if life.window is None else [life.window]
    windows = dict.fromkeys([*bounds, *(pane.window for pane in life.panes)])
    key = ", ".join(f"{name} {plain(value)}" for name, value in life.key.items())
    when = "" if life.window is None else window_words(*life.window)
    return Picture(
        " ".join(filter(None, [f"{life.stage}:" if key or when else life.stage, ", ".join(filter(None, [key, when]))])),
        elements=list(filter(None, (_element(one, life.watermarks) for one in life.elements))),
        watermark=[WatermarkPoint(one.processing_time, one.watermark, one.tick) for one in life.watermarks],
        windows=[Window(start, end) for start, end in windows],
        panes=list(filter(None, map(_pane, life.panes))),
        clears=life.clears,
    )


def _element(one: OneElement, watermarks: Sequence[OnePoint]) -> Element | None:
    arrived = one.processing_time if one.arrival_time is None else one.arrival_time
    if one.event_time is None or arrived is None or one.place in NOT_DRAWN:
        return None
    is_dead = one.place not in IN_RESULT
    label = one.label if len(one.label) <= _LONGEST else ""
    met = max((point.watermark for point in watermarks if one.tick is not None and point.tick < one.tick), default=None)
    is_late = not is_dead and met is not None and one.event_time < met
    return Element(one.event_time, arrived, one.tick, is_late, label, is_dead)


def _pane(one: OnePane) -> Pane | None:
    if one.processing_time is None:
        return None
    (name, value), *others = one.value.items()
    words = f"{name} {plain(value)}" if others else plain(value)
    start, end = one.window
    return Pane(start, end, one.processing_time, one.tick, one.timing, words, one.is_retraction)
