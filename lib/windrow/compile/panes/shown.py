"""How the panes of cells are shown: as they are emitted, or by a transformation behind emission.

Cells, triggers and accumulation know nothing of it; the journal, its tables and batches see only what it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from windrow.compile.cells.cell import CellColumns
from windrow.compile.panes.joins import JoinedPanes
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, array
from windrow.spec.stages.stage import Stage

OnePane = Callable[[Mapping[str, Column]], Column]
"""A pane with a result of these columns."""


class ShownPanes(Protocol):
    """What becomes of the panes of cells, and of the values of windows that a batch computes."""

    @property
    def stage(self) -> Stage:
        """The stage as its users know it, with the keys and results of its tables."""

    @property
    def result_type(self) -> str:
        """The Spark type of the result of a pane in the journal."""

    @property
    def values(self) -> tuple[str, ...]:
        """The names of what a window has in a batch, in columns `v_`; batch and tables are compared by them."""

    @property
    def gathered(self) -> Mapping[str, Column]:
        """The `v_` columns of a window over its rows in `current`, where it has several; else nothing."""

    def of_transitions(self, transitions: Chain) -> Chain:
        """Transitions with the panes that are shown in `panes`, of those with the panes of cells."""

    def of_windows(self, windows: Chain) -> Chain:
        """The windows of a batch that show something, with `values`, of those with the aggregates of cells."""

    def inserted(self, window: Column, pane: OnePane) -> Column:
        """The panes of a window in an array, of the struct of its `values`."""

    def rows(self, windows: Chain) -> Chain:
        """The windows of a batch as rows of the tables, with the results in columns `v_`."""


@dataclass(frozen=True)
class EmittedPanes:
    """Panes are shown as they are emitted: one row each, with the aggregates."""

    stage: Stage
    result_type: str

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.stage.aggregates)

    @property
    def gathered(self) -> Mapping[str, Column]:
        return {}

    def of_transitions(self, transitions: Chain) -> Chain:
        return transitions

    def of_windows(self, windows: Chain) -> Chain:
        return windows

    def inserted(self, window: Column, pane: OnePane) -> Column:
        return array(pane({name: window.field(name) for name in self.values}))

    def rows(self, windows: Chain) -> Chain:
        return windows


def shown_panes(stage: Stage, cells: CellColumns) -> ShownPanes:
    """How the panes of the cells of a stage are shown."""
    return EmittedPanes(stage, cells.result_type) if stage.join is None else JoinedPanes(stage, cells.value_types)
