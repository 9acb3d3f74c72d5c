"""Maintenance of one table: small files are put together, and files and commits of old versions removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from windrow.drivers.forget.erasing import erase_history
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.pipeline.points import point
from windrow.store.delta.clustering import Clustering
from windrow.store.delta.floors import Floors, version_floor
from windrow.store.delta.location import Lake, Location
from windrow.store.delta.log.cleanup import LogCleanup
from windrow.store.delta.upkeep import MANY, Size, Upkeep


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


@dataclass(frozen=True)
class TableMaintenance:
    """One run for the tables of a lake. `spark` is the session of upkeep."""

    spark: SparkSession
    lake: Lake
    kept: Kept

    def run(
        self, name: str, notes: Sequence[str], dry_run: bool, compacts: bool = True, order: Sequence[str] = ()
    ) -> Iterator[Maintained]:
        """One table, if it is there; `order` are the columns by which people look for its rows."""
        location = Location(f"{self.lake.root}/{name}")
        if not location.exists(self.spark):
            return
        upkeep = Upkeep(self.spark, location)
        before = upkeep.size()
        if dry_run:
            yield Maintained(name, before, before, 0, (*notes, *self._would(upkeep, before, compacts)))
            return
        after, said = before, [*notes]
        if compacts and before.files >= MANY:
            said += self._compacted(upkeep, Clustering(self.spark, location, order, self._floors, name))
            point("maintain:after_compaction")
            after = upkeep.size()
        done = Maintained(name, before, after, 0, tuple(said))
        done = self._vacuumed(upkeep, done) if done.after.on_disk > done.after.files else done
        yield self._shortened(location, self._erased(upkeep, done) if self.kept.erases else done)

    @property
    def _floors(self) -> Floors:
        return Floors.of(self.lake)

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
        upkeep.vacuum(self.kept.keep)
        point("maintain:after_vacuum")
        after = upkeep.size()
        if after.on_disk == done.after.on_disk:
            return replace(done, after=after)
        oldest = upkeep.oldest_version(self.kept.since)
        return replace(done, after=after, versions_removed=self._unreadable(done, oldest))

    def _erased(self, upkeep: Upkeep, done: Maintained) -> Maintained:
        """The table without any file, and any statistics, of what it has no more."""
        oldest = erase_history(self.spark, upkeep.location, self.kept.named_since)
        return replace(done, after=upkeep.size(), versions_removed=self._unreadable(done, oldest))

    def _unreadable(self, done: Maintained, oldest: int) -> int:
        """How many versions cannot be read any more, now that the oldest that can is this one; that is kept."""
        name = version_floor(done.table)
        known = self._floors.get(self.spark, name)
        if oldest > known:
            self._floors.raise_to(self.spark, name, oldest)
        return done.versions_removed + max(oldest - known, 0)

    def _shortened(self, location: Location, done: Maintained) -> Maintained:
        """The table without the commits that are older than they are kept."""
        since = self.kept.logged_since
        if since is None:
            return done
        removed = LogCleanup(self.spark, location.path).run(since)
        point("maintain:after_log")
        return replace(done, notes=(*done.notes, f"{removed} commits removed from its log")) if removed else done

    def _would(self, upkeep: Upkeep, size: Size, compacts: bool) -> Iterator[str]:
        if compacts and size.files >= MANY:
            yield "would be compacted"
        removable = upkeep.removable(self.kept.keep) if size.on_disk > size.files else 0
        if removable:
            yield f"{removable} files would be removed"
        since = self.kept.logged_since
        old = [] if since is None else LogCleanup(self.spark, upkeep.location.path).removable(since)
        if old:
            yield f"{sum(name.endswith('.json') for name in old)} commits would be removed from its log"
        if self.kept.erases:
            yield "its history would be erased"
