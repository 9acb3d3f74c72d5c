"""The commit files of a Delta table, read as the Delta protocol lays them down: `_delta_log/<version>.json`.

Only the user metadata of a commit and the files that it added are looked at. It takes milliseconds where the table's
history takes tenths of a second, and a tick looks at it several times.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from py4j.java_gateway import JavaClass, JavaObject
from pyspark.sql import SparkSession

from windrow.spec.errors import WindrowError
from windrow.store.delta.location import LOG


def log_file(table: str, version: int, kind: str = "json") -> str:
    """The path of the commit of a version of a table, or of another file beside it."""
    return f"{table}/{LOG}/{version:020d}.{kind}"


_UNQUOTED = "/=:@&+$,;!*'()~"
"""What Delta leaves as it is in the path of a file: VACUUM compares texts, and would take another one for no file."""


@dataclass(frozen=True)
class _Classes:
    """Java's classes: each look at one by its full name asks the JVM for every part of it."""

    path: JavaClass
    reader: JavaClass
    lines: JavaClass
    utils: JavaClass

    @classmethod
    def of(cls, spark: SparkSession) -> _Classes:
        java: Any = spark._jvm
        read = java.java.io
        return cls(
            java.org.apache.hadoop.fs.Path,
            read.InputStreamReader,
            read.BufferedReader,
            java.org.apache.commons.io.IOUtils,
        )


class BrokenCommit(WindrowError):
    """A commit file that is not what was written there."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"the commit file {file} is broken: {reason}")


def _read(line: str, file: JavaObject) -> dict[str, Any]:
    try:
        action: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise BrokenCommit(str(file.toString()), str(error)) from None
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
        add = {
            "path": quote(self.path, safe=_UNQUOTED),
            "partitionValues": dict(self.partition),
            "size": self.size,
            "modificationTime": time.time_ns() // 1_000_000,
            "dataChange": True,
            "stats": self.stats,
        }
        return json.dumps({"add": add})


@dataclass(frozen=True)
class CommitFiles:
    """The commits of the table at a path, by Hadoop's file system, so that any URI that Spark writes can be read."""

    spark: SparkSession
    path: str

    def after(self, version: int) -> Iterator[tuple[int, str | None]]:
        """(version, user metadata) of every commit behind a version, in order. Errors: BrokenCommit."""
        number, files = version + 1, self._file_system
        while True:
            file = self._file(number)
            if not files.exists(file):
                return
            yield number, self._metadata(files, file)
            number += 1

    def added(self, version: int) -> list[AddedFile]:
        """The files that a commit added."""
        lines = [line for line in self._lines(version) if line.startswith('{"add"')]
        return [AddedFile.of(_read(line, self._file(version))["add"]) for line in lines]

    def lines(self, version: int) -> list[str] | None:
        """The actions of a commit; None where it is not there."""
        return self._lines(version) if self._file_system.exists(self._file(version)) else None

    def oldest(self) -> int:
        """The oldest version whose commit is there; 0 where there is none."""
        return min(self._versions(), default=0)

    def has(self, file: str) -> bool:
        """Whether a file is there, by its path below the table or its whole one."""
        is_whole = "://" in file or file.startswith(("file:", "/"))
        return bool(self._file_system.exists(self._path(file if is_whole else f"{self.path}/{file}")))

    def _lines(self, version: int) -> list[str]:
        stream = self._file_system.open(self._file(version))
        text = self._classes.utils.toString(stream, "UTF-8")
        stream.close()
        return str(text).splitlines()

    def metadata(self, version: int) -> str | None:
        """The user metadata of a commit; None where there is none, or the commit is not there any more."""
        files, file = self._file_system, self._file(version)
        return self._metadata(files, file) if files.exists(file) else None

    def oldest_to_read(self, wanted: Callable[[str | None], bool]) -> int:
        """The newest version whose metadata is wanted; when there is none, the oldest that is there, or 0."""
        versions = self._versions()
        files = self._file_system
        for version in reversed(versions):
            if wanted(self._metadata(files, self._file(version))):
                return version
        return versions[0] if versions else 0

    def before(self, micros: int) -> Iterator[tuple[int, str | None]]:
        """(version, user metadata) of the commits that were written before a time, newest first."""
        files, versions = self._file_system, self._versions()

        def written(version: int) -> int:
            at: int = files.getFileStatus(self._file(version)).getModificationTime()
            return at * 1000

        for version in reversed(versions[: bisect_left(versions, micros, key=written)]):
            yield version, self._metadata(files, self._file(version))

    def removes(self, version: int) -> bool:
        """Whether a commit took files out of the table."""
        return any(line.startswith('{"remove"') for line in self._lines(version))

    def on_disk(self) -> tuple[int, int]:
        """The number of data files in the table's folder, those of old versions too, and their bytes."""
        whole, log = (self._file_system.getContentSummary(self._path(p)) for p in (self.path, f"{self.path}/{LOG}"))
        return whole.getFileCount() - log.getFileCount(), whole.getLength() - log.getLength()

    def _versions(self) -> list[int]:
        files, folder = self._file_system, self._path(f"{self.path}/{LOG}")
        if not files.exists(folder):
            return []
        names = (status.getPath().getName() for status in files.listStatus(folder))
        return sorted(int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit())

    def _file(self, version: int) -> JavaObject:
        return self._path(log_file(self.path, version))

    def _path(self, text: str) -> JavaObject:
        return self._classes.path(text)

    @cached_property
    def _classes(self) -> _Classes:
        return _Classes.of(self.spark)

    @cached_property
    def _file_system(self) -> JavaObject:
        configuration = self.spark._jsparkSession.sessionState().newHadoopConf()
        return self._path(self.path).getFileSystem(configuration)

    def _metadata(self, files: JavaObject, file: JavaObject) -> str | None:
        """The user metadata of a commit: `commitInfo` is one of its first lines."""
        lines = self._classes.lines(self._classes.reader(files.open(file), "UTF-8"))
        try:
            while (line := lines.readLine()) is not None:
                if line.startswith('{"commitInfo"'):
                    metadata: str | None = _read(line, file)["commitInfo"].get("userMetadata")
                    return metadata
        finally:
            lines.close()
        return None
