"""A picture in words, for who cannot see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from windrow.spec.times import MINUS_INFINITY
from windrow.view.pictures.values import Pane, Picture
from windrow.view.text.times import many, moment, window

_MOST = 12
"""More panes than these are only counted."""


def description_of(picture: Picture) -> str:
    """What the picture shows, in sentences."""
    return " ".join(_sentences(picture))


def _sentences(picture: Picture) -> Iterator[str]:
    up = "the ticks, one row each" if picture.by_tick else "processing time"
    yield f"Event time runs across, {up} upward."
    yield from _elements(picture)
    known = [one for one in picture.watermark if one.watermark != MINUS_INFINITY]
    if known:
        when = f"tick {known[-1].tick}" if picture.by_tick else moment(known[-1].processing_time)
        yield f"The watermark reached {moment(known[-1].watermark)} at {when}."
    yield from _panes(picture)
    if picture.note:
        yield picture.note


def _elements(picture: Picture) -> Iterator[str]:
    number, late = len(picture.elements), sum(one.is_late for one in picture.elements)
    dead = sum(one.is_dead for one in picture.elements)
    if picture.density is not None:
        number, late = number + picture.density.number, late + sum(picture.density.late.values())
    if number:
        states = [f"{late:,} late" if late else "", f"{dead:,} dead" if dead else ""]
        yield ", ".join([many(number, "element"), *filter(None, states)]) + "."


def _panes(picture: Picture) -> Iterator[str]:
    by_timing = Counter[str](pane.timing for pane in picture.panes if not pane.is_retraction)
    for count in picture.pane_counts:
        by_timing[count.timing] += count.number
    if not by_timing:
        return
    kinds = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in by_timing.items())
    retracted = sum(pane.is_retraction for pane in picture.panes)
    yield f"{many(sum(by_timing.values()), 'pane')}: {kinds}{f'; {retracted:,} retracted' if retracted else ''}."
    if 0 < len(picture.panes) <= _MOST:
        yield "; ".join(_pane(picture, pane) for pane in picture.panes) + "."


def _pane(picture: Picture, pane: Pane) -> str:
    when = f"tick {pane.tick}" if picture.by_tick else moment(pane.processing_time)
    words = "retracted" if pane.is_retraction else pane.timing.replace("_", " ")
    key = f"{pane.key}, " if pane.key else ""
    return f"{key}{window(pane.start, pane.end)}: {pane.value or 'a pane'} {words} at {when}"
