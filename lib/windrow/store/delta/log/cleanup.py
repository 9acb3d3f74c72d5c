"""Old commits are removed from the log of a table, up to a checkpoint that says what they came to.

Source: "Metadata Cleanup" of the Delta protocol. Delta does so by itself when it makes a checkpoint, after thirty days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import Folder, folder
from windrow.store.delta.location import LOG
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.commits import newest_step

_OF_A_VERSION = re.compile(r"(\d{20})\..+")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet")


@dataclass(frozen=True)
class LogCleanup:
    """The log of the table at a path."""

    spark: SparkSession
    path: str

    def removable(self, before: int) -> list[str]:
        """The files of the versions before the newest checkpoint whose commit is older than a time in microseconds.

        So every version that is not older than that time can still be read. The commit of the newest step stays, too.
        None where there is no such checkpoint.
        """
        log, newest = self._log, newest_step(CommitFiles(self.spark, self.path))
        names = log.names()
        commits = {name for name in names if name.endswith(".json") and (newest is None or int(name[:20]) <= newest[0])}
        checkpoints = sorted((found[1] for found in map(_CHECKPOINT.fullmatch, names) if found), reverse=True)
        kept = next((one for one in checkpoints if f"{one}.json" in commits and _is_old(log, one, before)), None)
        if kept is None:
            return []
        versions = ((name, _OF_A_VERSION.fullmatch(name)) for name in names)
        return sorted(name for name, found in versions if found is not None and found[1] < kept)

    def run(self, before: int) -> int:
        """Remove them, the oldest first; how many commits they were."""
        files = self.removable(before)
        for name in files:
            self._log.remove(name)
        return sum(name.endswith(".json") for name in files)

    @property
    def _log(self) -> Folder:
        return folder(self.spark, f"{self.path}/{LOG}")


def _is_old(log: Folder, version: str, before: int) -> bool:
    return log.modified(f"{version}.json") < before
