"""Commit files as Delta's log store puts them: it lets one of two writers have a version, on any file system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from windrow.store.delta.commit_files import log_file


class VersionTaken(Exception):
    """Somebody else has written the version that a commit was to be."""


def delta_log(spark: SparkSession, path: str) -> Any:
    """Delta's log of the table at a path, of one that is not there too."""
    java: Any = spark._jvm
    activate(spark)
    return java.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)


def activate(spark: SparkSession) -> None:
    """Make the session that of this thread, as PySpark does before a query: Delta takes its settings from there."""
    java: Any = spark._jvm
    java.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


def put(spark: SparkSession, log: Any, path: str, version: int, actions: Sequence[str]) -> None:
    """Make the commit file of a version of the table at a path, whole or not at all. Errors: VersionTaken."""
    put_beside(spark, log, path, version, "json", actions)


def put_beside(spark: SparkSession, log: Any, path: str, version: int, kind: str, texts: Sequence[str]) -> None:
    """The same of a file of that kind beside it."""
    java: Any = spark._jvm
    lines = scala(spark, ["\n".join(texts)]).iterator()
    place = java.org.apache.hadoop.fs.Path(log_file(path, version, kind))
    try:
        log.store().write(place, lines, False, log.newDeltaHadoopConf())
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "FileAlreadyExistsException":
            raise
        raise VersionTaken(f"{path}, version {version}") from None


def scala(spark: SparkSession, values: Sequence[Any]) -> Any:
    """Values as a Scala buffer."""
    java: Any = spark._jvm
    found = java.java.util.ArrayList()
    for value in values:
        found.add(value)
    return java.scala.jdk.javaapi.CollectionConverters.asScala(found)
