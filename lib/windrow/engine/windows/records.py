"""Windows that records make: those that end at one, and those that start behind one.

Rule: docs/semantics.md#record-windows.

Elements of a key at one time of the grid are one row. Those rows are kept as cells of their own, without length, as
long as a window may still arise that holds them. How they make windows is in `record_frames.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pyspark.sql import DataFrame

from windrow.compile.cells.records import RECORD
from windrow.compile.columns import CELL, ELEMENTS, EVENT_TIME, KEY, SLICE, STATE, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import bigint, call, changing, coalesce, col, lit, when
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows.records import CompiledRecords
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.elements import elements_of
from windrow.engine.tick.evaluated import no_state, state_of, with_timer_due
from windrow.engine.tick.published import Made
from windrow.engine.tick.statistics import BatchStatistics
from windrow.engine.windows.assign import bounded
from windrow.engine.windows.closed import shut
from windrow.engine.windows.record_frames import EXPIRED_END, SAID, SINCE, RecordFrames, new_part, saying
from windrow.engine.windows.strategy import Merged, WindowStrategy
from windrow.spec.times import INFINITY, MINUS_INFINITY


@dataclass(frozen=True)
class Records(WindowStrategy):
    """A cell for each key and window, and one for each key and time that has a record."""

    windows: CompiledRecords

    can_be_snapshot = False
    depends_on_others = True
    ends_by_cells = True
    splits_late_rows = True

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return cls(stage, stage.windows) if isinstance(stage.windows, CompiledRecords) else None

    @property
    def frames(self) -> RecordFrames:
        return RecordFrames(self.stage, self.windows)

    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        return bounded(self.windows, elements, col(event_time))

    # ---------------------------------------------------------------- a tick

    def has_elements(self, found: BatchStatistics) -> bool:
        """One that is late for its own window may be in others."""
        return found.counters.assigned > 0

    def admission(self, expired_end: int, published: tuple[Made, ...], streams: bool) -> Admission:
        """None knows which others its records make, so all windows up to the last that is published have expired."""
        ends = [expired_end] if streams else [MINUS_INFINITY]
        for one in published:
            last = self.windows.greatest_start_before(one.last)
            if last is not None:
                ends.append(min(one.until, last[1]))
        return Admission(max(ends))

    def closed_out(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
        """Once for each closed window that the row falls in."""
        rows = with_column(keyed, SLICE, self.windows.slice_of(col(envelope.EVENT_TIME)))
        pairs = rows.join(shut(cells), on=[KEY])
        inside = (col(SLICE) >= col(WINDOW_START)) & (col(SLICE) < col(WINDOW_END))
        return where(pairs, inside & (col(WINDOW_END) > changing(admission.expired_end, col(SLICE)))).drop(SLICE)

    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        """The records of the tick."""
        expired = changing(admission.expired_end, col(EVENT_TIME))
        return self.frames.records(with_column(elements, EXPIRED_END, expired), watermark_before)

    def merge(
        self,
        combined: DataFrame | None,
        cells: DataFrame | None,
        admission: Admission,
        times: TickTimes,
        clock: TickClock,
        snapshot: bool = False,
    ) -> Merged:
        """With the transitions of records."""
        frames, stage = self.frames, self.stage
        if combined is None:
            assert cells is not None
            return Merged(with_timer_due(stage, _windows(cells), clock))
        if cells is None:
            made = frames.windows(combined, admission.expired_end)
            kept = {name: col(name) for name in (*CELL, ELEMENTS, *stage.cells.tick_parts)}
            return Merged(select(made, {**kept, **no_state(stage)}), frames.transitions(combined))
        known = combined.unionByName(frames.known(cells, combined, admission.expired_end))
        made = frames.windows(known, admission.expired_end)
        return Merged(self._joined(_windows(cells), made, clock), frames.transitions(known))

    def _joined(self, cells: DataFrame, made: DataFrame, clock: TickClock) -> DataFrame:
        """Windows with their cells. A window that was there gets what is new, one that arises all that it holds."""
        columns = self.stage.cells
        joined = made.join(cells, on=list(CELL), how="full")
        is_there = col(STATE).is_not_null()
        added = coalesce(when(is_there, col(new_part(ELEMENTS)), col(ELEMENTS)), bigint(0))
        wanted = where(joined, (added > 0) | (is_there & columns.is_timer_due(clock)))
        parts = {name: when(is_there, col(new_part(name)), col(name)) for name in columns.tick_parts}
        state = state_of(self.stage)
        state["s_since"] = when(is_there, col(STATE, "since"), col(SINCE))
        return select(wanted, {**{name: col(name) for name in CELL}, **state, ELEMENTS: added, **parts})

    def greatest_end(self, cells: DataFrame) -> int | None:
        found = group(_windows(cells), (), {"end": call("max", col(WINDOW_END))}).collect()[0]["end"]
        return None if found is None else int(found)

    # ---------------------------------------------------------------- a batch

    def windows_of(self, elements: DataFrame) -> DataFrame:
        at_once = self.frames.windows_of(elements)
        if at_once is not None:
            return self._combined(at_once)
        records = self.frames.records(with_column(elements, EXPIRED_END, bigint(MINUS_INFINITY)), MINUS_INFINITY)
        return self._combined(self.frames.windows(records, MINUS_INFINITY))

    def combine_without(self, rows: DataFrame, excluded: DataFrame) -> DataFrame:
        """Records say themselves which windows they are not in."""
        records = self.frames.records(elements_of(self.stage, saying(rows, excluded), SAID), MINUS_INFINITY, SAID)
        return self._combined(self.frames.windows_as_said(records, SAID))

    def _combined(self, made: DataFrame) -> DataFrame:
        return made.select(*CELL, ELEMENTS, *self.stage.cells.tick_parts)

    def why_not_streamed(self, published: tuple[Made, ...]) -> str | None:
        if any(one.until == INFINITY for one in published):
            return "cannot begin a stream of record windows behind a backfill that was asserted to be whole"
        return None

    def but_for(self, transitions: DataFrame, published: DataFrame, since: int) -> DataFrame:
        """Records stay: they make later windows."""
        is_record = coalesce(col(STATE, RECORD).is_not_null(), lit(False))
        windows = super().but_for(where(transitions, ~is_record), published, since)
        return where(transitions, is_record).unionByName(windows)


def _windows(cells: DataFrame) -> DataFrame:
    """The cells of windows."""
    return where(cells, col(STATE, RECORD).is_null())
