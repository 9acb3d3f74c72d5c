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


@dataclass
class Checksums:
    """Of the table at a path, with Delta's log of it; those of the newest version are remembered."""

    spark: SparkSession
    path: str
    log: Any
    _newest: tuple[int, Mapping[str, Any] | None] = field(default=(-1, None))

    def write(
        self,
        version: int,
        added: Sequence[AddedFile],
        removed: Sequence[AddedFile],
        stamp: Mapping[str, Any],
        commit: str,
    ) -> None:
        """Write those of a version that changed the files of the one before; nothing where that one has none.

        `stamp` is the commit's `txn`, as it stands there: Delta compares them before it makes a checkpoint.
        """
        before = self._of(version - 1)
        if before is None:
            return
        sums = {
            "txnId": commit,
            "tableSizeBytes": before["tableSizeBytes"] + _bytes(added) - _bytes(removed),
            "numFiles": before["numFiles"] + len(added) - len(removed),
            **{name: before[name] for name in _KEPT if name in before},
        }
        if _STAMPS in before:  # all of them, or none
            others = [one for one in before[_STAMPS] if one["appId"] != stamp["appId"]]
            sums[_STAMPS] = [*others, stamp]
        with suppress(VersionTaken):  # by somebody who knows the same
            put_beside(self.spark, self.log, self.path, version, "crc", [json.dumps(sums)])
        self._newest = (version, sums)

    def _of(self, version: int) -> Mapping[str, Any] | None:
        if self._newest[0] != version:
            text = read_text(self.spark, log_file(self.path, version, "crc"))
            self._newest = (version, _read(text))
        return self._newest[1]


def _bytes(files: Sequence[AddedFile]) -> int:
    return sum(file.size for file in files)


def _read(text: str | None) -> Mapping[str, Any] | None:
    """None where there is none, or half of one: readers count themselves then."""
    try:
        found: Mapping[str, Any] | None = json.loads(text or "null")
    except ValueError:
        return None
    return found
