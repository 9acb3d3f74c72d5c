"""The commit files of a Delta table, read as the Delta protocol lays them down: `_delta_log/<version>.json`.

Only the user metadata of a commit and the files that it added are looked at. It takes milliseconds where the table's
history takes tenths of a second, and a tick looks at it several times.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from pyspark.sql import SparkSession

from windrow.spec.errors import WindrowError
from windrow.store.delta.file_system import Folder, folder, hadoop, is_there
from windrow.store.delta.location import LOG


def log_file(table: str, version: int, kind: str = "json") -> str:
    """The path of the commit of a version of a table, or of another file beside it."""
    return f"{table}/{LOG}/{_name(version, kind)}"


def _name(version: int, kind: str = "json") -> str:
    return f"{version:020d}.{kind}"


_UNQUOTED = "/=:@&+$,;!*'()~"
"""What Delta leaves as it is in the path of a file: VACUUM compares texts, and would take another one for no file."""


class BrokenCommit(WindrowError):
    """A commit file that is not what was written there."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"the commit file {file} is broken: {reason}")


def _read(line: str, file: str) -> dict[str, Any]:
    try:
        action: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise BrokenCommit(file, str(error)) from None
    return action


@dataclass(frozen=True)
class FileStatistics:
    """The rows of a file, and of some columns the least and greatest values, and how many are null."""

    rows: int
    least: Mapping[str, Any]
    greatest: Mapping[str, Any]
    nulls: Mapping[str, int]

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> FileStatistics:
        """Raises KeyError where Delta was told to count nothing."""
        named = (stats.get(name, {}) for name in ("minValues", "maxValues", "nullCount"))
        return cls(stats["numRecords"], *named)

    def known(self, column: str) -> int:
        """The rows in which a column is not null."""
        return self.rows - self.nulls[column]


@dataclass(frozen=True)
class AddedFile:
    """A data file of a table: its path below the table, its bytes, and what Delta knows of it, as in the commit."""

    path: str
    size: int
    stats: str | None
    partition: Mapping[str, str | None]

    @property
    def rows(self) -> int:
        """The rows in it; 0 where Delta was told to count nothing."""
        return int(json.loads(self.stats or "{}").get("numRecords", 0))

    @classmethod
    def from_json(cls, text: str) -> AddedFile:
        """From the action by which a commit adds it."""
        return cls.of(json.loads(text)["add"])

    @classmethod
    def of(cls, add: Mapping[str, Any]) -> AddedFile:
        return cls(unquote(add["path"]), add["size"], add.get("stats"), add["partitionValues"])

    @cached_property
    def statistics(self) -> FileStatistics:
        """What Delta has counted in it, when it was written."""
        return FileStatistics.of(json.loads(self.stats or "{}"))

    def to_json(self) -> str:
        """The action by which a commit adds it."""
        return json.dumps({"add": {**self._action("modificationTime"), "stats": self.stats}})

    def removal(self) -> str:
        """The action by which a commit takes it out of the table."""
        return json.dumps({"remove": {**self._action("deletionTimestamp"), "extendedFileMetadata": True}})

    def _action(self, at: str) -> dict[str, Any]:
        return {
            "path": quote(self.path, safe=_UNQUOTED),
            "partitionValues": dict(self.partition),
            "size": self.size,
            at: time.time_ns() // 1_000_000,
            "dataChange": True,
        }


@dataclass(frozen=True)
class CommitFiles:
    """The commits of the table at a path, which may be any URI that Spark writes."""

    spark: SparkSession
    path: str

    def after(self, version: int) -> Iterator[tuple[int, str | None]]:
        """(version, user metadata) of every commit behind a version, in order. Errors: BrokenCommit."""
        number = version + 1
        while self._log.has(_name(number)):
            yield number, self._metadata(number)
            number += 1

    def is_there(self, version: int) -> bool:
        """Whether the commit of a version is there."""
        return bool(self._log.has(_name(version)))

    def added(self, version: int) -> list[AddedFile]:
        """The files that a commit added."""
        added = (line for line in self._log.lines(_name(version)) if line.startswith('{"add"'))
        return [AddedFile.of(_read(line, log_file(self.path, version))["add"]) for line in added]

    def lines(self, version: int) -> list[str] | None:
        """The actions of a commit; None where it is not there."""
        return [*self._log.lines(_name(version))] if self._log.has(_name(version)) else None

    def oldest(self) -> int:
        """The oldest version whose commit is there; 0 where there is none."""
        return min(self.versions(), default=0)

    def has(self, file: str) -> bool:
        """Whether a file is there, by its path below the table or its whole one."""
        is_whole = "://" in file or file.startswith(("file:", "/"))
        return is_there(self.spark, file if is_whole else f"{self.path}/{file}")

    def metadata(self, version: int) -> str | None:
        """The user metadata of a commit; None where there is none, or the commit is not there any more."""
        return self._metadata(version) if self._log.has(_name(version)) else None

    def oldest_to_read(self, wanted: Callable[[str | None], bool]) -> int:
        """The newest version whose metadata is wanted; when there is none, the oldest that is there, or 0."""
        versions = self.versions()
        for version in reversed(versions):
            if wanted(self._metadata(version)):
                return version
        return versions[0] if versions else 0

    def before(self, micros: int) -> Iterator[tuple[int, str | None]]:
        """(version, user metadata) of the commits that were written before a time, newest first."""
        versions = self.versions()
        until = bisect_left(versions, micros, key=lambda version: self._log.modified(_name(version)))
        for version in reversed(versions[:until]):
            yield version, self._metadata(version)

    def removes(self, version: int) -> bool:
        """Whether a commit took files out of the table."""
        return any(line.startswith('{"remove"') for line in self._log.lines(_name(version)))

    def on_disk(self) -> tuple[int, int]:
        """The number of data files in the table's folder, those of old versions too, and their bytes."""
        (files, path), (_, log) = (hadoop(self.spark, place) for place in (self.path, f"{self.path}/{LOG}"))
        whole, of_log = files.getContentSummary(path), files.getContentSummary(log)
        return whole.getFileCount() - of_log.getFileCount(), whole.getLength() - of_log.getLength()

    def versions(self) -> list[int]:
        """The versions whose commits are there, in order."""
        return sorted(int(name[:-5]) for name in self._log.names() if name.endswith(".json") and name[:-5].isdigit())

    @cached_property
    def _log(self) -> Folder:
        return folder(self.spark, f"{self.path}/{LOG}")

    def _metadata(self, version: int) -> str | None:
        """The user metadata of a commit: `commitInfo` is one of its first lines."""
        with closing(self._log.lines(_name(version))) as lines:
            for line in lines:
                if line.startswith('{"commitInfo"'):
                    metadata: str | None = _read(line, log_file(self.path, version))["commitInfo"].get("userMetadata")
                    return metadata
        return None
