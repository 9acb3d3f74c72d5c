"""Windows that overlap and fire in the tick only in which they expire: cells are slices of window time.

A tick appends what its elements make of each slice and reads nothing; windows are formed from slices as they fire.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.sql.columns import Column
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.tick.admission import Held
from windrow.engine.tick.statistics import Survey
from windrow.engine.windows import slices
from windrow.engine.windows.by_window import ByWindow
from windrow.engine.windows.strategy import Evaluated


class Sliced(ByWindow):
    """A cell for each key and slice, in as many rows as there were ticks with elements for it."""

    adds_up = True

    @classmethod
    def fits(cls, stage: CompiledStage) -> bool:
        return stage.keeps_slices

    def evaluate(
        self, cells: DataFrame | None, elements: DataFrame | None, held: Held, times: TickTimes, clock: TickClock
    ) -> Evaluated:
        return Evaluated(*slices.evaluated(self.stage, cells, elements, held, times))

    def wanted(self, times: TickTimes, found: Survey, is_due: Column) -> Column | None:
        return slices.wanted(times) if slices.fires(self.stage, times) else None

    def open_windows(self, cells: DataFrame, held: Held) -> DataFrame:
        return slices.open_over(self.stage, cells, held)

    def folded(self, cells: DataFrame) -> DataFrame:
        return slices.merged(self.stage, cells)
