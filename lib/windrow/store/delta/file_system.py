"""Single files by Hadoop's file systems, so that any URI that Spark writes can be read and written."""

from __future__ import annotations

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


def write_file(spark: SparkSession, path: str, content: bytes) -> None:
    """Write a file that nobody else writes."""
    files, place = hadoop(spark, path)
    stream = files.create(place, True)
    stream.write(content)
    stream.close()
