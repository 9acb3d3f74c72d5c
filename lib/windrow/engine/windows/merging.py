"""Windows that merge, a set at a time: the tick's windows and the open cells of their keys become one relation.

Rule: docs/semantics.md#sessions.

Elements that are close together are combined first; window functions over the key then find
which rows are of one window, and one grouping makes it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.cells.cell import CellColumns
from windrow.compile.cells.merged_away import gone
from windrow.compile.cells.state import GONE
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
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.merging import SESSION
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.evaluated import due, no_state
from windrow.engine.windows import closed
from windrow.engine.windows.assign import bounded, spread
from windrow.engine.windows.strategy import Evaluated, WindowStrategy
from windrow.spec.times import INFINITY

_DUE = "_due"


class Merging(WindowStrategy):
    """A cell for each key and merged window; an expired one leaves its bounds."""

    judges_by_cells = True
    depends_on_others = True
    is_made_whole = True
    opens_by_cells = True

    @property
    def splits_late_rows(self) -> bool:
        return self.stage.windows.needs_spread

    def remembered(self) -> Column:
        """Its bounds, so that none overlaps it later."""
        return gone(self.stage.cells)

    @classmethod
    def fits(cls, stage: CompiledStage) -> bool:
        return stage.windows.merges

    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        return pairs_of(self.stage, elements, event_time)

    def combine(self, elements: DataFrame, held: Held) -> DataFrame:
        return self._merged(windows_of(self.stage, pairs_of(self.stage, elements)))

    def combine_pairs(self, pairs: DataFrame) -> DataFrame:
        return self._merged(windows_of(self.stage, pairs))

    def combined_with(self, elements: DataFrame, of_pairs: DataFrame) -> DataFrame:
        return self._merged(windows_of(self.stage, pairs_of(self.stage, elements)).unionByName(of_pairs))

    def _merged(self, windows: DataFrame) -> DataFrame:
        return merged(self.stage, windows)

    def admit(self, elements: DataFrame, cells: DataFrame | None, held: Held, has_suspects: bool) -> DataFrame:
        """As pairs: an element is judged by each of its windows, before any merging."""
        return closed.admitted(self.stage, pairs_of(self.stage, elements), cells, held, has_suspects)

    def evaluate(
        self, cells: DataFrame | None, elements: DataFrame | None, held: Held, times: TickTimes, clock: TickClock
    ) -> Evaluated:
        return Evaluated(evaluated(self.stage, cells, elements, clock))

    def suspect(self, event_time: Column, held: Held) -> Column:
        windows = self.stage.windows
        if held.by_backfill:
            return held.suspects(windows, event_time) > 0
        return windows.suspect(event_time, held.expired_end)

    def closed_out(self, keyed: DataFrame, cells: DataFrame, held: Held) -> DataFrame:
        pairs = pairs_of(self.stage, keyed, envelope.EVENT_TIME)
        return closed.meeting_closed(self.stage, pairs, cells, held)


def pairs_of(stage: CompiledStage, rows: DataFrame, event_time: str = EVENT_TIME) -> DataFrame:
    """Elements, or judged rows, once for each of their windows, with its bounds."""
    windows, at = stage.windows, col(event_time)
    if windows.needs_spread:
        return spread(windows, rows, windows.late_marks(at, INFINITY)).drop(MARK)
    return bounded(windows, rows, at)


def windows_of(stage: CompiledStage, pairs: DataFrame) -> DataFrame:
    """Pairs combined as far as they are in one window in any case: bounds and partials."""
    if stage.windows.needs_spread:
        return grouped(stage, pairs, CELL)
    sliced = with_column(pairs, SLICE, stage.windows.slice_of(col(EVENT_TIME)))
    return grouped(stage, sliced, (KEY, SLICE), merging.bounds()).drop(SLICE)


def merged(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """Windows with their partials, those that overlap as one: a row for each window of a key."""
    return group(_numbered(stage.windows, rows), (KEY, SESSION), {**merging.bounds(), **stage.merged}).drop(SESSION)


def _numbered(windows: CompiledWindows, rows: DataFrame) -> DataFrame:
    return apply(merging.numbered(over(rows), windows), rows)


def evaluated(stage: CompiledStage, cells: DataFrame | None, pairs: DataFrame | None, clock: TickClock) -> DataFrame:
    """The cells that the tick evaluates, with what it adds, as pairs, and what was merged into them."""
    columns = stage.cells
    if pairs is None:
        assert cells is not None
        is_whole = {OPENED: lit(False), AWAY: empty_array(columns.part_type)}
        return due(stage, where(cells, ~col(STATE, GONE)), clock, is_whole)
    if cells is None:
        return _new(stage, merged(stage, windows_of(stage, pairs)))
    windows, parts = windows_of(stage, pairs), _parts(columns, cells, clock)
    rows = windows.unionByName(parts, allowMissingColumns=True)
    found = {**merging.bounds(), **merging.gathered(columns), **stage.merged, _DUE: call("bool_or", col(_DUE))}
    sessions = group(_numbered(stage.windows, rows), (KEY, SESSION), found)
    wanted = where(sessions, (col(ELEMENTS) > 0) | coalesce(col(_DUE), False))
    kept = {name: col(name) for name in (*CELL, *columns.tick_parts)}
    added = {**kept, ELEMENTS: coalesce(col(ELEMENTS), bigint(0))}
    return select(wanted, {**added, **merging.before(columns, clock)})


def _parts(columns: CellColumns, cells: DataFrame, clock: TickClock) -> DataFrame:
    """The cells that have not expired, as rows that may be merged. One that is closed meets no row of the tick."""
    open_cells = with_column(where(cells, ~col(STATE, GONE)), _DUE, columns.is_due(clock))
    chain = merging.part(columns, over(open_cells)).only((*CELL, STATE, _DUE, AWAY))
    return apply(chain, open_cells)


def _new(stage: CompiledStage, windows: DataFrame) -> DataFrame:
    own = {name: col(name) for name in windows.columns}
    is_whole = {OPENED: lit(True), AWAY: empty_array(stage.cells.part_type)}
    return select(windows, {**own, **no_state(stage), **is_whole})
