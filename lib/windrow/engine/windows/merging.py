"""Windows that merge, a set at a time: the tick's windows and the open cells of their keys become one relation.

Rule: docs/semantics.md#sessions.

Elements that are close together are combined first; window functions over the key then find
which rows are of one window, and one grouping makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pyspark.sql import DataFrame

from windrow.compile.cells.at_end import Ending, fires_plainly, state_of_partials
from windrow.compile.cells.merging import GONE, MergingCells
from windrow.compile.columns import (
    AWAY,
    CELL,
    ELEMENTS,
    EVENT_TIME,
    EXPIRED,
    KEY,
    OPENED,
    SLICE,
    STATE,
    WINDOW_END,
    WINDOW_ID,
    WINDOW_START,
)
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, call, changing, coalesce, col, empty_array, lit
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows import merging
from windrow.compile.windows.families import MergingWindows
from windrow.compile.windows.merging import SESSION
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import PlainKey, apply, group, over, select, where, with_column
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.evaluated import no_state, with_timer_due
from windrow.engine.windows import closed
from windrow.engine.windows.assign import assign, bounded
from windrow.engine.windows.strategy import Merged, WindowStrategy
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.triggers.firings import fires_at_end

_TIMER_DUE, _LENGTH = "_timer_due", "_length"


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
        if self.windows.shares_slices:
            return assign(self.windows, elements, self.windows.late_window_ids(at, INFINITY)).drop(WINDOW_ID)
        return bounded(self.windows, elements, at)

    # ---------------------------------------------------------------- a tick

    def suspect(self, event_time: Column, admission: Admission) -> Column:
        if admission.by_backfill:
            return admission.suspects(self.windows, event_time) > 0
        return self.windows.suspect(event_time, admission.expired_end)

    def late_by_cells(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame | None:
        return closed.meeting_expired(self.windows, self.pairs(keyed, envelope.EVENT_TIME), cells, admission)

    def closed_out(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
        return closed.meeting_closed(self.windows, self.pairs(keyed, envelope.EVENT_TIME), cells, admission)

    def admit(
        self, elements: DataFrame, cells: DataFrame | None, admission: Admission, has_suspects: bool
    ) -> DataFrame:
        """As pairs: an element is judged by each of its windows, before any merging."""
        pairs = self.pairs(elements, EVENT_TIME)
        return closed.admitted(self.windows, pairs, cells, admission, has_suspects, self.stage.can_close)

    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        """Pairs combined as far as they are in one window in any case: bounds and partials."""
        if self.windows.shares_slices:
            return grouped(self.stage, elements, CELL)
        sliced = with_column(elements, SLICE, self.windows.slice_of(col(EVENT_TIME)))
        return grouped(self.stage, sliced, (KEY, SLICE), merging.bounds()).drop(SLICE)

    def merge(
        self,
        combined: DataFrame | None,
        cells: DataFrame | None,
        admission: Admission,
        times: TickTimes,
        clock: TickClock,
        snapshot: bool = False,
    ) -> Merged:
        """With what was merged into each window, as `away`; not in a snapshot, where what is left out has ended."""
        if combined is None:
            assert cells is not None
            alone = {OPENED: lit(False), AWAY: empty_array(self.cells.part_type)}
            due = with_timer_due(self.stage, where(cells, ~col(STATE, GONE)), clock, alone)
            return Merged(due, is_apart=not self.cells.supersedes)
        is_plain = fires_plainly(self.cells)
        if cells is None:
            merged = self._merge(combined)
            if is_plain:
                return Merged(merged, is_snapshot=snapshot, ending=self._ending(lit(True), times, clock))
            return Merged(self._as_new(merged, lit(True)), is_snapshot=snapshot)
        kept = self._gone(cells, times.after.expired_end) if snapshot else None
        if snapshot and fires_at_end(self.stage.stage):
            formed = self._formed(combined, cells)
            if is_plain:
                return Merged(formed, kept, is_snapshot=True, ending=self._ending(~_was_there(), times, clock))
            return Merged(self._as_new(formed, ~_was_there()).drop(_LENGTH), kept, is_snapshot=True)
        rows = combined.unionByName(self._parts(cells, clock), allowMissingColumns=True)
        gathered = {
            **merging.gathered(self.cells),
            **self.stage.merged_parts,
            _TIMER_DUE: call("bool_or", col(_TIMER_DUE)),
        }
        sessions = group(self._numbered(rows, True), (KEY, SESSION), {**merging.bounds(), **gathered})
        if not snapshot:
            sessions = where(sessions, (col(ELEMENTS) > 0) | coalesce(col(_TIMER_DUE), False))
        own = {name: col(name) for name in (*CELL, *self.cells.tick_parts)}
        added = {**own, ELEMENTS: coalesce(col(ELEMENTS), bigint(0))}
        windows = select(sessions, {**added, **merging.before(self.cells, clock)})
        return Merged(windows, kept, is_snapshot=snapshot, is_apart=False)

    def _parts(self, cells: DataFrame, clock: TickClock) -> DataFrame:
        """The cells that have not expired, as rows that may be merged. One that is closed meets no row of the tick."""
        open_cells = with_column(where(cells, ~col(STATE, GONE)), _TIMER_DUE, self.cells.is_timer_due(clock))
        chain = merging.part(self.cells, over(open_cells)).only((*CELL, STATE, _TIMER_DUE, AWAY))
        return apply(chain, open_cells)

    def _gone(self, cells: DataFrame, expired_end: int) -> DataFrame:
        """The transitions of windows of which only the bounds are kept, as long as they are."""
        forgotten = changing(saturating_add(expired_end, -self.retention), col(WINDOW_END))
        known = where(cells, col(STATE, GONE) & (col(WINDOW_END) > forgotten))
        own = {name: col(name) for name in (*CELL, STATE)}
        return select(known, {**own, EXPIRED: lit(True), OPENED: lit(False)})

    def _formed(self, combined: DataFrame, cells: DataFrame) -> DataFrame:
        """The windows of a stage that shows none before its end, each as if all of its elements were the tick's.

        So nothing has to be known of a cell but what it holds, and none is told that it was merged away.
        """
        parts = {part: col(STATE, field) for part, field in self.cells.fields_of_parts.items()}
        length = {_LENGTH: col(WINDOW_END) - col(WINDOW_START)}
        open_cells = where(cells, ~col(STATE, GONE))
        earlier = select(open_cells, {**{name: col(name) for name in CELL}, **parts, **length})
        rows = combined.unionByName(earlier, allowMissingColumns=True)
        found = {**merging.bounds(), **self.stage.merged_parts, _LENGTH: call("max", col(_LENGTH))}
        return group(self._numbered(rows, False), (KEY, SESSION), found).drop(SESSION)

    def _ending(self, opened: Column, times: TickTimes, clock: TickClock) -> Ending:
        """Those that end leave their bounds, and the others what they hold."""
        waiting = {**self.cells.tree.waiting, "since": changing(clock.watermark_before), GONE: lit(False)}
        return Ending(
            ends=col(WINDOW_END) <= changing(times.after.expired_end),
            kept=state_of_partials(self.cells, waiting),
            left=self.cells.gone,
            opened=opened,
        )

    def _as_new(self, windows: DataFrame, opened: Column) -> DataFrame:
        """Windows without a state before the tick."""
        own = {name: col(name) for name in windows.columns}
        alone = {OPENED: opened, AWAY: empty_array(self.cells.part_type)}
        return select(windows, {**own, **no_state(self.stage), **alone})

    def _merge(self, rows: DataFrame) -> DataFrame:
        """Windows with their partials, those that overlap as one: a row for each window of a key."""
        found = {**merging.bounds(), **self.stage.merged_parts}
        return group(self._numbered(rows, False), (KEY, SESSION), found).drop(SESSION)

    def _numbered(self, rows: DataFrame, have_state: bool) -> DataFrame:
        plain = PlainKey.of(rows)
        others = [name for name in rows.columns if name != KEY]
        flat = over(rows).select({**plain.columns, **{name: col(name) for name in others}})
        found = merging.numbered(flat, self.windows, have_state, [*plain.columns])
        whole = {KEY: plain.whole, **{name: col(name) for name in (*others, SESSION)}}
        return apply(found.select(whole), rows)

    # ---------------------------------------------------------------- a batch

    @property
    def splits_late_rows(self) -> bool:
        return self.windows.shares_slices

    def left_behind(self) -> Column:
        """Its bounds, so that none overlaps it later."""
        return self.cells.gone

    def windows_of(self, elements: DataFrame) -> DataFrame:
        return self.combine_pairs(self.pairs(elements, EVENT_TIME))

    def combine_pairs(self, pairs: DataFrame) -> DataFrame:
        return self._merge(self.combine(pairs, Admission()))

    def combined_with(self, elements: DataFrame, of_pairs: DataFrame) -> DataFrame:
        combined = self.combine(self.pairs(elements, EVENT_TIME), Admission())
        return self._merge(combined.unionByName(of_pairs))

    def meeting(self, windows: DataFrame, others: DataFrame) -> DataFrame:
        return closed.meeting(self.windows, windows, others)

    def standing(self, shown: DataFrame, cells: DataFrame) -> DataFrame:
        """But for those merged into one that has not fired yet: they are retracted when it does."""
        return closed.without(self.windows, shown, closed.living(cells))


def _was_there() -> Column:
    """Whether a window that was formed anew is one that was open before, with the same bounds."""
    return coalesce(col(_LENGTH) == col(WINDOW_END) - col(WINDOW_START), False)
