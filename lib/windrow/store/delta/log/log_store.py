"""Commit files, put so that one of two writers has a version, on any file system, as Delta's log store does.

On a local disk they are put as `windrow.LinkingLogStore` puts those of Delta, but without the JVM: a hard link is there
whole or not at all, and of two links only one can be made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from windrow.store.delta.file_system import local_path
from windrow.store.delta.log.commit_files import log_file
from windrow.store.delta.log.put_if_absent import LINKING


class VersionTaken(Exception):
    """Somebody else has written the version that a commit was to be."""


def delta_log(spark: SparkSession, path: str) -> Any:
    """Delta's log of the table at a path, of one that is not there too."""
    java: Any = spark._jvm
    activate(spark)
    return java.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)


def newest_snapshot(spark: SparkSession, path: str) -> Any:
    """Delta's snapshot of the table at a path as it is now, of version -1 where there is none.

    What Delta has looked at before it would tell by heart: a table that was made by hand since is none for it.
    """
    java: Any = spark._jvm
    nothing = java.scala.Option.empty()
    return delta_log(spark, path).update(False, nothing, nothing)


def activate(spark: SparkSession) -> None:
    """Make the session that of this thread, as PySpark does before a query: Delta takes its settings from there."""
    activate_java(spark, spark._jsparkSession)


def activate_java(spark: SparkSession, session: Any) -> None:
    """The same of a session of the JVM, which PySpark need not know."""
    java: Any = spark._jvm
    java.org.apache.spark.sql.classic.SparkSession.setActiveSession(session)


def put(spark: SparkSession, log: Any, path: str, version: int, actions: Sequence[str]) -> None:
    """Make the commit file of a version of the table at a path, whole or not at all. Errors: VersionTaken."""
    put_beside(spark, log, path, version, "json", actions)


def put_beside(spark: SparkSession, log: Any, path: str, version: int, kind: str, texts: Sequence[str]) -> None:
    """The same of a file of that kind beside it."""
    place, text = log_file(path, version, kind), "\n".join(texts)
    local = None if _has_own_store(spark) else local_path(spark, place)
    try:
        if local is None or not _linked(local, f"{text}\n"):
            _stored(spark, log, place, text)
    except FileExistsError:
        raise VersionTaken(f"{path}, version {version}") from None


def _has_own_store(spark: SparkSession) -> bool:
    """Whether the user has named a log store for a local disk."""
    named = (spark.conf.get(name, None) for name in ("spark.delta.logStore.class", "spark.delta.logStore.file.impl"))
    return any(name not in (None, LINKING) for name in named)


def _linked(file: Path, text: str) -> bool:
    """Make a file by a hard link; False where there are none. Raises FileExistsError."""
    made = file.with_name(f".{file.name}.{uuid4()}.tmp")
    try:
        made.write_text(text, encoding="utf-8")
        os.link(made, file)
    except FileExistsError:
        raise
    except OSError:
        return False
    finally:
        with suppress(OSError):
            made.unlink()
    return True


def _stored(spark: SparkSession, log: Any, place: str, text: str) -> None:
    """Have Delta's log store make a file. Raises FileExistsError.

    Delta chooses the store by the scheme of the path, and takes that of HDFS for one without.
    """
    java: Any = spark._jvm
    lines, conf = scala(spark, [text]).iterator(), log.newDeltaHadoopConf()
    path = java.org.apache.hadoop.fs.Path(place)
    try:
        log.store().write(path.getFileSystem(conf).makeQualified(path), lines, False, conf)
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "FileAlreadyExistsException":
            raise
        raise FileExistsError(place) from None


def scala(spark: SparkSession, values: Sequence[Any]) -> Any:
    """Values as a Scala buffer."""
    java: Any = spark._jvm
    found = java.java.util.ArrayList()
    for value in values:
        found.add(value)
    return java.scala.jdk.javaapi.CollectionConverters.asScala(found)
