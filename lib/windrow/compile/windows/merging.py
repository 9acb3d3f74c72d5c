"""Windows that merge, as columns: which rows are of one window, and the cell that parts become.

Rule: docs/semantics.md#sessions.

Rows are the open cells of a key and what the tick adds, each with its bounds. A cell that keeps its bounds is carried
on; any other window is a new cell, made of what its parts held, and they are merged away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.compile.aggregates.parts import CompiledAggregate
from windrow.compile.cells.merging import SUPERSEDED, MergingCells
from windrow.compile.columns import AWAY, KEY, NEW, OPENED, STATE, WINDOW_END, WINDOW_START
from windrow.compile.panes import event_times
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, call, coalesce, col, empty_array, lit, null, quoted, struct, when
from windrow.compile.triggers.clocks import CellClock
from windrow.compile.triggers.tree import TriggerTree
from windrow.compile.windows.families import MergingWindows

SESSION = "_session"
"""What tells a merged window from the others of its key."""
_BEGINS, _WINDOWS, _JOINED = "_begins", "_all_windows", "_joined"


def numbered(rows: Chain, windows: MergingWindows, have_state: bool, key: Sequence[str] = (KEY,)) -> Chain:
    """The rows with what tells the merged window that each is of from the others of its key.

    `have_state`: cells are among the rows. One that is closed merges with nothing. `key`: the columns of the key.
    """
    own = struct(start=col(WINDOW_START), end=col(WINDOW_END))
    joined = windows.joined(call("sort_array", col(_WINDOWS)))
    if joined is None:
        return overlapping(rows, windows.touches, key)
    stays = coalesce(col(STATE, "closed"), False) if have_state else lit(False)
    several = Column(f"collect_set({when(~stays, own).text}) OVER (PARTITION BY {_list(key)})")
    names = rows.names
    rows = rows.with_columns({_WINDOWS: several}).with_columns({_JOINED: joined})

    def holds(window: Column) -> Column:
        return (window.field("start") <= col(WINDOW_START)) & (window.field("end") >= col(WINDOW_END))

    first = Column(f"get({sql.keep(col(_JOINED), holds).text}, 0)")
    return rows.with_columns({SESSION: when(stays, own, coalesce(first, own))}).only((*names, SESSION))


def overlapping(rows: Chain, touches: bool, key: Sequence[str] = (KEY,)) -> Chain:
    """The rows with the number of the window that each is of: one begins where no row before it reaches."""
    ordered = f"PARTITION BY {_list(key)} ORDER BY {_list((WINDOW_START, WINDOW_END))} ROWS BETWEEN UNBOUNDED"
    reached = Column(f"max({quoted(WINDOW_END)}) OVER ({ordered} PRECEDING AND 1 PRECEDING)")
    apart = col(WINDOW_START) > reached if touches else col(WINDOW_START) >= reached
    names = rows.names
    rows = rows.with_columns({_BEGINS: coalesce(apart, True).cast("int")})
    number = Column(f"sum({_BEGINS}) OVER ({ordered} PRECEDING AND CURRENT ROW)")
    return rows.with_columns({SESSION: number}).only((*names, SESSION))


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def bounds() -> dict[str, Column]:
    """The bounds of a merged window, as aggregates over its rows."""
    return {WINDOW_START: call("min", col(WINDOW_START)), WINDOW_END: call("max", col(WINDOW_END))}


def part(columns: MergingCells, cells: Chain) -> Chain:
    """Open cells with what each leaves behind if it is merged away: its bounds and the retraction of its last pane."""
    pane = null(columns.pane_type)
    if columns.supersedes:
        state = {name: col(STATE, name) for name in columns.state}
        cells = cells.with_columns(state)
        pane = when(col("standing"), columns.retracted("delete"))
    left = struct(window_start=col(WINDOW_START), window_end=col(WINDOW_END), pane=pane)
    return cells.with_columns({AWAY: left})


def gathered(columns: MergingCells) -> dict[str, Column]:
    """What is gathered over the rows of a merged window, as aggregates; rows of the tick have no state."""
    found = {
        STATE: call("first", col(STATE), True),
        AWAY: call("collect_list", col(AWAY)),
        _merged(NEW): call("sum", col(STATE, NEW)),
        _merged("since"): call("min", col(STATE, "since")),
        **{_merged(field): merge for field, merge in _of_aggregates(columns.aggregates).items()},
        **columns.tree.gathered,
    }
    if columns.stage.keeps_event_times:
        found[_merged(event_times.KEPT)] = event_times.gathered(columns.stage, col(STATE, event_times.KEPT))
    if columns.supersedes:
        found[_merged(SUPERSEDED)] = call("flatten", call("collect_list", col(STATE, SUPERSEDED)))
    return found


def _of_aggregates(aggregates: Mapping[str, CompiledAggregate]) -> dict[str, Column]:
    return {
        f"a_{name}_{part}": columns.merge(col(STATE, f"a_{name}_{part}"))
        for name, aggregate in aggregates.items()
        for part, columns in aggregate.parts.items()
    }


def before(columns: MergingCells, clock: CellClock) -> dict[str, Column]:
    """The state before the tick as `s_` columns, null in a window without parts, and what was merged away."""
    carried = _is_carried()
    merged = {**_merged_fields(columns), **_of_nodes(columns.tree, clock)}
    state = {
        f"s_{name}": when(carried, col(STATE, name), merged.get(name)).cast(kind)
        for name, (kind, _) in columns.state.items()
    }
    away = when(carried, empty_array(columns.part_type), col(AWAY))
    return {**state, OPENED: ~carried, AWAY: away}


def _is_carried() -> Column:
    """Whether the window is that of the one cell in it."""
    only = Column(f"get({quoted(AWAY)}, 0)")
    same = (only.field("window_start") == col(WINDOW_START)) & (only.field("window_end") == col(WINDOW_END))
    return coalesce((sql.size(col(AWAY)) == 1) & same, False)


def _merged_fields(columns: MergingCells) -> dict[str, Column]:
    """What a new cell takes from its parts, but for the trigger."""
    names = [NEW, "since", *(f"a_{name}_{part}" for name, part in columns.parts)]
    names += [event_times.KEPT] if columns.stage.keeps_event_times else []
    names += [SUPERSEDED] if columns.supersedes else []
    some = sql.size(col(AWAY)) > 0
    return {name: when(some, col(_merged(name))) for name in names}


def _of_nodes(tree: TriggerTree, clock: CellClock) -> dict[str, Column]:
    some = sql.size(col(AWAY)) > 0
    return {name: when(some, column) for name, column in tree.merged(clock).items()}


def _merged(field: str) -> str:
    return f"m_{field}"
