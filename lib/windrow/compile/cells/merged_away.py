"""Windows that were merged into another: their last transitions, and what is left of them.

Rule: docs/semantics.md#sessions.
"""

from __future__ import annotations

from windrow.compile.cells.state import GONE, SUPERSEDED, CellState
from windrow.compile.columns import AWAY, EXPIRED, KEY, OPENED, PANES, STATE, WINDOW_END, WINDOW_START
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, call, coalesce, col, empty_array, lit, null, when

_ROW = (WINDOW_START, WINDOW_END, PANES, EXPIRED, OPENED, STATE)


def with_merged_away(columns: CellState, cells: Chain) -> Chain:
    """The transitions of the cells that were asked, and those of the windows that were merged away.

    A window is no more in the tick that merges it; its last pane is withdrawn when the merged one fires, then or later.
    """
    own = sql.struct(**{name: col(name) for name in _ROW})
    rows = [sql.array(own), sql.each(col(AWAY), lambda part: _merged_now(columns, part))]
    if columns.supersedes:
        handed_on = when(col("fires"), _handed_on(columns), empty_array(columns.part_type))
        rows.append(sql.each(handed_on, lambda part: _ended(columns, part, sql.array(part.field("pane")), True)))
    exploded = cells.select({KEY: col(KEY), "row": call("explode", call("concat", *rows))})
    return exploded.select({KEY: col(KEY), **{name: col("row", name) for name in _ROW}})


def _merged_now(columns: CellState, part: Column) -> Column:
    shown = col("fires") & part.field("pane").is_not_null()
    return _ended(columns, part, when(shown, sql.array(part.field("pane"))), False)


def _ended(columns: CellState, part: Column, panes: Column, again: bool) -> Column:
    """The transition of a window that is no more; where it had ended before it counts as opened once more."""
    bounds = {name: part.field(name) for name in (WINDOW_START, WINDOW_END)}
    ended = {PANES: panes, EXPIRED: lit(True), OPENED: lit(again), STATE: null(columns.state_type)}
    return sql.struct(**bounds, **ended)


def _handed_on(columns: CellState) -> Column:
    return coalesce(col(SUPERSEDED), empty_array(columns.part_type))


def superseded(columns: CellState) -> Column:
    """The windows whose last panes are still to be withdrawn."""
    shown = sql.keep(col(AWAY), lambda part: part.field("pane").is_not_null())
    return call("concat", _handed_on(columns), shown)


def gone(columns: CellState) -> Column:
    """The state of a window that has expired, of which the bounds are remembered."""
    fields = {name: null(kind) for name, (kind, _) in columns.state.items()}
    return sql.struct(**{**fields, GONE: lit(True)})
