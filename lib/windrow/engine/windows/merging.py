"""Windows that merge, a set at a time: the tick's windows and the open cells of their keys become one relation.

Rule: docs/semantics.md#sessions.

Elements that are close together are combined first; window functions over the key then find
which rows are of one window, and one grouping makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pyspark.sql import DataFrame

from windrow.compile.cells.merging import GONE, MergingCells
from windrow.compile.columns import (
    AWAY,
    CELL,
    ELEMENTS,
    EVENT_TIME,
    KEY,
    MARK,
    OPENED,
    SLICE,
    STATE,
)
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, empty_array, lit
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows import merging
from windrow.compile.windows.families import MergingWindows
from windrow.compile.windows.merging import SESSION
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.evaluated import due, no_state
from windrow.engine.windows import closed
from windrow.engine.windows.assign import bounded, spread
from windrow.engine.windows.strategy import Merged, WindowStrategy
from windrow.spec.times import INFINITY, MINUS_INFINITY

_DUE = "_due"


@dataclass(frozen=True)
class Merging(WindowStrategy):
    """A cell for each key and merged window; an expired one leaves its bounds."""

    windows: MergingWindows
    cells: MergingCells

    judges_by_cells = True
    depends_on_others = True
    is_made_whole = True
    opens_by_cells = True

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        windows, cells = stage.windows, stage.cells
        if isinstance(windows, MergingWindows) and isinstance(cells, MergingCells):
            return cls(stage, windows, cells)
        return None

    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        at = col(event_time)
        if self.windows.needs_spread:
            return spread(self.windows, elements, self.windows.late_marks(at, INFINITY)).drop(MARK)
        return bounded(self.windows, elements, at)

    # ---------------------------------------------------------------- a tick

    def suspect(self, event_time: Column, held: Held) -> Column:
        if held.by_backfill:
            return held.suspects(self.windows, event_time) > 0
        return self.windows.suspect(event_time, held.expired_end)

    def late_by_cells(self, keyed: DataFrame, cells: DataFrame, held: Held) -> DataFrame | None:
        return closed.meeting_expired(self.windows, self.pairs(keyed, envelope.EVENT_TIME), cells, held)

    def closed_out(self, keyed: DataFrame, cells: DataFrame, held: Held) -> DataFrame:
        return closed.meeting_closed(self.windows, self.pairs(keyed, envelope.EVENT_TIME), cells, held)

    def admit(self, elements: DataFrame, cells: DataFrame | None, held: Held, has_suspects: bool) -> DataFrame:
        """As pairs: an element is judged by each of its windows, before any merging."""
        pairs = self.pairs(elements, EVENT_TIME)
        return closed.admitted(self.windows, pairs, cells, held, has_suspects, self.stage.can_close)

    def combine(self, elements: DataFrame, held: Held, watermark_before: int = MINUS_INFINITY) -> DataFrame:
        """Pairs combined as far as they are in one window in any case: bounds and partials."""
        if self.windows.needs_spread:
            return grouped(self.stage, elements, CELL)
        sliced = with_column(elements, SLICE, self.windows.slice_of(col(EVENT_TIME)))
        return grouped(self.stage, sliced, (KEY, SLICE), merging.bounds()).drop(SLICE)

    def merge(
        self, combined: DataFrame | None, cells: DataFrame | None, held: Held, times: TickTimes, clock: TickClock
    ) -> Merged:
        """With what was merged into each window, as `away`."""
        if combined is None:
            assert cells is not None
            is_whole = {OPENED: lit(False), AWAY: empty_array(self.cells.part_type)}
            return Merged(due(self.stage, where(cells, ~col(STATE, GONE)), clock, is_whole))
        if cells is None:
            return Merged(self._new(self._merged(combined)))
        rows = combined.unionByName(self._parts(cells, clock), allowMissingColumns=True)
        gathered = {**merging.gathered(self.cells), **self.stage.merged, _DUE: call("bool_or", col(_DUE))}
        sessions = group(self._numbered(rows, True), (KEY, SESSION), {**merging.bounds(), **gathered})
        wanted = where(sessions, (col(ELEMENTS) > 0) | coalesce(col(_DUE), False))
        kept = {name: col(name) for name in (*CELL, *self.cells.tick_parts)}
        added = {**kept, ELEMENTS: coalesce(col(ELEMENTS), bigint(0))}
        return Merged(select(wanted, {**added, **merging.before(self.cells, clock)}))

    def _parts(self, cells: DataFrame, clock: TickClock) -> DataFrame:
        """The cells that have not expired, as rows that may be merged. One that is closed meets no row of the tick."""
        open_cells = with_column(where(cells, ~col(STATE, GONE)), _DUE, self.cells.is_due(clock))
        chain = merging.part(self.cells, over(open_cells)).only((*CELL, STATE, _DUE, AWAY))
        return apply(chain, open_cells)

    def _new(self, windows: DataFrame) -> DataFrame:
        own = {name: col(name) for name in windows.columns}
        is_whole = {OPENED: lit(True), AWAY: empty_array(self.cells.part_type)}
        return select(windows, {**own, **no_state(self.stage), **is_whole})

    def _merged(self, rows: DataFrame) -> DataFrame:
        """Windows with their partials, those that overlap as one: a row for each window of a key."""
        found = {**merging.bounds(), **self.stage.merged}
        return group(self._numbered(rows, False), (KEY, SESSION), found).drop(SESSION)

    def _numbered(self, rows: DataFrame, have_state: bool) -> DataFrame:
        return apply(merging.numbered(over(rows), self.windows, have_state), rows)

    # ---------------------------------------------------------------- a batch

    @property
    def splits_late_rows(self) -> bool:
        return self.windows.needs_spread

    def left_behind(self) -> Column:
        """Its bounds, so that none overlaps it later."""
        return self.cells.gone

    def windows_of(self, elements: DataFrame) -> DataFrame:
        return self.combine_pairs(self.pairs(elements, EVENT_TIME))

    def combine_pairs(self, pairs: DataFrame) -> DataFrame:
        return self._merged(self.combine(pairs, Held()))

    def combined_with(self, elements: DataFrame, of_pairs: DataFrame) -> DataFrame:
        combined = self.combine(self.pairs(elements, EVENT_TIME), Held())
        return self._merged(combined.unionByName(of_pairs))

    def meeting(self, windows: DataFrame, others: DataFrame) -> DataFrame:
        return closed.meeting(self.windows, windows, others)

    def standing(self, shown: DataFrame, cells: DataFrame) -> DataFrame:
        """But for those merged into one that has not fired yet: they are withdrawn when it does."""
        return closed.without(self.windows, shown, closed.living(cells))
