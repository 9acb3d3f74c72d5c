"""The current table: what remains of the panes.

Rules: docs/semantics.md#accumulation-and-changes, docs/tables.md#current.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.model.assign import Window
from tests.model.panes import INSERT, UPDATE_POSTIMAGE, Pane

RowKey = tuple[tuple[Any, ...], Window, int]
"""Key, window, and for a discarding stage the index of the pane, else 0."""


def apply(table: dict[RowKey, Pane], panes: Iterable[Pane], discarding: bool = False) -> dict[RowKey, Pane]:
    """The table after the panes of a tick: one row per key and window, and where panes may clear one per pane."""
    table = dict(table)
    for pane in panes:
        if discarding and pane.change == UPDATE_POSTIMAGE:
            table.pop((pane.key, pane.window, pane.index - 1), None)
        row = (pane.key, pane.window, pane.index if discarding else 0)
        if pane.change in (INSERT, UPDATE_POSTIMAGE):
            table[row] = pane
        elif row in table and table[row].index == pane.index:
            del table[row]
    return table


def current(panes: Iterable[Pane], discarding: bool = False) -> dict[RowKey, Pane]:
    """The table that all panes of a run leave."""
    return apply({}, panes, discarding)


def results(panes: Iterable[Pane]) -> dict[tuple[tuple[Any, ...], Window], Any]:
    """What a stream and a batch agree on: the aggregates of every key and window."""
    return {(pane.key, pane.window): dict(pane.aggregates) for pane in current(panes).values()}
