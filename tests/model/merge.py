"""Merging: sessions of a key that overlap become one, and their cells one cell. Rule: docs/semantics.md#sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.clock import Clock
from tests.model.elements import Row
from tests.model.moments import expiry, moment_of
from tests.model.panes import Pane
from tests.model.state import CellKey
from tests.model.trigger_leaves import Moment
from tests.model.triggers import build
from tests.model.typed_stage import TypedStage
from windrow.spec.times import INFINITY, saturating_add
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.sessions import Sessions

Rows = Mapping[CellKey, list[Row]]


def meets(function: WindowFunction, one: Window, other: Window) -> bool:
    """Whether two windows of a key are one: they are the same, or they merge, by an overlap or by a touch."""
    if not function.MERGES:
        return one == other
    if isinstance(function, Sessions) and function.merge_touching:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def groups(function: WindowFunction, windows: Iterable[Window]) -> list[list[Window]]:
    """The windows of a key, those together that meet, also by way of others; in order."""
    found: list[list[Window]] = []
    if hasattr(function, "merged_at"):
        return _by_function(function, sorted(set(windows)))
    for window in sorted(set(windows)):
        if found and meets(function, span(found[-1]), window):
            found[-1].append(window)
        else:
            found.append([window])
    return found


def _by_function(function: Any, windows: list[Window]) -> list[list[Window]]:
    """As a class of a user's own says: those that are in one of the windows that it gives."""
    found: dict[Window, list[Window]] = {}
    joined = [Window(*bounds) for bounds in function.merged_at(windows)]
    for window in windows:
        held = [one for one in joined if one.start <= window.start and window.end <= one.end]
        found.setdefault(held[0] if held else window, []).append(window)
    return list(found.values())


def span(windows: Sequence[Window]) -> Window:
    return Window(min(window.start for window in windows), max(window.end for window in windows))


def merge(typed: TypedStage, cells: dict[CellKey, Cell], rows: Rows, clock: Clock) -> dict[CellKey, list[Row]]:
    """Merge the open cells of each key with the tick's proto-windows; which elements each of the windows gets.

    A group of the bounds of one of its cells is that cell, carried on. Any other is a new cell, and its parts, the open
    cells in the group, are gone. A closed cell has no part in it: it neither merges nor grows.
    """
    merged: dict[CellKey, list[Row]] = {}
    for key in dict.fromkeys(key for key, _ in rows):
        protos = [window for of, window in rows if of == key]
        is_open = [window for (of, window), cell in cells.items() if of == key and not cell.is_closed]
        for group in groups(typed.stage.window, protos + is_open):
            window = span(group)
            if window not in is_open:
                parts = [cells.pop((key, part)) for part in group if part in is_open]
                cells[key, window] = merged_cell(typed, parts, moment_of(typed, window, clock))
            added = [row for proto in group if proto in protos for row in rows[key, proto]]
            if added:
                merged[key, window] = added
    return merged


def merged_cell(typed: TypedStage, parts: Sequence[Cell], moment: Moment) -> Cell:
    """The cell of a new window: what its parts had together, and no pane of its own yet."""
    trigger = build(typed.stage.trigger)
    if parts:
        trigger.on_merge([part.trigger for part in parts], moment)
    return Cell(
        trigger,
        rows=[row for part in parts for row in part.rows],
        new=sum(part.new for part in parts),
        since=min((part.since for part in parts), default=INFINITY),
        times=[time for part in parts for time in part.times],
        superseded=superseded(parts),
    )


def superseded(parts: Sequence[Cell]) -> list[Pane]:
    """The panes that the merged cell retracts: the last one of every part that has one standing, and what those parts
    had not retracted themselves.
    """
    standing = [part.last_pane for part in parts if part.last_pane is not None]
    handed_on = [pane for part in parts for pane in part.superseded]
    return sorted([*standing, *handed_on], key=lambda pane: pane.window)


def remembered(typed: TypedStage, expired: Iterable[CellKey], clock: Clock) -> frozenset[CellKey]:
    """Of sessions that have expired, those that an element could still fall in without being late by itself."""
    function: Any = typed.stage.window
    if not function.MERGES:
        return frozenset()
    longest = function.longest_gap if isinstance(function, Sessions) else function.longest
    return frozenset(
        (key, window)
        for key, window in expired
        if clock.watermark_after < saturating_add(expiry(typed, window), longest)
    )
