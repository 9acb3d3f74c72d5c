"""Slices of window time as cells, where windows fire in the tick only in which they expire.

Rule: docs/semantics.md#windows.

A tick leaves what its elements make of each slice as a cell of its own and looks nothing up; windows are formed from
all that there is of their slices in the tick in which they fire, and are in the journal then only.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import (
    CELL,
    ELEMENTS,
    EVENT_TIME,
    EXPIRED,
    KEY,
    NET,
    OPENED,
    PANES,
    SLICE,
    STATE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.sql.columns import Column, bigint, call, case, changing, col, lit, null, struct, when
from windrow.compile.stage import CompiledStage, part_name
from windrow.compile.windows.aligned import AlignedWindows
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.slices import BLOCK, SliceColumns, from_here, so_far
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.evaluated import no_state
from windrow.spec.times import INFINITY, MINUS_INFINITY

ALL = (MINUS_INFINITY, INFINITY)
"""Windows that end at any time."""

_TICK = "tick"


def evaluated(
    stage: CompiledStage, cells: DataFrame | None, elements: DataFrame | None, held: Held, times: TickTimes
) -> tuple[DataFrame | None, DataFrame | None]:
    """The windows that fire, with their state, and the transitions of slices; None where there are none.

    `cells` are the slices of earlier ticks, one or more rows of each; they need not be there where nothing fires.
    """
    ends = expiring(times)
    new = None if elements is None else _of_elements(stage, elements, held)
    kept = None if new is None else _kept(stage, new, ends[1])
    if not fires(stage, times):
        return None, kept
    known = [frame for frame in (new, None if cells is None else _of_cells(stage, cells)) if frame is not None]
    slices = known[0] if len(known) == 1 else known[0].unionByName(known[1])
    return _as_new(stage, _admitted(formed(stage, slices, ends), held)), kept


def open_over(stage: CompiledStage, cells: DataFrame, held: Held) -> DataFrame:
    """The windows over slices of the journal that have not expired, likewise."""
    ends = (held.expired_end, INFINITY)
    return _as_new(stage, _admitted(formed(stage, _of_cells(stage, cells), ends), held))


def among(stage: CompiledStage, cells: DataFrame) -> DataFrame:
    """Those of the cells that are slices."""
    return where(cells, col(WINDOW_END) - col(WINDOW_START) == bigint(_windows(stage).slice_size))


def ended(stage: CompiledStage, pieces: DataFrame) -> DataFrame:
    """The transitions of slices that are no more."""
    nothing = {PANES: null(f"array<{stage.pane_type}>"), EXPIRED: lit(False), OPENED: lit(False)}
    own = {name: col(name) for name in CELL}
    return select(pieces, {**own, **nothing, STATE: null(stage.cells.state_type)})


def _admitted(windows: DataFrame, held: Held) -> DataFrame:
    """But for those that a backfill has made."""
    return where(windows, held.admits(col(WINDOW_START), col(WINDOW_END))) if held.by_backfill else windows


def _as_new(stage: CompiledStage, windows: DataFrame) -> DataFrame:
    """Windows that had no state before."""
    return select(windows, {**{name: col(name) for name in windows.columns}, **no_state(stage)})


def expiring(times: TickTimes) -> tuple[int, int]:
    """The windows that a tick brings to their end: those that end behind the first and up to the last."""
    return times.before.expired_end, times.after.expired_end


def fires(stage: CompiledStage, times: TickTimes) -> bool:
    """Whether a window can end there."""
    behind, until = expiring(times)
    return until > behind and (until == INFINITY or _windows(stage).greatest_end_until(until) > behind)


def wanted(times: TickTimes) -> Column:
    """Whether a slice may be in a window that fires."""
    return col(WINDOW_END) <= changing(times.after.expired_end)


def can_form(windows: CompiledWindows) -> bool:
    """Whether windows can be formed from slices: they overlap, and all are of one length."""
    return isinstance(windows, AlignedWindows) and windows.period < windows.size


def formed(stage: CompiledStage, slices: DataFrame, ends: tuple[int, int]) -> DataFrame:
    """The windows over slices, of which there may be several rows: `key`, bounds and partials.

    One shuffle, by key, is enough for all that follows.
    """
    columns, merged = SliceColumns(_windows(stage), ends), stage.merged
    frames = {name: (so_far(column), from_here(column)) for name, column in merged.items()}
    if any(before is None or behind is None for before, behind in frames.values()):
        return _spread(stage, slices, columns)
    whole = with_column(group(slices.repartition(col(KEY).text), (KEY, SLICE), merged), BLOCK, columns.block())
    beside = select(whole, {**{name: col(name) for name in whole.columns}, **columns.neighbours()})
    grown: dict[str, Column] = {}
    for name, (before, behind) in frames.items():
        assert before is not None and behind is not None
        grown[_until(name)], grown[_since(name)] = before, behind
    others = {name: col(name) for name in beside.columns if name not in frames}
    marked = with_column(select(beside, {**others, **grown}), WINDOW_START, call("explode", columns.starts_at_edge()))
    is_first = columns.is_first(col(WINDOW_START))
    parts = {name: when(is_first, col(_since(name)), col(_until(name))) for name in frames}
    halves = select(marked, {KEY: col(KEY), WINDOW_START: col(WINDOW_START), **parts})
    return _with_end(stage, group(halves, (KEY, WINDOW_START), merged))


def merged(stage: CompiledStage, cells: DataFrame) -> DataFrame:
    """Slices with all that there is of each, one row for each: `key`, bounds, `state` and the newest `tick`."""
    slices = with_column(_of_cells(stage, cells, _TICK), WINDOW_START, col(SLICE))
    whole = group(slices, (KEY, WINDOW_START), {**stage.merged, _TICK: call("max", col(_TICK))})
    return select(whole, {**_slice(stage), STATE: _state(stage), _TICK: col(_TICK)})


def _spread(stage: CompiledStage, slices: DataFrame, columns: SliceColumns) -> DataFrame:
    """The same by taking every slice into each of its windows: for what cannot grow along a block at little cost."""
    pairs = with_column(slices, WINDOW_START, call("explode", columns.starts()))
    return _with_end(stage, group(pairs, (KEY, WINDOW_START), stage.merged))


def _with_end(stage: CompiledStage, windows: DataFrame) -> DataFrame:
    return with_column(windows, WINDOW_END, col(WINDOW_START) + bigint(_windows(stage).size))


def _of_elements(stage: CompiledStage, elements: DataFrame, held: Held) -> DataFrame:
    """What the elements make of each slice, but for those of which no window is open."""
    windows = _windows(stage)
    sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
    is_open = windows.last_end(col(SLICE)) > changing(held.expired_end, col(SLICE))
    return grouped(stage, where(sliced, is_open), (KEY, SLICE))


def _of_cells(stage: CompiledStage, cells: DataFrame, *also: str) -> DataFrame:
    """Slices as elements make them, from those of the journal."""
    own = {KEY: col(KEY), SLICE: col(WINDOW_START), **{name: col(name) for name in also}}
    return select(cells, {**own, **{part: col(STATE, field) for part, field in _fields(stage).items()}})


def _fields(stage: CompiledStage) -> dict[str, str]:
    """The columns of a slice that elements make, and the fields of the state that hold them."""
    counts = {ELEMENTS: "new", **({NET: "net"} if stage.is_weighted else {})}
    return {**counts, **{part_name(name, part): f"a_{name}_{part}" for name, part in stage.cells.parts}}


def _kept(stage: CompiledStage, new: DataFrame, expired_end: int) -> DataFrame:
    """The transitions of the slices of which a window is still open.

    The condition looks at a count, so that Spark does not push it before the grouping: windows are formed from the same
    groups, which are made once so.
    """
    last = _windows(stage).last_end(col(SLICE))
    is_open = case((col(ELEMENTS) > 0, last > changing(expired_end, col(SLICE))), otherwise=False)
    slices = with_column(where(new, is_open), WINDOW_START, col(SLICE))
    nothing = {PANES: null(f"array<{stage.cells.pane_type}>"), EXPIRED: lit(False), OPENED: lit(False)}
    return select(slices, {**_slice(stage), **nothing, STATE: _state(stage)})


def _slice(stage: CompiledStage) -> dict[str, Column]:
    """`key` and bounds of a slice."""
    end = col(WINDOW_START) + bigint(_windows(stage).slice_size)
    return dict(zip(CELL, (col(KEY), col(WINDOW_START), end), strict=True))


def _state(stage: CompiledStage) -> Column:
    held = {field: col(part) for part, field in _fields(stage).items()}
    for name, aggregate in stage.aggregates.items():
        if aggregate.carry is not None:
            carried = aggregate.carry(lambda part, name=name: col(part_name(name, part)))  # type: ignore[misc]
            held.update({f"a_{name}_{part}": column for part, column in carried.items()})
    return struct(**{name: held.get(name, null(kind)).cast(kind) for name, (kind, _) in stage.cells.state.items()})


def _windows(stage: CompiledStage) -> AlignedWindows:
    assert isinstance(stage.windows, AlignedWindows)
    return stage.windows


def _until(name: str) -> str:
    return f"u_{name}"


def _since(name: str) -> str:
    return f"f_{name}"
