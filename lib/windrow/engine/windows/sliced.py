"""Windows that slices of window time form.

Where they fire in the tick only in which they expire, cells are slices. A tick appends what its elements make of each
slice and reads nothing; windows are formed as they fire. Batches form windows that overlap from slices in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

from pyspark.sql import DataFrame

from windrow.compile.cells.at_end import Ending, fires_plainly
from windrow.compile.columns import EVENT_TIME, KEY, SLICE, WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import Column, changing, col
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows.aligned import OverlappingWindows
from windrow.compile.windows.families import SlicedWindows
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import group, where, with_column, with_plain_key
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.statistics import BatchStatistics
from windrow.engine.windows.by_window import ByWindow
from windrow.engine.windows.slices import ALL, OverlappingSlices, Slices
from windrow.engine.windows.strategy import FormerCells, Merged
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.firings import keeps_slices


@dataclass(frozen=True)
class Unsliced(ByWindow):
    """A cell for each key and window: with a smaller allowed lateness, it might have been one for each slice."""

    windows: SlicedWindows

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return cls(stage, stage.windows) if isinstance(stage.windows, SlicedWindows) else None

    @property
    def former(self) -> FormerCells | None:
        return Sliced.of(replace(self.stage, stage=replace(self.stage.stage, allowed_lateness=0)))


@dataclass(frozen=True)
class Overlapping(Unsliced):
    """The same for windows that overlap, which batches form from slices."""

    windows: OverlappingWindows

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return cls(stage, stage.windows) if isinstance(stage.windows, OverlappingWindows) else None

    def windows_of(self, elements: DataFrame) -> DataFrame:
        return formed_of(self.stage, self.windows, elements)

    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        if admission != Admission():
            return super().combine(elements, admission, watermark_before, to_join)
        windows = self.windows_of(elements)
        return with_plain_key(windows) if to_join else windows


@dataclass(frozen=True)
class Sliced(Unsliced):
    """A cell for each key and slice, in as many rows as there were ticks with elements for it."""

    adds_up = True

    concerns_own_key = False
    can_be_snapshot = False

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return super().of(stage) if keeps_slices(stage.stage) else None

    @property
    def slices(self) -> Slices:
        return slices_of(self.stage, self.windows)

    def windows_of(self, elements: DataFrame) -> DataFrame:
        if isinstance(self.windows, OverlappingWindows):
            return formed_of(self.stage, self.windows, elements)
        return ByWindow.combine(self, elements, Admission())

    def in_cells(self, elements: DataFrame, event_time: str) -> DataFrame:
        sliced = with_column(elements, WINDOW_START, self.windows.slice_of(col(event_time)))
        return with_column(sliced, WINDOW_END, self.windows.slice_end(col(WINDOW_START)))

    @property
    def retention(self) -> int:
        """As long as the last of its windows is open."""
        return self.windows.earlier_span_of_slice

    @property
    def former(self) -> FormerCells | None:
        return None

    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        """What the elements make of each slice, but for those of which no window is open."""
        sliced = with_column(elements, SLICE, self.windows.slice_of(col(EVENT_TIME)))
        is_open = self.windows.last_end_of_slice(col(SLICE)) > changing(admission.expired_end, col(SLICE))
        return grouped(self.stage, where(sliced, is_open), (KEY, SLICE))

    def merge(
        self,
        combined: DataFrame | None,
        cells: DataFrame | None,
        admission: Admission,
        times: TickTimes,
        clock: TickClock,
        snapshot: bool = False,
    ) -> Merged:
        """The windows that fire. The slices of earlier ticks need not be there where nothing does."""
        ends = expiring(times)
        is_one = fires_plainly(self.stage.cells) and not self.windows.shares_slices
        kept = None if combined is None or (is_one and self._fires(times)) else self.slices.kept(combined, ends[1])
        if not self._fires(times):
            return Merged(None, kept)
        earlier = None if cells is None else self.slices.of_cells(cells)
        new = None if combined is None else self.slices.of_elements(combined)
        if is_one:
            return self._ending(new, earlier, ends, admission)
        known = [frame for frame in (new, earlier) if frame is not None]
        slices = known[0] if len(known) == 1 else known[0].unionByName(known[1])
        if fires_plainly(self.stage.cells):
            return Merged(self._formed(slices, ends, admission), kept, ending=Ending())
        return Merged(self._as_new(slices, ends, admission), kept)

    def _ending(
        self, new: DataFrame | None, earlier: DataFrame | None, ends: tuple[int, int], admission: Admission
    ) -> Merged:
        """The windows that end, and beside them what the tick makes of others: in one grouping, as a slice is a window.

        Of earlier ticks only the slices that end are there.
        """
        fires = col(WINDOW_END) <= changing(ends[1], col(SLICE))
        known = [] if new is None else [new]
        if earlier is not None:
            known.append(where(earlier, fires & (col(WINDOW_END) > changing(ends[0], col(SLICE)))))
        slices = reduce(lambda left, right: left.unionByName(right), known)
        if earlier is not None:
            slices = group(slices, (KEY, SLICE, WINDOW_END), self.stage.merged_parts)
        windows = with_column(slices, WINDOW_START, col(SLICE))
        if admission.by_backfill:
            windows = where(windows, ~fires | admission.admits(col(WINDOW_START), col(WINDOW_END)))
        return Merged(windows, ending=Ending(fires, self.slices.state()))

    def _fires(self, times: TickTimes) -> bool:
        """Whether a window can end there."""
        behind, until = expiring(times)
        return until > behind and (until == INFINITY or self.windows.greatest_end_until(until) > behind)

    def _as_new(self, slices: DataFrame, ends: tuple[int, int], admission: Admission) -> DataFrame:
        """The same, which had no state before."""
        return self.slices.without_state(self._formed(slices, ends, admission))

    def _formed(self, slices: DataFrame, ends: tuple[int, int], admission: Admission) -> DataFrame:
        """The windows over slices, but for those that a backfill has made."""
        windows = self.slices.formed(slices, ends)
        if admission.by_backfill:
            windows = where(windows, admission.admits(col(WINDOW_START), col(WINDOW_END)))
        return windows

    def wanted(self, times: TickTimes, found: BatchStatistics, timer_due: Column) -> Column | None:
        """The slices that may be in a window that fires."""
        return col(WINDOW_END) <= changing(times.after.expired_end) if self._fires(times) else None

    def open_windows(self, cells: DataFrame, admission: Admission) -> DataFrame:
        return self._as_new(self.slices.of_cells(cells), (admission.expired_end, INFINITY), admission)

    def compacted(self, cells: DataFrame) -> DataFrame:
        return self.slices.compacted(cells)

    def among(self, cells: DataFrame) -> DataFrame:
        """Those of the cells that are slices."""
        return self.slices.among(cells)

    def ended(self, cells: DataFrame, windows: DataFrame) -> DataFrame:
        """The transitions of slices that are no more, but for those whose cells are windows now."""
        return self.slices.ended(cells, windows)


def expiring(times: TickTimes) -> tuple[int, int]:
    """The windows that a tick brings to their end: those that end behind the first and up to the last."""
    return times.before.expired_end, times.after.expired_end


def slices_of(stage: CompiledStage, windows: SlicedWindows) -> Slices:
    """The slices of a stage with such windows."""
    return OverlappingSlices(stage, windows) if isinstance(windows, OverlappingWindows) else Slices(stage, windows)


def formed_of(stage: CompiledStage, windows: OverlappingWindows, elements: DataFrame) -> DataFrame:
    """Every window of the elements, formed from slices."""
    sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
    return slices_of(stage, windows).formed(grouped(stage, sliced, (KEY, SLICE)), ALL)
