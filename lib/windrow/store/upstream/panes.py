"""The panes of a stage as the log that another stage reads: one step a tick.

Rule: docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.panes.elements import of_panes
from windrow.compile.panes.log_rows import PANE
from windrow.compile.sql.columns import bigint, col
from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.holds import has_new, least_hold
from windrow.engine.frames import apply, over, where
from windrow.engine.tick.statistics import LandedRows
from windrow.spec.triggers.firings import leaves_nothing
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.location import Lake
from windrow.store.journal.control import ADMISSION, READING
from windrow.store.journal.journal import Journal


@dataclass
class StagePanes:
    """The panes of one generation of a stage. `journal` is the reader's own, so that each keeps its own progress."""

    lake: Lake
    journal: Journal
    _floor: int | None = None
    _rewritten: int = -1

    @classmethod
    def of(cls, lake: Lake, upstream: Journal) -> StagePanes:
        return cls(lake, Journal.of(lake, upstream.stage, upstream.generation))

    @property
    def name(self) -> str:
        return self.journal.stage.shown.name

    def last_step(self, spark: SparkSession) -> int:
        commit = self.journal.log.last(spark)
        return 0 if commit is None else commit.step

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The panes of the ticks after < tick <= until.

        What ticks did that maintenance has dropped is read from the table `panes`, which had it before.
        """
        floor, stage = self._floor_now(spark), self.journal.stage.shown
        if after >= floor:
            panes = self.journal.rows(spark, after, until, PANE)
            return apply(of_panes(stage, over(panes)), panes)
        table = self.lake.table(self.name, "panes").read(spark)
        old = where(table, (col("tick") > bigint(after)) & (col("tick") <= bigint(min(until, floor))))
        rows = apply(of_panes(stage, over(old)), old)
        return rows if until <= floor else rows.unionByName(self.rows(spark, floor, until))

    def _floor_now(self, spark: SparkSession) -> int:
        """The tick up to which transitions may be gone. It is raised before any of them is."""
        self.journal.log.last(spark)
        if self._floor is None or self.journal.log.rewritten != self._rewritten:
            self._rewritten = self.journal.log.rewritten
            name = journal_floor(self.name, self.journal.generation)
            self._floor = Floors.of(self.lake).get(spark, name)
        return self._floor

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        return None

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        return None

    def has_rows(self, after: int, until: int) -> bool:
        return True

    def quarantined(self, spark: SparkSession) -> int:
        return 0

    def correction(self, spark: SparkSession, after: int, until: int) -> int | None:
        """The first of the ticks after < tick <= until that a backfill or a restatement has made."""
        for tick in range(after + 1, until + 1):
            if self.journal.stamp(spark, tick).kind not in (*READING, ADMISSION):
                return tick
        return None

    def streams(self, spark: SparkSession) -> bool:
        """Whether a stream has made the newest tick, or a batch beside one."""
        last = self.last_step(spark)
        return last > 0 and self.journal.stamp(spark, last).streams

    def now_after(self, spark: SparkSession, tick: int) -> int:
        """Processing time of the stage after a tick."""
        return self.journal.stamp(spark, tick).clock.now

    def clock_after(self, spark: SparkSession, tick: int) -> StageClock:
        """The clock of the stage after a tick, with the output watermark that its panes up to there come with."""
        stage = self.journal.stage.stage
        stamp = self.journal.stamp(spark, tick)
        clock = stamp.clock
        if not stamp.streams:  # the batch has said so
            return clock
        if leaves_nothing(stage):
            return clock.with_hold(None)
        while True:
            head = self.last_step(spark)
            found = self._found_behind(spark, tick, head)
            if found is not None:
                return clock.with_hold(max(found, clock.output_watermark))
            hold = least_hold(stage, self.journal.cells(spark, has_new(), clock.expired_end))
            if self.last_step(spark) == head:
                return clock.with_hold(hold)

    def _found_behind(self, spark: SparkSession, tick: int, head: int) -> int | None:
        """The output watermark that the next tick of a stream has found, if there is one."""
        for later in range(tick + 1, head + 1):
            known = self.journal.stamp(spark, later)
            if known.kind in READING:
                return known.clock.output_watermark
        return None
