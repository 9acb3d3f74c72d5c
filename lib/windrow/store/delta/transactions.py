"""Appends to Delta tables as compare-and-swap: they fail where anybody has written since the table was looked at.

Delta's own guard, `txnAppId` with `txnVersion`, makes it reconstruct the state of the whole table before each commit:
measured for small tables, in turns, 0.73 s an append with it, 0.25 s here. So an append is a transaction of Delta's
that has read the table; nothing about its files or commits is different. Only a commit that neither adds nor removes
files is no conflict to Delta; a tick has a file always.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from delta import exceptions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.store.delta.commit_files import AddedFile

CONFLICTS = (
    exceptions.DeltaConcurrentModificationException,
    exceptions.ConcurrentWriteException,
    exceptions.ConcurrentAppendException,
    exceptions.ConcurrentDeleteReadException,
    exceptions.ConcurrentDeleteDeleteException,
    exceptions.ConcurrentTransactionException,
    exceptions.MetadataChangedException,
    exceptions.ProtocolChangedException,
)
"""What Delta throws at the one of two writers that it refuses. In Python none of them derives from another."""


class Append:
    """One append: begun at the newest version, for everybody to see when it is committed, or not at all."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        java: Any = spark._jvm
        _activate(spark, java)
        self._java = java
        log = java.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
        self._transaction = log.startTransaction()
        self._actions = java.scala.jdk.javaapi.CollectionConverters.asScala(java.java.util.ArrayList()).toSeq()

    @property
    def version(self) -> int:
        """The version of the table that it was begun at; -1 where there is no table."""
        return int(self._transaction.readVersion())

    def fits(self, frame: DataFrame) -> bool:
        """Whether the table has all columns of the frame, with their types. It gains none in this way."""
        table = StructType.fromJson(json.loads(self._transaction.metadata().schemaString()))
        kinds = {field.name: field.dataType.simpleString() for field in table.fields}
        return all(kinds.get(field.name) == field.dataType.simpleString() for field in frame.schema.fields)

    def write(self, frame: DataFrame) -> list[AddedFile]:
        """Write the frame's rows into files, which the commit adds; these files."""
        written = self._transaction.writeFiles(frame._jdf)
        self._actions = self._actions.appendedAll(written)
        return [AddedFile.from_json(written.apply(index).json()) for index in range(written.size())]

    def add(self, files: Sequence[AddedFile]) -> None:
        """Have the commit add files that are there already."""
        from_json = self._java.org.apache.spark.sql.delta.actions.Action.fromJson
        for file in files:
            self._actions = self._actions.appended(from_json(file.to_json()))

    def commit(self, app_id: str, step: int, metadata: str) -> None:
        """Errors: CONFLICTS where the table has changed since."""
        delta, option = self._java.org.apache.spark.sql.delta, self._java.scala.Option
        none = option.empty()
        self._transaction.readWholeTable()
        stamp = delta.actions.SetTransaction(app_id, step, none)
        mode = self._java.org.apache.spark.sql.SaveMode.Append
        write = getattr(delta, "DeltaOperations$Write")(mode, none, none, option.apply(metadata), *[none] * 5)
        self._transaction.commit(self._actions.appended(stamp), write)


def _activate(spark: SparkSession, java: Any) -> None:
    """Make the session that of this thread, as PySpark does before a query: Delta takes its settings from there."""
    java.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
