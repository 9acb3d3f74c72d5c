"""A Delta table that somebody else writes, read as the log that it is: what its versions add, and the rows of that.

Delta's own classes read the files, as its stream does: they know of deletion vectors, column mapping and partitions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.store.delta.file_system import AT_ONCE
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.log_store import activate, delta_log, scala

_KEPT = "/_-.!~*'():@&=+$,;"
"""What Java leaves as it is in the path of a URI, beside letters and digits."""


@dataclass(frozen=True)
class Snapshot:
    """A table at a version: its identity, its columns and its properties. `java` is Delta's own."""

    version: int
    id: str
    schema: StructType
    properties: dict[str, str]
    java: Any

    @classmethod
    def of(cls, java: Any) -> Snapshot:
        about = json.loads(java.metadata().json())["metaData"]
        schema = StructType.fromJson(json.loads(about.get("schemaString") or '{"type": "struct", "fields": []}'))
        return cls(int(java.version()), about["id"], schema, about.get("configuration", {}), java)


@dataclass(frozen=True)
class Change:
    """What one version did: the files that it added, as actions, and all that a reader of its changes opens.

    Only what changes rows counts: compaction adds and removes nothing here. `table` is the identity of the table, where
    the version gave it one.
    """

    version: int
    added: tuple[str, ...]
    removes: bool
    opened: tuple[str, ...]
    table: str | None = None

    @classmethod
    def of(cls, version: int, lines: Iterable[str]) -> Change:
        added: list[str] = []
        changed: list[str] = []
        recorded: list[str] = []
        removes, table = False, None
        for action in map(json.loads, lines):
            for kind in ("add", "remove"):
                if action.get(kind, {}).get("dataChange"):
                    changed.append(action[kind]["path"])
            if action.get("add", {}).get("dataChange"):
                added.append(plain_action(action["add"]))
            removes |= bool(action.get("remove", {}).get("dataChange"))
            if "cdc" in action:
                recorded.append(action["cdc"]["path"])
            table = action.get("metaData", {}).get("id", table)
        return cls(version, tuple(added), removes, tuple(recorded or changed), table)


def plain_action(add: dict[str, Any]) -> str:
    """The action that adds a file, without what is only for who looks for files."""
    return json.dumps({"add": {name: value for name, value in add.items() if name not in ("stats", "tags")}})


class ForeignTable:
    """The table at a path."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        self._commits = CommitFiles(spark, path)

    @cached_property
    def _log(self) -> Any:
        return delta_log(self.spark, self.path)

    @property
    def _none(self) -> Any:
        java: Any = self.spark._jvm
        return java.scala.Option.empty()

    def newest(self) -> Snapshot | None:
        """The table as it stands; None where there is none."""
        activate(self.spark)
        java = self._log.update(False, self._none, self._none)
        return None if int(java.version()) < 0 else Snapshot.of(java)

    def at(self, version: int) -> Snapshot:
        """The table at a version. Raises what Delta does where it cannot be made any more."""
        activate(self.spark)
        return Snapshot.of(self._log.getSnapshotAt(version, self._none, self._none, False))

    def files(self, snapshot: Snapshot) -> list[str]:
        """The actions that add the files of a snapshot, the oldest first."""
        activate(self.spark)
        found = [json.loads(file.json())["add"] for file in snapshot.java.allFiles().collect()]
        found.sort(key=lambda add: (add["modificationTime"], add["path"]))
        return [plain_action(add) for add in found]

    def change(self, version: int) -> Change | None:
        """What a version did; None where its commit is not there."""
        lines = self._commits.lines(version)
        return None if lines is None else Change.of(version, lines)

    def oldest(self) -> int:
        """The oldest version whose commit is kept."""
        return self._commits.oldest()

    def rows(self, snapshot: Snapshot, actions: Sequence[str]) -> DataFrame:
        """The rows of the files that these actions add, with the columns of a snapshot, and Spark's `_metadata`."""
        java: Any = self.spark._jvm
        activate(self.spark)
        read = java.org.apache.spark.sql.delta.actions.Action.fromJson
        files = scala(self.spark, [read(action) for action in actions]).toSeq()
        return DataFrame(self._log.createDataFrame(self._counting(snapshot), files, False, self._none), self.spark)

    def _counting(self, snapshot: Snapshot) -> Any:
        """The table as one that may have deletion vectors: of others Delta does not say the number of a row."""
        java: Any = self.spark._jvm
        delta, metadata = java.org.apache.spark.sql.delta, snapshot.java.metadata()
        vectors = getattr(delta, "DeletionVectorsTableFeature$")
        feature = delta.actions.Protocol.forTableFeature(getattr(vectors, "MODULE$"))
        protocol = snapshot.java.protocol().merge(scala(self.spark, [feature]).toSeq())
        some = java.scala.Option.apply(protocol)
        return delta.DummySnapshot(self._log.logPath(), self._log, metadata, self._none, some)

    def changes(self, first: int, last: int) -> DataFrame:
        """The rows of the change data feed from one version to another one."""
        reader = self.spark.read.format("delta").option("readChangeFeed", "true")
        return reader.option("startingVersion", first).option("endingVersion", last).load(self.path)

    def file_name(self, path: str) -> str:
        """The path of a file as Spark says it of a row, from what stands in the log."""
        return as_java(unquote(path)) if "://" in path or path.startswith("file:") else f"{self._root}/{_quoted(path)}"

    @cached_property
    def _root(self) -> str:
        java: Any = self.spark._jvm
        root = self._log.dataPath()
        return str(java.org.apache.spark.paths.SparkPath.fromPath(root).urlEncoded()).rstrip("/")

    def vector(self, action: str) -> str | None:
        """The whole path of the file with the deletion vector of a file; None where it has none of its own."""
        if '"deletionVector"' not in action:
            return None
        java: Any = self.spark._jvm
        vector = java.org.apache.spark.sql.delta.actions.Action.fromJson(action).deletionVector()
        return str(vector.absolutePath(self._log.dataPath()).toUri().toString()) if vector.isOnDisk() else None

    def gone(self, paths: Sequence[str]) -> list[str]:
        """Those of these paths, as they stand in the log, where there is no file any more."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda path: self._commits.has(unquote(path)), paths))
        return [path for path, is_there in zip(paths, found, strict=True) if not is_there]


def _quoted(path: str) -> str:
    """A relative path that is quoted as in the log, quoted as Java does it."""
    return as_java(unquote(path))


def as_java(path: str) -> str:
    """A path as Java writes it in a URI: other letters than those of ASCII stay, what is no path is quoted."""
    return "".join(letter if _stays(letter) else _escaped(letter) for letter in path)


def _stays(letter: str) -> bool:
    if letter.isascii():
        return letter.isalnum() or letter in _KEPT
    return not letter.isspace() and letter.isprintable()


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode())
