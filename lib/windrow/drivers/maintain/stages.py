"""Maintenance of one stage: its journal is compacted, and what no table and no reader needs any more is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.drivers.forget.windows.leaving import LeftWindows
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.store.delta.file_system import is_there
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.log.retries import tried_again
from windrow.store.delta.upkeep import is_done
from windrow.store.journal.cells import compact
from windrow.store.journal.control import has_stream
from windrow.store.journal.journal import Journal


@dataclass(frozen=True)
class StageMaintenance:
    """One run for a stage of a pipeline. `spark` is the session of upkeep."""

    work: PipelineWork
    item: StageWork
    spark: SparkSession
    kept: Kept

    def run(self) -> list[str]:
        """Catch the stage up, compact its journal, and drop what is spent; in words."""
        runner, item = self.item.runner, self.item
        runner.refresh()
        item.catch_up()
        if runner.last is None:
            return []
        compact(runner.journal, runner.spark, runner.last.tick, runner.forgets_until)
        point("maintain:after_compact")
        if item.projections.is_rebuilt:
            return ["nothing dropped: the tables still show another generation"]
        tried_again(item.projections.settle, item.catch_up)  # a stream may project them meanwhile
        point("maintain:after_places")
        return [*self._remove_generations(), *self._drop()]

    def _remove_generations(self) -> Iterator[str]:
        """Remove the journals of older generations, which no table shows any more.

        One without a log is what a process that was killed has left: on an object store the log of a table goes first.
        """
        item = self.item
        for number in range(1, item.runner.journal.generation):
            old = Journal.of(self.work.lake, item.runner.stage, number)
            if self._is_spent(old):
                LeftWindows(self.spark, self.work.lake, item.name, number).location.remove(self.spark)
                old.snapshot.location.remove(self.spark)
                old.location.remove(self.spark)
                yield f"generation {number} removed"

    def _is_spent(self, old: Journal) -> bool:
        """Whether nobody can be at work in a journal any more."""
        if not old.location.exists(self.spark):
            return is_there(self.spark, old.location.path)
        last = old.log.last(self.spark)
        return last is not None and old.log.step_before(self.spark, self.kept.since) == last.step

    def _drop(self) -> list[str]:
        """Drop transitions that every table and every reader has, and that were committed before what is kept."""
        runner, journal = self.item.runner, self.item.runner.journal
        assert runner.last is not None, "it has ticks"
        committed = journal.log.step_before(runner.spark, self.kept.since)
        until = min(self.item.projections.projected_to, committed, *self._read())
        buckets = journal.spent_buckets(runner.spark, until, runner.last.clock.expired_end) if until else []
        if not buckets:
            return []
        Floors.of(self.work.lake).raise_to(runner.spark, journal_floor(self.item.name, journal.generation), until)
        point("maintain:before_drop")
        dropped = is_done(self.spark, journal.location, lambda: journal.drop(self.spark, buckets, until))
        point("maintain:after_drop")
        done = f"transitions of expired windows up to tick {until} dropped"
        return [done if dropped else "nothing dropped: other writers were in the way"]

    def _read(self) -> Iterator[int]:
        """How far the stages that stream behind it have read it."""
        for reader in self.work.stages:
            if self.item in self.work.upstreams_of(reader):
                reader.runner.reload()
                if has_stream(reader.runner.last):
                    yield reader.runner.upstream.step_of(self.item.name, reader.runner.offsets)
