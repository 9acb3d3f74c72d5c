"""Which files a landing batch is made of: Spark has them in the plan of the query that runs, and tells nobody else."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from pyspark.sql import SparkSession

from windrow.sources.files import is_read_together
from windrow.spec.sources.connector import is_glob
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import resolve_environment

_BETWEEN = "\0"
"""What no path has in it: all of them come from the JVM as one text."""


@dataclass(frozen=True)
class BatchFiles:
    """The files of a landing batch. `paths` are whole, as Hadoop writes them.

    `is_sound` is False where Spark's own frame does not hold each of them exactly once: one is gone since it was
    listed, or their names do not go together.
    """

    paths: tuple[str, ...]
    is_sound: bool


def batch_files(spark: SparkSession, query: str) -> BatchFiles | None:
    """The files of the batch that a query is at; `spark` has started it. None where the batch has no files."""
    running: Any = spark._jsparkSession.streams().get(query)
    if running is None:
        return None
    leaves = running.streamingQuery().lastExecution().analyzed().collectLeaves()
    found = [leaves.apply(index) for index in range(leaves.size())]
    relations = [leaf for leaf in found if leaf.getClass().getSimpleName() == "LogicalRelation"]
    if len(relations) != 1:
        return None
    index = relations[0].relation().location()
    given = index.rootPaths().mkString(_BETWEEN).split(_BETWEEN)
    paths = tuple(dict.fromkeys(given))
    return BatchFiles(paths, len(given) == len(paths) == len(index.inputFiles()) and is_read_together(paths))


def offset_of(spark: SparkSession, path: str) -> str:
    """A path as the offset of a row has it: spaces and the like are escaped."""
    java: Any = spark._jvm
    return str(java.org.apache.hadoop.fs.Path(path).toUri().toString())


_LIKE_A_FILE = re.compile(r"[^._][^=]*\.(json|jsonl|ndjson|csv|tsv|txt|parquet)(\.\w+)?", re.IGNORECASE)


def strays(files: Files) -> dict[str, str]:
    """What stands in the source's folder like a file and is none that Spark would ever list: paths, and what they are.

    These are folders with a file's name, and links to nothing. Only a folder of this machine is looked at.
    """
    text = resolve_environment(files.path)
    where = urlparse(text) if text.startswith("file:") else None
    if is_glob(text) or ("://" in text and where is None):
        return {}
    folder = Path(unquote(where.path) if where is not None else text).absolute()
    with suppress(OSError):  # of the folder itself Spark says what is wrong
        entries = [entry for entry in os.scandir(folder) if _LIKE_A_FILE.fullmatch(entry.name)]
        found = {f"file:{entry.path}": _what_else(entry) for entry in entries}
        return {path: what for path, what in found.items() if what is not None}
    return {}


def _what_else(entry: os.DirEntry[str]) -> str | None:
    """What an entry is, if it is no file."""
    if entry.is_dir():
        return "it is a folder"
    is_lost = entry.is_symlink() and not os.path.exists(entry.path)
    return "it is a link to a file that is not there" if is_lost else None
