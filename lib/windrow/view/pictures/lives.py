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
    @property
    def is_late(self) -> bool: ...


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


def picture_of(life: Life, clears: bool = False) -> Picture:
    """Its picture. Elements stand where they arrived; without that time, at the processing time of their tick.

    `clears`: the stage discards what it has shown. Panes of a batch before any stream have no processing time, and are
    not drawn.
    """
    bounds = [] if life.window is None else [life.window]
    windows = dict.fromkeys([*bounds, *(pane.window for pane in life.panes)])
    key = ", ".join(f"{name} {plain(value)}" for name, value in life.key.items())
    when = "" if life.window is None else window_words(*life.window)
    return Picture(
        " ".join(filter(None, [f"{life.stage}:" if key or when else life.stage, ", ".join(filter(None, [key, when]))])),
        elements=list(filter(None, map(_element, life.elements))),
        watermark=[WatermarkPoint(one.processing_time, one.watermark, one.tick) for one in life.watermarks],
        windows=[Window(start, end) for start, end in windows],
        panes=list(filter(None, map(_pane, life.panes))),
        clears=clears,
    )


def _element(one: OneElement) -> Element | None:
    arrived = one.processing_time if one.arrival_time is None else one.arrival_time
    if one.event_time is None or arrived is None or one.place in NOT_DRAWN:
        return None
    is_dead = one.place not in IN_RESULT
    return Element(one.event_time, arrived, one.tick, one.is_late and not is_dead, one.label, is_dead)


def _pane(one: OnePane) -> Pane | None:
    if one.processing_time is None:
        return None
    values = list(one.value.items())
    words = plain(values[0][1]) if len(values) == 1 else ", ".join(f"{name} {plain(value)}" for name, value in values)
    start, end = one.window
    return Pane(start, end, one.processing_time, one.tick, one.timing, words, one.is_retraction)
