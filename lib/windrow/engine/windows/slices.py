"""Slices of window time as frames: what a tick keeps of them, and the windows that they form.

Rule: docs/semantics.md#windows.

A tick leaves what its elements make of each slice as a cell of its own and looks nothing up; windows are formed from
all that there is of their slices in the tick in which they fire, and are in the journal then only.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.cells.at_end import state_of_partials
from windrow.compile.columns import (
    CELL,
    ELEMENTS,
    EXPIRED,
    KEY,
    OPENED,
    PANES,
    SLICE,
    STATE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, case, changing, col, lit, null, when
from windrow.compile.stage import CompiledStage
from windrow.compile.windows.aligned import OverlappingWindows
from windrow.compile.windows.families import SlicedWindows
from windrow.compile.windows.slices import BLOCK, SliceColumns, from_here, so_far
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.evaluated import no_state
from windrow.engine.windows.assign import assign
from windrow.spec.times import INFINITY, MINUS_INFINITY

ALL = (MINUS_INFINITY, INFINITY)
"""Windows that end at any time."""

FEW = 16
"""So many windows of a key."""

_TICK = "tick"


@dataclass(frozen=True)
class Slices:
    """Frames of slices: `key`, `_slice` and partials as elements make them; as cells, `key`, bounds and `state`."""

    stage: CompiledStage
    windows: SlicedWindows

    # ---------------------------------------------------------------- windows

    def formed(self, slices: DataFrame, ends: tuple[int, int]) -> DataFrame:
        """The windows over slices, of which there may be several rows: `key`, bounds and partials.

        `ends` says which are wanted: those that end behind the first and up to the last.
        """
        if self.windows.shares_slices:
            ids = behind_grouping(self.windows.window_ids_ending(col(SLICE), *ends), sql.empty_array("bigint"))
            pairs = assign(self.windows, slices, ids)
        else:  # a slice is a window
            pairs = with_column(slices, WINDOW_START, col(SLICE))
        wanted = where(pairs, behind_grouping(_within(col(WINDOW_END), ends), lit(False)))
        return group(wanted, CELL, self.stage.merged_parts)

    def without_state(self, windows: DataFrame) -> DataFrame:
        """Windows that had no state before."""
        return select(windows, {**{name: col(name) for name in windows.columns}, **no_state(self.stage)})

    # ---------------------------------------------------------------- cells

    def kept(self, new: DataFrame, expired_end: int) -> DataFrame:
        """The transitions of the slices of which a window is still open.

        Windows are formed from the same groups, which are made once so.
        """
        last = self.windows.last_end_of_slice(col(SLICE))
        is_open = behind_grouping(last > changing(expired_end, col(SLICE)), lit(False))
        slices = with_column(where(new, is_open), WINDOW_START, col(SLICE))
        return select(slices, {**self._identity(), EXPIRED: lit(False), OPENED: lit(False), STATE: self.state()})

    def compacted(self, cells: DataFrame) -> DataFrame:
        """Slices with all that there is of each, one row for each: `key`, bounds, `state` and the newest `tick`."""
        own = {**{name: col(name) for name in (*CELL, _TICK)}, **self._parts_of_state()}
        whole = group(select(cells, own), CELL, {**self.stage.merged_parts, _TICK: call("max", col(_TICK))})
        return select(whole, {**{name: col(name) for name in CELL}, STATE: self.state(), _TICK: col(_TICK)})

    def of_elements(self, combined: DataFrame) -> DataFrame:
        """Slices as `formed` takes them: with their ends, where they are windows."""
        if self.windows.shares_slices:
            return combined
        return with_column(combined, WINDOW_END, self.windows.slice_end(col(SLICE)))

    def of_cells(self, cells: DataFrame) -> DataFrame:
        """The same from those of the journal; their ends as they were written, whatever rules a zone has now."""
        end = {} if self.windows.shares_slices else {WINDOW_END: col(WINDOW_END)}
        return select(cells, {KEY: col(KEY), SLICE: col(WINDOW_START), **self._parts_of_state(), **end})

    def _parts_of_state(self) -> dict[str, Column]:
        return {part: col(STATE, field) for part, field in self.stage.cells.fields_of_parts.items()}

    def among(self, cells: DataFrame) -> DataFrame:
        """Those of the cells that are slices: they have no trigger, and have emitted nothing."""
        return where(cells, col(STATE, "emitted").is_null())

    def ended(self, slices: DataFrame, windows: DataFrame) -> DataFrame:
        """The transitions of slices that are no more, but for those whose cells are windows now."""
        slices = slices.join(select(windows, {name: col(name) for name in CELL}), on=list(CELL), how="left_anti")
        nothing = {PANES: null(f"array<{self.stage.pane_type}>"), EXPIRED: lit(False), OPENED: lit(False)}
        own = {name: col(name) for name in CELL}
        return select(slices, {**own, **nothing, STATE: null(self.stage.cells.state_type)})

    def _identity(self) -> dict[str, Column]:
        """`key` and bounds of a slice."""
        end = self.windows.slice_end(col(WINDOW_START))
        return dict(zip(CELL, (col(KEY), col(WINDOW_START), end), strict=True))

    def state(self) -> Column:
        """The state of a slice, from its partials."""
        return state_of_partials(self.stage.cells)


@dataclass(frozen=True)
class OverlappingSlices(Slices):
    """Slices that are in many windows: each is formed by two merges, where the aggregates allow for that."""

    windows: OverlappingWindows

    def formed(self, slices: DataFrame, ends: tuple[int, int]) -> DataFrame:
        """The windows over slices, likewise. One shuffle, by key, is enough for all that follows.

        Where few windows are wanted each slice goes into those that it is in: then the plan is what takes time.
        """
        if (ends[1] - ends[0]) // self.windows.period <= FEW:
            return super().formed(slices, ends)
        columns, merged_parts = SliceColumns(self.windows, ends), self.stage.merged_parts
        frames = {name: (so_far(column), from_here(column)) for name, column in merged_parts.items()}
        if any(before is None or behind is None for before, behind in frames.values()):
            return super().formed(slices, ends)  # what cannot grow along a block at little cost
        whole = with_column(
            group(slices.repartition(col(KEY).text), (KEY, SLICE), merged_parts), BLOCK, columns.block()
        )
        beside = select(whole, {**{name: col(name) for name in whole.columns}, **columns.neighbours()})
        grown: dict[str, Column] = {}
        for name, (before, behind) in frames.items():
            assert before is not None and behind is not None
            grown[_until(name)], grown[_since(name)] = before, behind
        others = {name: col(name) for name in beside.columns if name not in frames}
        starts = call("explode", columns.starts_at_edge())
        at_edges = with_column(select(beside, {**others, **grown}), WINDOW_START, starts)
        is_first = columns.is_first(col(WINDOW_START))
        parts = {name: when(is_first, col(_since(name)), col(_until(name))) for name in frames}
        halves = select(at_edges, {KEY: col(KEY), WINDOW_START: col(WINDOW_START), **parts})
        windows = group(halves, (KEY, WINDOW_START), merged_parts)
        return with_column(windows, WINDOW_END, col(WINDOW_START) + bigint(self.windows.size))


def behind_grouping(column: Column, otherwise: Column) -> Column:
    """The column, which Spark leaves behind the grouping of the elements, as it looks at their number.

    Before it, it would tell the groups of one use from those of another, and they would be made twice.
    """
    return case((col(ELEMENTS) > 0, column), otherwise=otherwise)


def _within(end: Column, ends: tuple[int, int]) -> Column:
    """Whether a window ends behind the first time and up to the other."""
    return (end > changing(ends[0], col(SLICE))) & (end <= changing(ends[1], col(SLICE)))


def _until(name: str) -> str:
    return f"u_{name}"


def _since(name: str) -> str:
    return f"f_{name}"
