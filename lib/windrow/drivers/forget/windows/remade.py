"""What other rows make of the affected cells of a stage: all of them anew, from what the stage has read.

A window that has expired comes back with one last pane, as a batch makes it. An open one comes back as a cell, as one
tick over all of its rows makes it at the clock of the stage: so a stream goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, EXPIRED, OPENED, PANES, STATE, WINDOW_END, WINDOW_START
from windrow.compile.elements.envelope import REASON
from windrow.compile.sql.columns import bigint, col, lit, null
from windrow.drivers.forget.refusals import records_with_others
from windrow.drivers.forget.windows.affected import ROW_OF, Affected
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.publish.replacing import WAITS, all_inserted, transitions
from windrow.drivers.recompute.windows.unrestated import unrestated
from windrow.drivers.recompute.windows.values import batch_of
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.final import pairs
from windrow.engine.frames import select, where, with_column
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.micro_batch import with_statistics
from windrow.engine.tick.published import Made, is_made
from windrow.engine.tick.tick import TickPlan, tick
from windrow.spec.errors import NotInThisVersion
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.journal.control import Control, has_stream
from windrow.store.journal.results import shown_early
from windrow.store.upstream.offsets import START


@dataclass(frozen=True)
class Remaking:
    """The affected cells of a stage, whose last tick is `last`, once more."""

    work: PipelineWork
    item: StageWork
    affected: Affected
    last: Control

    def plans(self) -> list[TickPlan]:
        """The transitions of one tick, behind the last one, that are in place of all of these cells.

        Where the windows allow for it they are all open cells of the stage, also those that are not affected. Raises
        NotInThisVersion where cells cannot be made anew.
        """
        found = [] if self.last.offsets.is_start else self._of_rows()
        if not self.item.runner.strategy.can_be_snapshot:
            return found
        return [*found, *self._others()]

    def _of_rows(self) -> list[TickPlan]:
        runner, spark = self.item.runner, self.work.spark
        rows = where(runner.upstream.rows(spark, self.last.offsets), col(REASON).is_null())
        ids = self.affected.touching(pairs(runner.stage, rows)).select(*ROW_OF).distinct()
        not_restated = unrestated(runner).join(self.affected.rows, on=list(ROW_OF), how="left_anti")
        excluded = not_restated.join(ids, on=list(ROW_OF), how="left_semi")
        streams = has_stream(self.last)
        if runner.strategy.depends_on_others:
            self._check_can_be_made(ids)
            if streams:
                excluded = excluded.select(*ROW_OF).distinct()
                return [self._ticked(ids.join(excluded, on=list(ROW_OF), how="left_anti"), Admission())]
        batch = batch_of(
            self.item,
            rows.join(ids, on=list(ROW_OF), how="left_semi"),
            None if excluded.isEmpty() else excluded,
        )
        final = self._final(self.affected.of(batch), streams)
        plans = [TickPlan(transitions(runner.stage, all_inserted(runner.stage, final), False, self._watermark))]
        if streams:
            self._check_none_closed(excluded)
            plans.append(self._ticked(ids, self._open_only()))
        return plans

    @property
    def _watermark(self) -> int:
        return self.last.clock.watermark

    def _final(self, batch: DataFrame, streams: bool) -> DataFrame:
        """The windows that are shown as last, and of a stage without a stream those that a batch has shown early."""
        runner = self.item.runner
        is_last = is_made(runner.published, col(WINDOW_START), col(WINDOW_END))
        if streams:
            is_last = is_last | (col(WINDOW_END) <= bigint(self.last.clock.expired_end))
        final = with_column(where(batch, is_last), WAITS, lit(False))
        if streams:
            return final
        early = where(batch, ~is_last).join(
            shown_early(self.work.spark, runner.journal), on=list(CELL), how="left_semi"
        )
        return final.unionByName(with_column(early, WAITS, lit(True)))

    def _open_only(self) -> Admission:
        """The windows that have not expired in the stream: the others are made by the batch."""
        expired = Made(MINUS_INFINITY, INFINITY, self.last.clock.expired_end)
        return Admission(counted=(expired, *self.item.runner.published))

    def _ticked(self, ids: DataFrame, admission: Admission) -> TickPlan:
        """What one tick makes of these rows, as far as it is of affected cells. Their letters are there already."""
        runner, spark, last = self.item.runner, self.work.spark, self.last
        every = runner.upstream.parts(spark, START, last.offsets)
        parts = {name: rows.join(ids, on=list(ROW_OF), how="left_semi") for name, rows in every.items()}
        micro_batch = with_statistics(runner.stage, parts, admission)
        times = TickTimes(last.tick + 1, StageClock(), last.clock, runner.clocks.active(last.clock))
        plan = tick(runner.stage, micro_batch, None, times, admission)
        made = None if plan.transitions is None else self.affected.of(plan.transitions)
        return TickPlan(made, has_one_pane=plan.has_one_pane)

    def _others(self) -> list[TickPlan]:
        """The open cells that are not affected, as they are."""
        runner = self.item.runner
        cells = runner.journal.cells(self.work.spark, None, runner.forgets_until)
        if cells is None:
            return []
        own = {name: col(name) for name in (*CELL, STATE)}
        nothing = {PANES: null(f"array<{runner.stage.pane_type}>"), EXPIRED: lit(False), OPENED: lit(False)}
        return [TickPlan(select(self.affected.but(cells), {**own, **nothing}))]

    def _check_can_be_made(self, ids: DataFrame) -> None:
        """Raises NotInThisVersion for windows that records make, where others of the key are left."""
        runner = self.item.runner
        if runner.strategy.ends_by_cells and not ids.isEmpty():
            raise records_with_others(self.item)

    def _check_none_closed(self, excluded: DataFrame) -> None:
        """Raises NotInThisVersion where rows were closed out of open windows: one tick would count them."""
        is_open = (col("reason") == "closed") & (col(WINDOW_END) > bigint(self.last.clock.expired_end))
        if self.item.runner.stage.can_close and not where(excluded, is_open).isEmpty():
            rule = "has an open window that was closed, which cannot be made anew in this version"
            raise NotInThisVersion(f"stages.{self.item.name}", rule, None, "forget again when the window has expired")
