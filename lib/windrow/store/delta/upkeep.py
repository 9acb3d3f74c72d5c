"""The upkeep of one table: small files are put together, and files of old versions removed.

Both leave what the table says as it is. A rewrite that meets another writer's gives way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from windrow.spec.times import HOUR
from windrow.store.delta.location import USER_METADATA, Location
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.commits import is_step, repeating
from windrow.store.delta.log.retries import ATTEMPTS
from windrow.store.delta.log.steps import LOOK_BACK
from windrow.store.delta.log.transactions import CONFLICTS, Appender

FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
"""The setting that says how large a file becomes, in bytes."""

_SMALLER = "spark.databricks.delta.optimize.minFileSize"
_LARGEST = 128 * 1024 * 1024

SETTINGS = {
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
    "spark.databricks.delta.vacuum.logging.enabled": "false",
}
"""Of the session that does it, whatever the user says. VACUUM keeps what it is told to, where Delta by itself would
take any duration but 0 for that of the table. No commits that say that a VACUUM was: a table that nobody writes to
would be nothing but those in the end, and the commit of its last step be cleaned away."""

_APP_ID = "windrow-maintenance"

MANY = 8
"""A table of fewer files is left as it is."""


@dataclass(frozen=True)
class Size:
    """What a table is: its live files, and all data files in its folder with their bytes."""

    files: int
    on_disk: int
    bytes: int


@dataclass(frozen=True)
class Upkeep:
    """Of the table at a location, by a session with `SETTINGS`."""

    spark: SparkSession
    location: Location

    @property
    def _table(self) -> DeltaTable:
        return self.location.table(self.spark)

    def size(self) -> Size:
        """The table as it is now."""
        files = self._table.detail().select("numFiles").collect()[0][0]
        return Size(files, *CommitFiles(self.spark, self.location.path).on_disk())

    def compact(self) -> bool:
        """Put small files together; False where other writers were in the way each time."""
        return is_done(self.spark, self.location, self._table.optimize().executeCompaction)

    def vacuum(self, keep: int) -> None:
        """Remove the files that are in no version which was the newest one within `keep` microseconds."""
        self._table.vacuum(keep / HOUR)

    def removable(self, keep: int) -> int:
        """How many files that would be; 1,000 at most are looked for."""
        path = self.location.path.replace("`", "``")
        return self.spark.sql(f"VACUUM delta.`{path}` RETAIN {keep / HOUR:.6f} HOURS DRY RUN").count()

    def oldest_version(self, before: int) -> int:
        """The oldest version that can be read when the files removed before that time are gone; 0 for all."""
        commits = CommitFiles(self.spark, self.location.path)
        return next((v for v, _ in _first(commits.before(before)) if commits.removes(v)), 0)


def _first(commits: Iterable[tuple[int, str | None]]) -> Iterable[tuple[int, str | None]]:
    return (commit for commit, _ in zip(commits, range(LOOK_BACK), strict=False))


def sizes(spark: SparkSession) -> dict[str, str]:
    """How large files become in the session that does it: as the user says, or 128 MB.

    They are put together up to a size at which they are left alone from then on, three quarters of that.
    """
    largest = str(spark.conf.get(FILE_SIZE, str(_LARGEST)))
    smaller = str(int(largest) * 3 // 4) if largest.isdigit() else largest
    return {FILE_SIZE: largest, _SMALLER: str(spark.conf.get(_SMALLER, smaller))}


def is_done(spark: SparkSession, location: Location, do: Callable[[], Any], attempts: int = ATTEMPTS) -> bool:
    """Do something to a table in that session, which is no step of it; False where others were in the way each time."""
    for _ in range(attempts):
        said = repeating(CommitFiles(spark, location.path))
        spark.conf.set(USER_METADATA, said)
        try:
            do()
            _say_again(spark, location, said)
            return True
        except CONFLICTS:
            continue
        finally:
            spark.conf.unset(USER_METADATA)
    return False


def _say_again(spark: SparkSession, location: Location, said: str) -> None:
    """Repeat the newest step in a commit of its own where it was committed while something else was done.

    An append is in nobody's way, so what was done repeats an older one, behind it.
    """
    commits = CommitFiles(spark, location.path)
    newest = repeating(commits)
    if newest == said or is_step(commits.metadata(commits.versions()[-1])):
        return
    appender = Appender(spark, location.path)
    if appender.version == commits.versions()[-1] and repeating(commits) == newest:
        with suppress(*CONFLICTS):  # whoever was ahead has said it, or will
            appender.commit(_APP_ID, appender.version + 1, newest)
