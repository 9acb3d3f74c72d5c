"""Windows that stay as they are, with a cell for each key and window: fixed, calendar, cumulative and others.

Where an element is in several, elements are combined by slice first; only then are slices assigned to their windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, EVENT_TIME, KEY, SLICE, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, col
from windrow.compile.stage import CompiledStage
from windrow.compile.windows.families import NonMergingWindows
from windrow.compile.windows.inherited import CompiledInherited
from windrow.engine.frames import group, where, with_column
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import grouped
from windrow.engine.windows.assign import assign, bounded
from windrow.engine.windows.closed import shut
from windrow.engine.windows.strategy import WindowStrategy
from windrow.spec.times import MINUS_INFINITY


@dataclass(frozen=True)
class ByWindow(WindowStrategy):
    """A cell for each key and window."""

    windows: NonMergingWindows

    concerns_own_key = True
    joins_cells = True

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return cls(stage, stage.windows) if isinstance(stage.windows, NonMergingWindows) else None

    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        windows = self.windows
        window_ids = windows.window_ids_of_slice(windows.slice_of(col(event_time)), MINUS_INFINITY)
        return assign(windows, elements, window_ids)

    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        stage, windows = self.stage, self.windows
        sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
        if windows.shares_slices:
            by_slice = grouped(stage, sliced, (KEY, SLICE))
            pairs = assign(windows, by_slice, admission.open_window_ids(windows, col(SLICE)))
            return group(pairs, CELL, stage.merged_parts, to_join)
        pairs = bounded(windows, sliced, col(SLICE))
        if admission != Admission():
            pairs = where(pairs, admission.admits(col(WINDOW_START), col(WINDOW_END)))
        return grouped(stage, pairs, CELL, to_join=to_join)

    def combine_by(
        self, elements: DataFrame, by: str, parts: Mapping[str, Column], merged: Mapping[str, Column]
    ) -> DataFrame:
        windows = self.windows
        sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
        by_slice = group(sliced, (KEY, SLICE, by), parts)
        if not windows.shares_slices:
            return bounded(windows, by_slice, col(SLICE)).drop(SLICE)
        window_ids = windows.window_ids_of_slice(col(SLICE), MINUS_INFINITY)
        return group(assign(windows, by_slice, window_ids), (*CELL, by), merged)

    def closed_out(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
        windows = self.windows
        pairs = assign(windows, keyed, admission.open_window_ids(windows, windows.slice_of(col(envelope.EVENT_TIME))))
        return pairs.join(shut(cells), on=list(CELL), how="left_semi")


@dataclass(frozen=True)
class Inherited(ByWindow):
    """The windows of panes."""

    follows_panes = True
    opens_by_cells = True

    @classmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        return cls(stage, stage.windows) if isinstance(stage.windows, CompiledInherited) else None
