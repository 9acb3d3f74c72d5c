"""The history of a table, so far as it says what is in the table no more: old files, and statistics in old commits.

Delta keeps both for who reads an old version. VACUUM removes files that no version of late has; the commits that added
them say for 30 days which least and greatest values they had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import Folder, delete_file, file_state, folder, replace_file
from windrow.store.delta.location import LOG, Location
from windrow.store.delta.log.commit_files import CommitFiles, log_file
from windrow.store.delta.log.log_store import activate, delta_log

_OLD = re.compile(r"(\d{20})\.(?:checkpoint\.|crc$|\d{20}\.compacted\.json$)")
"""Files of the log beside commits, which are for a version: checkpoints, checksums, and commits put together."""
_UNFINISHED = re.compile(r"\.\d{20}\..+\.tmp")
"""What is about to become a file of the log, or would have been."""
_OF_ROWS = frozenset({"stats", "tags"})
"""What an action says of the rows of its file."""
_PARAMETERS = frozenset({"mode", "partitionBy", "zOrderBy", "clusterBy", "auto"})
"""Of what a commit says that it was told, what has no values of rows. A predicate has."""
_REDUCED = "reduced"
"""What stands in the `commitInfo` of a commit that says no more of rows."""


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

    def erase(self, before: int) -> Erased:
        """Remove the files that the table has no more, and what its log says of their rows.

        Data files that a writer has put there and not committed are none of these; half-written files of the log are,
        if they were written before that time, in microseconds. Commits up to the last one that has removed files keep
        which files they have added and removed: a writer that is late must find its version taken, and whether that
        concerns it. Whoever reads an older version meanwhile fails.
        """
        activate(self.spark)
        self._remove_unfinished(before)
        nothing = self._java.scala.Option.empty()
        snapshot = self._log.update(False, nothing, nothing)
        newest = int(snapshot.version())
        versions = [version for version in self._commits.versions() if version <= newest]
        last = next((version for version in reversed(versions) if self._commits.removes(version)), None)
        if last is None:
            return Erased()
        self._log.checkpoint()
        live = {json.loads(file.json())["add"]["path"] for file in snapshot.allFiles().collectAsList()}
        pending = self._pending([version for version in versions if version <= last])
        gone = {path for version in pending for path in self._removed(version)} - live
        removed = sum(delete_file(self.spark, f"{self.location.path}/{unquote(path)}") for path in sorted(gone))
        for name in self._names.names():
            found = _OLD.match(name)
            if found is not None and int(found[1]) < newest:
                self._names.remove(name)
        for version in pending:
            self._reduce(version, has_rows=version == last)
        for version in (version for version in versions if version > last):
            self._reduce(version, has_rows=True)
        return Erased(removed, last)

    def _pending(self, versions: list[int]) -> list[int]:
        """Those of these versions whose commits say something of rows, in order: they are reduced in that order."""
        found = []
        for version in reversed(versions):
            if any(f'"{_REDUCED}": true' in line for line in self._lines(version) if line.startswith('{"commitInfo"')):
                break
            found.append(version)
        return found[::-1]

    def _removed(self, version: int) -> Iterator[str]:
        """The paths of the files that a commit has removed, as they stand in the log, of those in the table's folder.

        What a commit says of changed rows is in files of their own.
        """
        for line in self._lines(version):
            if line.startswith(('{"remove"', '{"cdc"')):
                (action,) = json.loads(line).values()
                if "://" not in action["path"] and not action["path"].startswith(("file:", "/")):
                    yield action["path"]

    def _reduce(self, version: int, has_rows: bool) -> None:
        """Take out of a commit what it says of rows; `has_rows`: those of the files that it adds are in the table."""
        lines = self._lines(version)
        made = [reduced(line, has_rows) for line in lines]
        if made != lines:
            replace_file(self.spark, log_file(self.location.path, version), "\n".join([*made, ""]))

    def _remove_unfinished(self, before: int) -> None:
        for name in filter(_UNFINISHED.match, self._names.names()):
            state = file_state(self.spark, f"{self.location.path}/{LOG}/{name}")
            if state is not None and 1000 * state.modified < before:  # None: it has become a file of the log
                self._names.remove(name)

    def _lines(self, version: int) -> list[str]:
        return [line for line in self._commits.lines(version) or () if line]

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
    def _names(self) -> Folder:
        return folder(self.spark, f"{self.location.path}/{LOG}")


def reduced(line: str, has_rows: bool) -> str:
    """A line of a commit without values of rows; `has_rows`: those of the files that it adds are in the table."""
    ((kind, action),) = json.loads(line).items()
    if kind == "commitInfo":
        said = action.get("operationParameters") or {}
        kept = {name: value for name, value in said.items() if name in _PARAMETERS}
        of_all = {} if has_rows else {_REDUCED: True}
        if kept == said and not of_all:
            return line
        return json.dumps({kind: {**action, "operationParameters": kept, **of_all}})
    if kind == "remove" or (kind == "add" and not has_rows):
        if _OF_ROWS.isdisjoint(action):
            return line
        return json.dumps({kind: {name: value for name, value in action.items() if name not in _OF_ROWS}})
    return line
