"""Maintenance of a pipeline's tables: compact the journal, drop, compact files, vacuum. What the tables say stays as it
is.

It may run beside a stream. A stream only appends to what is rewritten here, and reads what was rewritten through Delta;
where both would change the same rows of `current`, one of them does it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.erasing import begin_erasing
from windrow.drivers.forget.windows.leaving import LeftWindows
from windrow.drivers.maintain.kept import KEEP, Kept
from windrow.drivers.maintain.stages import StageMaintenance
from windrow.drivers.maintain.tables import Maintained, TableMaintenance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.retention.removal import removed_by_age
from windrow.drivers.spark.session import working_session
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.stages.stage import Stage
from windrow.store.delta.leftovers import leftovers
from windrow.store.delta.location import STAGING, Location
from windrow.store.delta.upkeep import SETTINGS, Size, sizes

NEAR = 8
"""Landing steps that a stage may lack while the rows of its source are put together: it reads what was put together
more slowly."""


def maintain(
    pipeline: Pipeline,
    spark: SparkSession,
    keep: int = KEEP,
    dry_run: bool = False,
    clock: Callable[[], int] = clock_micros,
    log: int | None = None,
) -> list[Maintained]:
    """Compact journals into snapshots, drop what no consumer needs, put small files together, remove old ones.

    Nothing is removed that was in use within `keep` microseconds. With 0 all that tables have no more is removed, also
    from their logs: what was forgotten is gone then, and who reads a table meanwhile has to begin again. Commits stay
    in the logs of the tables for `log` microseconds; without it as long as Delta keeps them. A dry run changes nothing,
    and says what it would do. Errors: SpecError where `keep` is neither 0 nor from an hour to seven days, or `log` not
    from `keep`, or an hour, to thirty days; NotYet where a forgetting is to be finished first.
    """
    return list(Maintenance.of(pipeline, spark, Kept.of(keep, log, clock)).run(dry_run))


@dataclass(frozen=True)
class Maintenance:
    """One run. `spark` is the session of upkeep."""

    work: PipelineWork
    spark: SparkSession
    kept: Kept

    @classmethod
    def of(cls, pipeline: Pipeline, spark: SparkSession, kept: Kept) -> Maintenance:
        session = working_session(spark)
        for name, value in {**sizes(spark), **SETTINGS}.items():
            session.conf.set(name, value)
        return cls(PipelineWork.open(pipeline, spark), session, kept)

    def run(self, dry_run: bool) -> Iterator[Maintained]:
        """Every table of the pipeline, one after the other."""
        if self.kept.erases:
            begin_erasing(self.work, dry_run)
        removed = removed_by_age(self.work, self.spark, self.kept.clock(), dry_run)
        one = TableMaintenance(self.spark, self.work.lake, self.kept)
        for item in self.work.stages:
            notes = [] if dry_run else StageMaintenance(self.work, item, self.spark, self.kept).run()
            tables = {f"journal/{item.runner.journal.generation}": notes, f"cells/{item.runner.journal.generation}": []}
            for name in (*tables, "current", "panes", "dead_letters", "ticks"):
                table = f"{item.name}/{name}"
                order = _order_of(item.runner.stage.shown) if name in ("current", "panes") else ()
                yield from one.run(table, [*tables.get(name, []), *removed.get(table, [])], dry_run, order=order)
        for source in self.work.raws:
            behind = self._behind(source)
            notes = [f"not compacted: {behind} has to read it first"] if behind else []
            raw = f"{source}/raw"
            yield from one.run(raw, [*notes, *removed.get(raw, [])], dry_run, compacts=not behind)
            for table in (f"{source}/landings", f"{source}/dead_letters"):
                yield from one.run(table, removed.get(table, []), dry_run)
        left = [self._named(LeftWindows.of(self.work, item).location) for item in self.work.stages]
        for name in (QUALITY_TABLE, "_windrow/audits", "_windrow/generations", "_windrow/floors", *left):
            yield from one.run(name, [], dry_run)
        yield from self._staged(dry_run)

    def _staged(self, dry_run: bool) -> Iterator[Maintained]:
        """What runs have staged that died, and were not tried again since."""
        folder = self.work.lake.internal(STAGING)
        for found in list(leftovers(self.spark, folder, self.kept.since)):
            name, size = self._named(found.location), Size(0, found.files, found.bytes)
            if dry_run:
                yield Maintained(name, size, size, 0, ("would be removed: the run is not tried again",))
                continue
            found.location.remove(self.spark)
            yield Maintained(name, size, Size(0, 0, 0), 0, ("removed: the run was not tried again",))

    def _named(self, location: Location) -> str:
        """The name of a table: its path in the lake."""
        return location.path.removeprefix(f"{self.work.lake.root}/")

    def _behind(self, source: str) -> str | None:
        """A stage that has far to go in the rows of a source, if there is one."""
        far = self.work.raws[source].last_step(self.work.spark) - NEAR
        readers = [item.runner for item in self.work.stages if source in item.runner.upstream.names]
        for reader in readers:  # a stream beside it has come further since
            reader.refresh()
        behind = (one for one in readers if one.upstream.step_of(source, one.offsets) < far)
        return next((one.stage.stage.name for one in behind), None)


def _order_of(stage: Stage) -> Sequence[str]:
    """The columns by which people look for results: window time, and the keys."""
    return (*(() if stage.window.IS_GLOBAL else ("window_start",)), *stage.keys)
