"""The checksum files of a Delta table: what a version of it comes to, so that no reader need count.

Source: "Version Checksum File" of the Delta protocol. Without one, Delta looks for the schema of a table by a job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import read_text
from windrow.store.delta.log.commit_files import AddedFile, log_file
from windrow.store.delta.log.log_store import VersionTaken, put_beside

_KEPT = (
    "numMetadata", "numProtocol", "metadata", "protocol", "domainMetadata", "numDeletedRecordsOpt",
    "numDeletionVectorsOpt",
)  # fmt: skip
"""What a change of files leaves as it was. The protocol has more, which may be left away."""
_STAMPS = "setTransactions"


@dataclass(frozen=True)
class _Change:
    """Of one version: by how much there is more, and what its commit says of itself."""

    version: int
    size: int
    files: int
    stamp: Mapping[str, Any]
    commit: str

    def to(self, before: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the table comes to, from what it came to before."""
        sums = {
            "txnId": self.commit,
            "tableSizeBytes": before["tableSizeBytes"] + self.size,
            "numFiles": before["numFiles"] + self.files,
            **{name: before[name] for name in _KEPT if name in before},
        }
        if _STAMPS in before:  # all of them, or none
            others = [one for one in before[_STAMPS] if one["appId"] != self.stamp["appId"]]
            sums[_STAMPS] = [*others, self.stamp]
        return sums


@dataclass
class Checksums:
    """Of the table at a path, with Delta's log of it; those of the newest version are remembered.

    Delta writes those of its own commits some seconds behind them. Until they are there the changes behind them are
    kept, and counted on as soon as they are.
    """

    spark: SparkSession
    path: str
    log: Any
    _newest: Mapping[str, Any] | None = None
    _changes: list[_Change] = field(default_factory=list)
    """Those that `_newest` does not know."""

    def write(
        self,
        version: int,
        added: Sequence[AddedFile],
        removed: Sequence[AddedFile],
        stamp: Mapping[str, Any],
        commit: str,
    ) -> None:
        """Write those of a version that changed the files of the one before, if anybody knows what that came to.

        `stamp` is the commit's `txn`, as it stands there: Delta compares them before it makes a checkpoint.
        """
        grown = _bytes(added) - _bytes(removed)
        self._changes.append(_Change(version, grown, len(added) - len(removed), stamp, commit))
        sums = self._newest or self._of(self._changes[0].version - 1)
        if sums is None:
            return
        for change in self._changes:
            sums = change.to(sums)
        with suppress(VersionTaken):  # by somebody who knows the same
            put_beside(self.spark, self.log, self.path, version, "crc", [json.dumps(sums)])
        self._newest, self._changes = sums, []

    def count(self, transaction: Any, snapshot: Any) -> None:
        """Have Delta count those of a snapshot that is the newest, where nobody has: it reads the log for that."""
        if self._changes:
            transaction.writeChecksumFile(self._changes[-1].commit, snapshot)
            self._changes = []

    def _of(self, version: int) -> Mapping[str, Any] | None:
        return _read(read_text(self.spark, log_file(self.path, version, "crc")))


def _bytes(files: Sequence[AddedFile]) -> int:
    return sum(file.size for file in files)


def _read(text: str | None) -> Mapping[str, Any] | None:
    """None where there is none, or half of one: readers count themselves then."""
    try:
        found: Mapping[str, Any] | None = json.loads(text or "null")
    except ValueError:
        return None
    return found
