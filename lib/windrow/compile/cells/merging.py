"""Cells of windows that merge: what the merged-away ones leave behind, and what is left of one that has expired.

Rule: docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import AWAY, EXPIRED, KEY, OPENED, PANES, STATE, WINDOW_END, WINDOW_START
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, Value, call, case, coalesce, col, empty_array, lit, null, when
from windrow.compile.triggers.registry import MERGING_NODES, Nodes
from windrow.spec.triggers.firings import fires_at_end

GONE = "gone"
"""The window has expired, and only its bounds are still known."""
SUPERSEDED = "superseded"
"""The windows that were merged into this one, whose last panes are retracted when it fires: bounds and retraction."""

_ROW = (WINDOW_START, WINDOW_END, PANES, EXPIRED, OPENED, STATE)


@dataclass(frozen=True)
class MergingCells(CellColumns):
    """A cell for each merged window. Rows say themselves which cells are new, and what was merged into them."""

    nodes: ClassVar[Nodes] = MERGING_NODES

    @property
    def supersedes(self) -> bool:
        """Whether a pane can stand of a window that was merged away."""
        return not self.stage.is_discarding

    @property
    def can_retract(self) -> bool:
        return super().can_retract or self.supersedes

    @property
    def own_fields(self) -> Mapping[str, tuple[str, Value]]:
        gone: dict[str, tuple[str, Value]] = {GONE: ("boolean", False)}
        return {**gone, SUPERSEDED: (f"array<{self.part_type}>", None)} if self.supersedes else gone

    @property
    def part_type(self) -> str:
        """The Spark type of a window that was merged into another, with the retraction of its last pane."""
        return f"struct<window_start: bigint, window_end: bigint, pane: {self.pane_type}>"

    def left_or(self, state: Column) -> Column:
        return case((col(EXPIRED), self.gone), otherwise=state)

    @property
    def gone(self) -> Column:
        """The state of a window that has expired, of which the bounds are kept."""
        fields = {name: null(kind) for name, (kind, _) in self.state.items()}
        return sql.struct(**{**fields, GONE: lit(True)})

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(name for name in super().written if name != SUPERSEDED or not fires_at_end(self.stage))

    # ---------------------------------------------------------------- a tick

    def opened(self) -> Mapping[str, Column]:
        return {OPENED: col(OPENED), AWAY: col(AWAY)}

    def own_after(self) -> Mapping[str, Column]:
        gone = {GONE: lit(False)}
        return {**gone, SUPERSEDED: when(~col("fires"), self._superseded())} if self.supersedes else gone

    def _superseded(self) -> Column:
        """The windows whose last panes are still to be retracted."""
        shown = sql.keep(col(AWAY), lambda part: part.field("pane").is_not_null())
        return call("concat", self._handed_on(), shown)

    def transitions(self, cells: Chain) -> Chain:
        """The transitions of the cells that were asked, and those of the windows that were merged away.

        A window is no more in the tick that merges it; its last pane is retracted when the merged one fires, then or
        later. Of one that expires the bounds are kept.
        """
        cells = cells.with_columns({STATE: self.left_or(sql.struct(**self.state_after()))})
        own = sql.struct(**{name: col(name) for name in _ROW})
        rows = [sql.array(own), sql.each(col(AWAY), self._merged_now)]
        if self.supersedes:
            handed_on = when(col("fires"), self._handed_on(), empty_array(self.part_type))
            rows.append(sql.each(handed_on, lambda part: self._ended(part, sql.array(part.field("pane")), True)))
        exploded = cells.select({KEY: col(KEY), "row": call("explode", call("concat", *rows))})
        return exploded.select({KEY: col(KEY), **{name: col("row", name) for name in _ROW}})

    def _merged_now(self, part: Column) -> Column:
        shown = col("fires") & part.field("pane").is_not_null()
        return self._ended(part, when(shown, sql.array(part.field("pane"))), False)

    def _ended(self, part: Column, panes: Column, again: bool) -> Column:
        """The transition of a window that is no more; where it had ended before it counts as opened once more."""
        bounds = {name: part.field(name) for name in (WINDOW_START, WINDOW_END)}
        ended = {PANES: panes, EXPIRED: lit(True), OPENED: lit(again), STATE: null(self.state_type)}
        return sql.struct(**bounds, **ended)

    def _handed_on(self) -> Column:
        return coalesce(col(SUPERSEDED), empty_array(self.part_type))
