"""Maintenance of a pipeline's tables: compact the journal, drop, compact files, vacuum. What the tables say stays as it
is.

It may run beside a stream. A stream only appends to what is rewritten here, and reads what was rewritten through Delta;
where both would change the same rows of `current`, one of them does it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.erasing import begin_erasing, erase_history
from windrow.drivers.forget.windows.leaving import LeftWindows
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.retention.removal import removed_by_age
from windrow.drivers.spark.session import working_session
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.stages.stage import Stage
from windrow.spec.times import DAY, HOUR, format_duration
from windrow.store.delta.clustering import Clustering
from windrow.store.delta.floors import Floors, journal_floor, version_floor
from windrow.store.delta.leftovers import leftovers
from windrow.store.delta.location import STAGING, Location
from windrow.store.delta.log.cleanup import LogCleanup
from windrow.store.delta.log.retries import tried_again
from windrow.store.delta.upkeep import MANY, SETTINGS, Size, Upkeep, is_done, sizes
from windrow.store.journal.cells import compact
from windrow.store.journal.control import has_stream
from windrow.store.journal.journal import Journal

KEEP = MOST_KEPT = 7 * DAY
"""So long Delta remembers which files it has removed, and reads old versions."""
MOST_LOGGED = 30 * DAY
"""So long Delta keeps commits, unless a table says otherwise."""
LEAST_KEPT = HOUR
"""Whoever reads a table has so long to come to its end, at least."""

NEAR = 8
"""Landing steps that a stage may lack while the rows of its source are put together: it reads what was put together
more slowly."""


@dataclass(frozen=True)
class Maintained:
    """What was done to one table. Bytes and files `on_disk` are those of old versions too.

    `versions_removed` is how many versions can be read no more, `notes` what else there is to say.
    """

    table: str
    before: Size
    after: Size
    versions_removed: int = 0
    notes: tuple[str, ...] = ()


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
    if keep and not LEAST_KEPT <= keep <= MOST_KEPT:
        hint = "whoever reads a table has to come to its end; and Delta reads no version that is older than 7 days"
        raise SpecError("keep", "must be 0h, or from 1h to 7d", format_duration(keep), hint)
    if log is not None and not max(keep, LEAST_KEPT) <= log <= MOST_LOGGED:
        least = f"{format_duration(keep)}, as --keep," if keep else format_duration(LEAST_KEPT)
        hint = "a version that can be read needs its commit; and Delta removes commits by itself after 30 days"
        raise SpecError("log", f"must be from {least} to 30d", format_duration(log), hint)
    found = replace(Maintenance.of(pipeline, spark, max(keep, LEAST_KEPT), clock), log=log, erases=keep == 0)
    return list(found.run(dry_run))


@dataclass(frozen=True)
class Maintenance:
    """One run. `spark` is the session of upkeep, `keep` and `log` are microseconds of `clock`.

    Without `log` the commits of tables stay as long as Delta keeps them. `erases`: of what the tables have no more
    nothing is kept. Only files that no commit has named are left for as long as `keep` says: a writer at work may be
    about to commit them.
    """

    work: PipelineWork
    spark: SparkSession
    keep: int
    clock: Callable[[], int]
    log: int | None = None
    erases: bool = False

    @classmethod
    def of(cls, pipeline: Pipeline, spark: SparkSession, keep: int, clock: Callable[[], int]) -> Maintenance:
        session = working_session(spark)
        for name, value in {**sizes(spark), **SETTINGS}.items():
            session.conf.set(name, value)
        return cls(PipelineWork.open(pipeline, spark), session, keep, clock)

    @property
    def _kept_from(self) -> int:
        """What was in use at that time or later is kept."""
        return self.clock() - (0 if self.erases else self.keep)

    @property
    def floors(self) -> Floors:
        return Floors.of(self.work.lake)

    def run(self, dry_run: bool) -> Iterator[Maintained]:
        """Every table of the pipeline, one after the other."""
        if self.erases:
            begin_erasing(self.work, dry_run)
        removed = removed_by_age(self.work, self.spark, self.clock(), dry_run)
        for item in self.work.stages:
            notes = [] if dry_run else self._stage(item)
            tables = {f"journal/{item.runner.journal.generation}": notes, f"cells/{item.runner.journal.generation}": []}
            for name in (*tables, "current", "panes", "dead_letters", "ticks"):
                table = f"{item.name}/{name}"
                order = _order_of(item.runner.stage.shown) if name in ("current", "panes") else ()
                said = [*tables.get(name, []), *removed.get(table, [])]
                yield from self._table(table, True, said, dry_run, order)
        for source in self.work.raws:
            behind = self._behind(source)
            notes = [f"not compacted: {behind} has to read it first"] if behind else []
            raw = f"{source}/raw"
            yield from self._table(raw, not behind, [*notes, *removed.get(raw, [])], dry_run)
            for name in ("landings", "dead_letters"):
                table = f"{source}/{name}"
                yield from self._table(table, True, removed.get(table, []), dry_run)
        left = [self._named(LeftWindows.of(self.work, item).location) for item in self.work.stages]
        for name in (QUALITY_TABLE, "_windrow/audits", "_windrow/generations", "_windrow/floors", *left):
            yield from self._table(name, True, [], dry_run)
        yield from self._staged(dry_run)

    def _staged(self, dry_run: bool) -> Iterator[Maintained]:
        """What runs have staged that died, and were not tried again since."""
        folder = self.work.lake.internal(STAGING)
        for found in list(leftovers(self.spark, folder, self._kept_from)):
            name, size = self._named(found.location), Size(0, found.files, found.bytes)
            if dry_run:
                yield Maintained(name, size, size, 0, ("would be removed: the run is not tried again",))
                continue
            found.location.remove(self.spark)
            yield Maintained(name, size, Size(0, 0, 0), 0, ("removed: the run was not tried again",))

    def _named(self, location: Location) -> str:
        """The name of a table: its path in the lake."""
        return location.path.removeprefix(f"{self.work.lake.root}/")

    # ---------------------------------------------------------------- a stage

    def _stage(self, item: StageWork) -> list[str]:
        """Catch a stage up, compact its journal, and drop what is spent; in words."""
        runner = item.runner
        runner.refresh()
        item.catch_up()
        if runner.last is None:
            return []
        compact(runner.journal, runner.spark, runner.last.tick, runner.forgets_until)
        point("maintain:after_compact")
        if item.projections.is_rebuilt:
            return ["nothing dropped: the tables still show another generation"]
        self._settle(item)
        point("maintain:after_places")
        return [*self._remove_generations(item), *self._drop(item)]

    def _settle(self, item: StageWork) -> None:
        """Write down how far the tables are projected. Where a stream projects them meanwhile, look again."""
        tried_again(item.projections.settle, item.catch_up)

    def _remove_generations(self, item: StageWork) -> Iterator[str]:
        """Remove the journals of older generations, which no table shows any more."""
        for number in range(1, item.runner.journal.generation):
            old = Journal.of(self.work.lake, item.runner.stage, number)
            last = old.log.last(self.spark) if old.location.exists(self.spark) else None
            if last is not None and old.log.step_before(self.spark, self._kept_from) == last.step:
                LeftWindows(self.spark, self.work.lake, item.name, number).location.remove(self.spark)
                old.snapshot.location.remove(self.spark)
                old.location.remove(self.spark)
                yield f"generation {number} removed"

    def _drop(self, item: StageWork) -> list[str]:
        """Drop transitions that every table and every reader has, and that were committed before what is kept."""
        runner, journal = item.runner, item.runner.journal
        assert runner.last is not None, "it has ticks"
        until = min(
            item.projections.projected_to, journal.log.step_before(runner.spark, self._kept_from), *self._read(item)
        )
        buckets = journal.spent_buckets(runner.spark, until, runner.last.clock.expired_end) if until else []
        if not buckets:
            return []
        self.floors.raise_to(runner.spark, journal_floor(item.name, journal.generation), until)
        point("maintain:before_drop")
        dropped = is_done(self.spark, journal.location, lambda: journal.drop(self.spark, buckets, until))
        point("maintain:after_drop")
        done = f"transitions of expired windows up to tick {until} dropped"
        return [done if dropped else "nothing dropped: other writers were in the way"]

    def _read(self, item: StageWork) -> Iterator[int]:
        """How far the stages that stream behind a stage have read it."""
        for reader in self.work.stages:
            if item in self.work.upstreams_of(reader):
                reader.runner.reload()
                if has_stream(reader.runner.last):
                    yield reader.runner.upstream.step_of(item.name, reader.runner.offsets)

    # ---------------------------------------------------------------- a table

    def _behind(self, source: str) -> str | None:
        """A stage that has far to go in the rows of a source, if there is one."""
        far = self.work.raws[source].last_step(self.work.spark) - NEAR
        readers = [item.runner for item in self.work.stages if source in item.runner.upstream.names]
        for reader in readers:  # a stream beside it has come further since
            reader.refresh()
        behind = (one for one in readers if one.upstream.step_of(source, one.offsets) < far)
        return next((one.stage.stage.name for one in behind), None)

    def _table(
        self, name: str, compacts: bool, notes: list[str], dry_run: bool, order: Sequence[str] = ()
    ) -> Iterator[Maintained]:
        """One table; `order` are the columns by which people look for its rows."""
        location = Location(f"{self.work.lake.root}/{name}")
        if not location.exists(self.spark):
            return
        upkeep = Upkeep(self.spark, location)
        before = upkeep.size()
        if dry_run:
            would = [*notes, *self._would(upkeep, before, compacts)]
            yield Maintained(name, before, before, 0, tuple([*would, *(["its history would be erased"] * self.erases)]))
            return
        after = before
        if compacts and before.files >= MANY:
            clustering = Clustering(self.spark, location, order, self.floors, name)
            notes = [*notes, *self._compacted(upkeep, clustering)]
            point("maintain:after_compaction")
            after = upkeep.size()
        done = Maintained(name, before, after, 0, tuple(notes))
        done = self._vacuumed(upkeep, done) if done.after.on_disk > done.after.files else done
        yield self._shortened(location, self._erased(upkeep, done) if self.erases else done)

    def _erased(self, upkeep: Upkeep, done: Maintained) -> Maintained:
        """The table without any file, and any statistics, of what it has no more."""
        oldest = erase_history(self.spark, upkeep.location, self.clock() - self.keep)
        return replace(done, after=upkeep.size(), versions_removed=self._unreadable(done, oldest))

    def _unreadable(self, done: Maintained, oldest: int) -> int:
        """How many versions cannot be read any more, now that the oldest that can is this one; that is kept."""
        name = version_floor(done.table)
        known = self.floors.get(self.spark, name)
        if oldest > known:
            self.floors.raise_to(self.spark, name, oldest)
        return done.versions_removed + max(oldest - known, 0)

    def _shortened(self, location: Location, done: Maintained) -> Maintained:
        """The table without the commits that are older than `log`."""
        if self.log is None:
            return done
        removed = LogCleanup(self.spark, location.path).run(self.clock() - self.log)
        point("maintain:after_log")
        return replace(done, notes=(*done.notes, f"{removed} commits removed from its log")) if removed else done

    def _compacted(self, upkeep: Upkeep, clustering: Clustering) -> Iterator[str]:
        """Put small files together, or all rows in the order in which they are looked for; in words."""
        if clustering.is_due():
            if clustering.cluster():
                yield f"ordered by {', '.join(clustering.by)}"
                return
            yield "not ordered: another writer was in the way"
        if not upkeep.compact():
            yield "not compacted: other writers were in the way"

    def _vacuumed(self, upkeep: Upkeep, done: Maintained) -> Maintained:
        """The table without the files of old versions."""
        upkeep.vacuum(self.keep)
        point("maintain:after_vacuum")
        after = upkeep.size()
        if after.on_disk == done.after.on_disk:
            return replace(done, after=after)
        oldest = upkeep.oldest_version(self._kept_from)
        return replace(done, after=after, versions_removed=self._unreadable(done, oldest))

    def _would(self, upkeep: Upkeep, size: Size, compacts: bool) -> Iterator[str]:
        if compacts and size.files >= MANY:
            yield "would be compacted"
        removable = upkeep.removable(self.keep) if size.on_disk > size.files else 0
        if removable:
            yield f"{removable} files would be removed"
        old = (
            [] if self.log is None else LogCleanup(self.spark, upkeep.location.path).removable(self.clock() - self.log)
        )
        if old:
            yield f"{sum(name.endswith('.json') for name in old)} commits would be removed from its log"


def _order_of(stage: Stage) -> Sequence[str]:
    """The columns by which people look for results: window time, and the keys."""
    return (*(() if stage.window.IS_GLOBAL else ("window_start",)), *stage.keys)
