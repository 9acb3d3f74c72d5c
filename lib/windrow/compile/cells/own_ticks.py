"""What a tick does to cells of which each is at a tick of its own: the phases of a cell over clocks that are columns.

Rules: docs/semantics.md#ticks, docs/semantics.md#triggers.

A cell's ticks depend on nothing but its elements and the clocks, so many cells can go through theirs at once, wherever
each of them is. Aggregates are left out: what matters is when a cell shows something, and how many of its elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import CELL, ELEMENTS, EXPIRED, NET, WINDOW_END
from windrow.compile.panes.panes import EXPIRY
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, Value, bigint, case, coalesce, col, least, saturating_add, when
from windrow.compile.triggers.clocks import WATERMARK, OwnClock, TickClock
from windrow.compile.triggers.leaves import DeadlineNode
from windrow.spec.stages.stage import PaneTime

CELL_ID = "cell"
"""What tells a cell from the others: a number."""
TICK = "tick"
SO_FAR = "so_far"
"""The elements that a cell has taken so far."""
CARRIED = (CELL_ID, TICK, "touch", "next_tick")
"""The columns that go through a step as they are: which cell, at which tick, behind which of its touches."""
SHOWS, RETRACTS, REPLACES = "shows", "retracts", "replaces"
TIMING, INDEX, IS_LAST, LEAF = "timing", "pane_index", "is_last", "leaf"
SHUT_OUT, IS_EXPIRED = "shut_out", "is_expired"
FACTS = (SHOWS, RETRACTS, REPLACES, TIMING, INDEX, IS_LAST, LEAF, SHUT_OUT, IS_EXPIRED)
"""What a step says of a cell: whether it shows a pane, takes one back or replaces one; which pane; how many elements
came when it was closed; whether it has expired."""


def of_state(name: str) -> str:
    """The column of a field of the state between two steps."""
    return f"s_{name}"


@dataclass(frozen=True)
class OwnTicks:
    """The cells of a stage, each at a tick of its own."""

    cells: LifeColumns

    @classmethod
    def of(cls, cells: CellColumns) -> OwnTicks:
        """Of the cells of a stage whose panes do not depend on values."""
        stage = replace(cells.stage, having=None, only_if_changed=False, event_time=PaneTime.END_OF_WINDOW)
        return cls(LifeColumns(stage, {}, cells.tree, cells.part_types, {}, cells.is_weighted))

    @property
    def added(self) -> tuple[str, ...]:
        """The columns of what a cell gets in a tick."""
        counts = (ELEMENTS, NET) if self.cells.is_weighted else (ELEMENTS,)
        return (*counts, *self.cells.tick_parts)

    @cached_property
    def state(self) -> Mapping[str, tuple[str, Value]]:
        """The columns of the state between two steps: name, type, and the value in a cell that is new."""
        own = {SO_FAR: ("bigint", 0), **self.cells.state}
        return {of_state(name): field for name, field in own.items()}

    @property
    def clock(self) -> OwnClock:
        return OwnClock(self.cells.stage.allowed_lateness)

    @property
    def timed(self) -> tuple[DeadlineNode, ...]:
        """The nodes that have deadlines of their own."""
        return tuple(node for node in self.cells.tree.nodes if isinstance(node, DeadlineNode))

    def clock_columns(self, clock: TickClock) -> dict[str, int]:
        """The columns of the clocks at a tick."""
        return OwnClock.columns_of(clock, self.timed)

    @property
    def timers(self) -> Mapping[str, str]:
        """The columns of a step that say when a cell must be evaluated without elements, by the name of the clock."""
        return {name: f"waits_{name}" for name in self.cells.tree.clocks}

    def step(self, clocks: tuple[str, ...]) -> Chain:
        """A tick over cells. The rows have `CARRIED`, `CELL`, `added`, `state` and these columns of clocks.

        Behind it they have `CARRIED`, `CELL`, the state after the tick, `timers` and `FACTS`.
        """
        cells, clock = self.cells, self.clock
        names = (*CARRIED, *CELL, *self.added, *self.state, *clocks)
        before = replace(cells, carried=(*CARRIED, *clocks)).before(Chain.over(names))
        counted = {
            SO_FAR: col(SO_FAR) + when(~col("closed"), col(ELEMENTS), bigint(0)),
            SHUT_OUT: when(col("closed"), col(ELEMENTS), bigint(0)),
        }
        fired = cells.fire(cells.add(before.with_columns(counted), clock), clock, None)
        settled = cells.settled(fired, clock)
        own = {name: col(name) for name in (*CARRIED, *CELL)}
        after = {of_state(name): column for name, column in cells.state_after().items()}
        return settled.select({**own, of_state(SO_FAR): col(SO_FAR), **after, **self._waits(), **self._facts()})

    def _waits(self) -> dict[str, Column]:
        """The timers of a cell after the tick; on the watermark also its expiry."""
        is_shut = col("closed") | col("closes")
        expiry = saturating_add(col(WINDOW_END), self.cells.stage.allowed_lateness)
        waits = {}
        for name, column in self.timers.items():
            timer = when(~is_shut, self.cells.tree.timer(name))
            waits[column] = least(timer, expiry) if name == WATERMARK else timer
        return waits

    def _facts(self) -> dict[str, Column]:
        return {
            SHOWS: col("emits"),
            RETRACTS: col("retracts"),
            REPLACES: col("emits") & col("standing"),
            TIMING: col("timing"),
            INDEX: col("emitted"),
            IS_LAST: col(EXPIRED) | col("closes"),
            LEAF: col("leaf"),
            SHUT_OUT: col(SHUT_OUT),
            IS_EXPIRED: col(EXPIRED),
        }


@dataclass(frozen=True)
class LifeColumns(CellColumns):
    """Cells whose rows carry the clocks of their tick. Of the last pane nothing is kept but that it stands."""

    carried: tuple[str, ...] = ()

    def opened(self) -> Mapping[str, Column]:
        """Also what the rows carry, and the elements so far."""
        so_far = coalesce(col(of_state(SO_FAR)), bigint(0))
        return {**super().opened(), **{name: col(name) for name in self.carried}, SO_FAR: so_far}

    @property
    def state(self) -> Mapping[str, tuple[str, Value]]:
        return {name: field for name, field in super().state.items() if not name.startswith("last_")}

    def _leaf_name(self) -> Column:
        leaf = self.tree.root.col("leaf")
        names = enumerate(self.tree.leaf_names)
        return case(*[(leaf == number, name) for number, name in names], otherwise=EXPIRY)
