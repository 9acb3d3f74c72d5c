"""What a stage keeps between its ticks: cells, and beside them what cells that are gone leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.elements import Row

CellKey = tuple[tuple[Any, ...], Window]
Cells = Mapping[CellKey, Cell]


@dataclass(frozen=True)
class State:
    """The state of a stage.

    `expired` are keys and bounds of sessions that have expired, as long as an element could still fall in one of them;
    `records` are the elements that record windows may still be made of. Neither is a cell: neither is ever evaluated.
    """

    cells: Cells = field(default_factory=dict)
    expired: frozenset[CellKey] = frozenset()
    records: tuple[Row, ...] = ()
