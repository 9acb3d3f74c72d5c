"""Writes to Delta tables as compare-and-swap: they fail where anybody has written since the table was looked at.

An append, or a write that puts files in place of others, is the next commit file of the table's log, put there by
Delta's log store, which lets one of two writers have it. That is what a transaction of Delta's comes to in the end; its
looks at the whole log before and after are for those who do not know the newest version. So one transaction is begun
for many writes: it writes the data files, and knows the schema and the protocol. Where the protocol has it that a
commit must say more than ours do, Delta commits.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from delta import exceptions
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.engine.partitions import ADAPTIVE, PARTITIONS
from windrow.store.delta.file_system import delete_file, read_text
from windrow.store.delta.footers import are_counted, nulls_and_bounds_of
from windrow.store.delta.location import INDEXED
from windrow.store.delta.log.checksums import Checksums
from windrow.store.delta.log.commit_files import AddedFile, log_file
from windrow.store.delta.log.log_store import VersionTaken, activate, activate_java, delta_log, put, scala

CONFLICTS = (
    VersionTaken,
    exceptions.DeltaConcurrentModificationException,
    exceptions.ConcurrentWriteException,
    exceptions.ConcurrentAppendException,
    exceptions.ConcurrentDeleteReadException,
    exceptions.ConcurrentDeleteDeleteException,
    exceptions.ConcurrentTransactionException,
    exceptions.MetadataChangedException,
    exceptions.ProtocolChangedException,
)
"""What the second of two writers gets. In Python none of Delta's derives from another."""

_PLAIN = 4
"""The greatest version of writers under which a commit of an append need not say more than ours do."""

_REMOVALS_BY_DELTA = ("delta.enableChangeDataFeed", "delta.appendOnly")
"""Properties of tables with which there is more to say about rows that are changed, or a reason not to change them."""


class Appender:
    """What appends to one table for as long as nobody else does. It may take files out of it in the same commit.

    `version` is the newest one that it knows; -1 where there is no table. `schema` are its columns. `may_remove` says
    whether it may take files out: of some tables Delta has more to say then. What is written, added and taken out is
    for everybody to see when it is committed, or not at all. `parquet` are settings of Parquet for the files that it
    writes, if the user has set none of them, and footers say of these files what Delta counts. What it has written and
    not committed is gone with `discard`.
    """

    def __init__(self, spark: SparkSession, path: str, parquet: Mapping[str, str] = MappingProxyType({})) -> None:
        self.spark, self._path, self._parquet = spark, path, parquet
        java: Any = spark._jvm
        self._java = java
        self._log = delta_log(spark, path)
        self._transaction = self._log.startTransaction()
        self.version = int(self._transaction.readVersion())
        self._files: dict[str, AddedFile] = {}  # by the action that adds it
        self._removed: list[AddedFile] = []
        self._written: list[AddedFile] = []  # and not committed
        self._live: dict[str, AddedFile] | None = None  # by path; None until somebody asks
        metadata = self._transaction.metadata()
        schema = self.schema = StructType.fromJson(json.loads(metadata.schemaString() or '{"fields": []}'))
        self._types = {field.name: field.dataType.simpleString() for field in schema.fields}
        self._without_counts: _Clone | None = None
        about = json.loads(metadata.json())["metaData"]
        self._counted = _counted(schema, about)
        self._interval = int(self._log.checkpointInterval(metadata))
        self._is_plain = self._transaction.protocol().minWriterVersion() <= _PLAIN
        said = about.get("configuration", {})
        self.may_remove = self._is_plain and not any(said.get(name) == "true" for name in _REMOVALS_BY_DELTA)
        self._checksums = Checksums(spark, path, self._log)

    def begin(self, spark: SparkSession) -> None:
        """Begin an append in a session: what one before has written and not committed is no part of it."""
        self.discard()
        self.spark, self._files, self._removed = spark, {}, []

    def fits(self, frame: DataFrame) -> bool:
        """Whether the table has all columns of the frame, with their types. It gains none in this way."""
        return all(self._types.get(field.name) == field.dataType.simpleString() for field in frame.schema.fields)

    def write(self, frame: DataFrame) -> list[AddedFile]:
        """Write the frame's rows into files, which the commit adds; these files."""
        activate(self.spark)
        if self._counted is None:
            written = self._transaction.writeFiles(frame._jdf)
            flat = {one.name for one in self.schema.fields if not isinstance(one.dataType, StructType)}
            absent = sorted(flat.difference(frame.columns))
            actions = [_all_counted(json.loads(written.apply(i).json()), absent) for i in range(written.size())]
        else:
            actions = self._written_and_counted(frame, self._counted)
        files = {text: AddedFile.from_json(text) for text in actions}
        self._files |= files
        self._written += files.values()
        return list(files.values())

    def discard(self) -> None:
        """Delete the files that it has written and not committed; nothing where it has committed them.

        One that cannot be deleted now is left to maintenance.
        """
        written, self._written = self._written, []
        with suppress(Py4JError):  # else it would hide why there was no commit
            for file in written:
                delete_file(self.spark, f"{self._path}/{file.path}")

    def _written_and_counted(self, frame: DataFrame, counted: StructType) -> list[str]:
        """The same, and what Delta would have counted from the footers: it counts row by row."""
        plan, own = frame._jdf.queryExecution().analyzed(), self._session_without_counts()
        rows = self._java.org.apache.spark.sql.classic.Dataset.ofRows(own, plan)
        activate_java(self.spark, own)
        try:
            written = self._transaction.writeFiles(rows)
        finally:
            activate(self.spark)
        actions = []
        for action in (json.loads(written.apply(i).json()) for i in range(written.size())):
            file = AddedFile.of(action["add"])
            stats = nulls_and_bounds_of(self.spark, f"{self._path}/{file.path}", file.size, counted)
            actions.append(json.dumps({"add": {**action["add"], "stats": stats}}))
        return actions

    def _session_without_counts(self) -> Any:
        """One like the first that has written, in which Delta counts nothing: other threads write in that one too."""
        known, planned = self._without_counts, {name: str(self.spark.conf.get(name)) for name in (PARTITIONS, ADAPTIVE)}
        if known is None:
            clone = self.spark._jsparkSession.cloneSession()
            clone.conf().set(_COUNTS, "false")
            for name, value in self._own_parquet().items():
                clone.conf().set(name, value)
        else:
            clone = known.session
            for name, value in planned.items():
                if known.planned[name] != value:
                    clone.conf().set(name, value)
        self._without_counts = _Clone(clone, planned)
        return clone

    def _own_parquet(self) -> Mapping[str, str]:
        """Our settings of Parquet; none where the user has set one of them."""
        if not self._parquet:
            return {}
        given = self.spark._jsparkSession.sessionState().newHadoopConf()
        return {} if any(given.get(name) for name in self._parquet) else self._parquet

    def add(self, files: Sequence[AddedFile]) -> None:
        """Have the commit add files that are there already."""
        self._files |= {file.to_json(): file for file in files}

    def live(self) -> list[AddedFile] | None:
        """The files of the table at that version; None where a commit that takes some out had better be Delta's.

        They are looked up once, and known from our own commits afterwards. Raises VersionTaken where somebody has
        written since.
        """
        if not self.may_remove:
            return None
        if self._live is None:
            activate(self.spark)
            nothing = self._java.scala.Option.empty()
            snapshot = self._log.update(False, nothing, nothing)
            if int(snapshot.version()) != self.version:
                raise VersionTaken(f"{self._path}, version {self.version + 1}")
            found = [AddedFile.from_json(one.json()) for one in snapshot.allFiles().collectAsList()]
            self._live = {file.path: file for file in found}
        return list(self._live.values())

    def remove(self, files: Sequence[AddedFile]) -> None:
        """Have the commit take files of `live` out of the table. It says nothing of what was in them."""
        self._removed += files

    def commit(self, app_id: str, step: int, metadata: str) -> None:
        """Commit what was put into it since it was begun. Errors: CONFLICTS where the table has changed since."""
        actions, files, removed = list(self._files), list(self._files.values()), self._removed
        written, self._written = self._written, []  # unless the version is another's, they may be in the table now
        if not self._is_plain:
            return self._commit_by_delta(actions, app_id, step, metadata)
        version, commit = self.version + 1, str(uuid4())
        stamp = {"appId": app_id, "version": step, "lastUpdated": _milliseconds()}
        info = _commit_info(files, removed, self.version, commit, metadata)
        actions = [json.dumps(info), *[file.removal() for file in removed], *actions, json.dumps({"txn": stamp})]
        try:
            put(self.spark, self._log, self._path, version, actions)
        except VersionTaken:
            self._written = written if self._is_of_another(version, commit) else []
            raise
        self._checksums.write(version, files, removed, stamp, commit)
        self.version = version
        if self._live is not None:
            gone = {file.path for file in removed}
            kept = {path: file for path, file in self._live.items() if path not in gone}
            self._live = {**kept, **{file.path: file for file in files}}
        if version % self._interval == 0:
            nothing = self._java.scala.Option.empty()
            self._checksums.count(self._transaction, self._log.update(False, nothing, nothing))
            self._log.checkpoint()

    def _is_of_another(self, version: int, commit: str) -> bool:
        """Whether a version is there and not that commit of ours, of which a store may have lost the answer.

        False where nobody can tell.
        """
        with suppress(Py4JError):
            text = read_text(self.spark, log_file(self._path, version))
            return text is not None and commit not in text
        return False

    def _commit_by_delta(self, actions: Sequence[str], app_id: str, step: int, metadata: str) -> None:
        """The same by Delta. It can be done once: nothing is known of the table afterwards."""
        delta, option = self._java.org.apache.spark.sql.delta, self._java.scala.Option
        none = option.empty()
        self.version = _UNKNOWN
        self._transaction.readWholeTable()
        stamp = delta.actions.SetTransaction(app_id, step, none)
        written = [*map(delta.actions.Action.fromJson, actions), stamp]
        mode = self._java.org.apache.spark.sql.SaveMode.Append
        write = getattr(delta, "DeltaOperations$Write")(mode, none, none, option.apply(metadata), *[none] * 5)
        self._transaction.commit(scala(self.spark, written).toSeq(), write)


def _counted(schema: StructType, metadata: Mapping[str, Any]) -> StructType | None:
    """The columns that are counted, where the table says how many, and footers say of them what Delta would."""
    number, partitions = metadata.get("configuration", {}).get(INDEXED), metadata.get("partitionColumns", ())
    if number is None or not 0 < int(number) <= len(schema.fields):
        return None
    counted = StructType([field for field in schema.fields[: int(number)] if field.name not in partitions])
    return counted if are_counted(counted) else None


def _all_counted(action: Mapping[str, Any], absent: Sequence[str]) -> str:
    """The action that adds a file: what Delta has counted, and that a column which the file lacks is null."""
    said = json.loads(action["add"].get("stats") or "{}")
    if "nullCount" not in said:
        return json.dumps(action)
    said["nullCount"] = {**dict.fromkeys(absent, said["numRecords"]), **said["nullCount"]}
    return json.dumps({"add": {**action["add"], "stats": json.dumps(said)}})


@dataclass(frozen=True)
class _Clone:
    """A session that was made like the first that has written, and how it plans: others may plan otherwise."""

    session: Any
    planned: Mapping[str, str]


_COUNTS = "spark.databricks.delta.stats.collect"
_UNKNOWN = -2
"""No version of a table."""


def _commit_info(
    files: Sequence[AddedFile], removed: Sequence[AddedFile], read: int, commit: str, metadata: str
) -> dict[str, Any]:
    """What `DESCRIBE HISTORY` says of a write that has seen the whole table."""
    counted = {
        "numFiles": len(files),
        "numOutputRows": sum(file.rows for file in files),
        "numOutputBytes": sum(file.size for file in files),
    }
    if removed:
        counted |= {"numRemovedFiles": len(removed), "numRemovedBytes": sum(file.size for file in removed)}
    info = {
        "timestamp": _milliseconds(),
        "operation": "WRITE",
        "operationParameters": {"mode": "Overwrite" if removed else "Append"},
        "readVersion": read,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {name: str(number) for name, number in counted.items()},
        "userMetadata": metadata,
        "engineInfo": "windrow",
        "txnId": commit,
    }
    return {"commitInfo": info}


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
