"""How a catalog may write the place of a table."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import hadoop


def written(spark: SparkSession, path: str) -> set[str]:
    """A path with its file system in front too, also where the lake does not name it."""
    return {path, qualified(spark, path)}


def qualified(spark: SparkSession, path: str) -> str:
    """A path with its file system in front."""
    files, place = hadoop(spark, path)
    return str(files.makeQualified(place).toString())


def is_same(place: str, others: Collection[str]) -> bool:
    """Whether a place is one of the others, whatever is written in front of local ones."""
    return plain(place) in {plain(one) for one in others}


def plain(location: str) -> str:
    """A path without what may be written in front of a local one."""
    scheme, colon, rest = location.partition(":")
    path = rest if scheme == "file" and colon else location
    return f"/{path.strip('/')}" if path.startswith("/") else path.rstrip("/")
