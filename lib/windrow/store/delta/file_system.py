"""Single files by Hadoop's file systems, so that any URI that Spark writes can be read and written.

On a local disk Hadoop starts a process for each file that it makes, to set what everybody may do with it. There files
are made without it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the layout of a lake is known without Spark
    from pyspark.sql import SparkSession


def hadoop(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path, as Hadoop has them."""
    java: Any = spark._jvm
    place = java.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()), place


def read_text(spark: SparkSession, path: str) -> str | None:
    """The text of a file; None where there is none."""
    files, place = hadoop(spark, path)
    if not files.exists(place):
        return None
    stream = files.open(place)
    try:
        return str(spark._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))  # type: ignore[union-attr]
    finally:
        stream.close()


def local_path(spark: SparkSession, path: str) -> Path | None:
    """Where a file is on a local disk; None elsewhere."""
    files, place = hadoop(spark, path)
    return Path(place.toUri().getPath()) if files.getScheme() == "file" else None


def write_file(spark: SparkSession, path: str, content: bytes) -> None:
    """Write a file that nobody else writes."""
    local = local_path(spark, path)
    if local is not None:
        local.parent.mkdir(parents=True, exist_ok=True)
        local.write_bytes(content)
        return
    files, place = hadoop(spark, path)
    stream = files.create(place, True)
    stream.write(content)
    stream.close()


def copy_file(spark: SparkSession, here: str, there: str) -> None:
    """Copy a file that nobody changes. On a local disk it gets a second name, where that can be."""
    source, target = local_path(spark, here), local_path(spark, there)
    if source is not None and target is not None and _is_linked(source, target):
        return
    java: Any = spark._jvm
    (files, before), (others, after) = hadoop(spark, here), hadoop(spark, there)
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    java.org.apache.hadoop.fs.FileUtil.copy(files, before, others, after, False, False, conf)


def _is_linked(source: Path, target: Path) -> bool:
    """Whether it could be done. The file is as new as its second name: VACUUM would take an old one for left over."""
    try:
        os.utime(source)
        os.link(source, target)
    except OSError:
        return False
    return True
