"""The history of a table, so far as it says what is in the table no more: old files, and statistics in old commits.

Delta keeps both for who reads an old version. VACUUM removes files that no version of late has; the commits that added
them say for 30 days which least and greatest values they had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from pyspark.sql import SparkSession

from windrow.store.delta.commit_files import REDUCED, CommitFiles, log_file
from windrow.store.delta.file_system import delete_file, folder, replace_file
from windrow.store.delta.location import LOG, Location
from windrow.store.delta.log_store import activate, delta_log

_KEPT = ("timestamp", "operation", "userMetadata", "engineInfo", "txnId")
"""What a reduced commit says of itself: windrow reads its step, writer and notes from there."""

_OLD = re.compile(r"(\d{20})\.(?:checkpoint\.|crc$|\d{20}\.compacted\.json$)")
"""Files of the log beside commits, which are for a version: checkpoints, checksums, and commits put together."""


@dataclass(frozen=True)
class Erased:
    """How many data files were removed, and the oldest version that can be read; 0 where all can."""

    files: int = 0
    oldest: int = 0


@dataclass(frozen=True)
class History:
    """Of the table at a location."""

    spark: SparkSession
    location: Location

    def erase(self) -> Erased:
        """Remove the files that the table has no more, and what its log says of them.

        Files that a writer has put there and not committed are none of these. Commits before the last one that has
        removed files are reduced, and not deleted: a writer that is late must find its version taken. Whoever reads an
        older version meanwhile fails.
        """
        activate(self.spark)
        nothing = self._java.scala.Option.empty()
        snapshot = self._log.update(False, nothing, nothing)
        newest = int(snapshot.version())
        last = self._last_removal(newest)
        if last is None:
            return Erased()
        self._log.checkpoint()
        live = {json.loads(file.json())["add"]["path"] for file in snapshot.allFiles().collect()}
        removed = sum(delete_file(self.spark, self._path(path)) for path in {*self._removed(last)} - live)
        for name in self._names.names():
            found = _OLD.match(name)
            if found is not None and int(found[1]) < newest:
                delete_file(self.spark, f"{self.location.path}/{LOG}/{name}")
        for version in self._commits.versions():
            if version <= last:
                self._reduce(version, version == last)
        return Erased(removed, last)

    def _last_removal(self, newest: int) -> int | None:
        """The newest commit that has removed files."""
        versions = [version for version in self._commits.versions() if version <= newest]
        return next((version for version in reversed(versions) if self._commits.removes(version)), None)

    def _removed(self, until: int) -> Iterator[str]:
        """The paths of removed files, as they stand in the log."""
        for version in self._commits.versions():
            if version <= until:
                removes = (line for line in self._names.lines(_commit(version)) if line.startswith('{"remove"'))
                yield from (json.loads(line)["remove"]["path"] for line in removes)

    def _reduce(self, version: int, is_last: bool) -> None:
        """Take out of a commit what it says of files; of the last one the statistics of those that it removes.

        That one may be of a step whose files are read by it.
        """
        lines = list(self._names.lines(_commit(version)))
        made = [line for one in lines for line in [_stripped(one)] if line] if is_last else [_reduced(lines)]
        if made != lines:
            replace_file(self.spark, log_file(self.location.path, version), "\n".join([*made, ""]))

    def _path(self, path: str) -> str:
        """Where a file is, by its path in the log."""
        plain = unquote(path)
        return plain if "://" in plain or plain.startswith(("file:", "/")) else f"{self.location.path}/{plain}"

    @property
    def _java(self) -> Any:
        return self.spark._jvm

    @cached_property
    def _log(self) -> Any:
        return delta_log(self.spark, self.location.path)

    @cached_property
    def _commits(self) -> CommitFiles:
        return CommitFiles(self.spark, self.location.path)

    @cached_property
    def _names(self) -> Any:
        return folder(self.spark, f"{self.location.path}/{LOG}")


def _commit(version: int) -> str:
    return f"{version:020d}.json"


def _reduced(lines: list[str]) -> str:
    """The one line of a commit that says who wrote it, as which step."""
    infos: list[Mapping[str, Any]] = [json.loads(line)["commitInfo"] for line in lines if _is_info(line)]
    info = infos[0] if infos else {}
    line = json.dumps({"commitInfo": {**{name: info[name] for name in _KEPT if name in info}, "reduced": True}})
    assert REDUCED in line, "readers know it by that"
    return line


def _stripped(line: str) -> str:
    """A line of a commit without a condition, and without statistics of what it removes."""
    if _is_info(line):
        info = json.loads(line)["commitInfo"]
        return json.dumps({"commitInfo": {**info, "operationParameters": {}}})
    if line.startswith('{"remove"'):
        remove = json.loads(line)["remove"]
        return json.dumps({"remove": {name: value for name, value in remove.items() if name not in ("stats", "tags")}})
    return line


def _is_info(line: str) -> bool:
    return line.startswith('{"commitInfo"')
