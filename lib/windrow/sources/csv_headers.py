"""The headers of CSV files: which column each value of a line is. Spark itself goes by their order alone.

Source: the option `enforceSchema` of Spark's CSV reader, by which the names are either ignored or must all be right.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.connector import is_glob
from windrow.spec.sources.fields import Fields
from windrow.spec.sources.files import FileFormat, Files
from windrow.spec.sources.source import resolve_environment

Header = tuple[str, ...]
"""The names in the first line of a file."""

_AT_ONCE = 16
"""So many files are looked at at once, where each look is a call to somewhere else."""
_BOM = "\ufeff"
_UNREAD = "_unread_{}"
"""The name of the values of no column."""


class UnreadableFile(Exception):
    """A file whose rows cannot be read, in words."""


def by_header(
    spark: SparkSession, fields: Fields, files: Files, paths: Sequence[str]
) -> dict[Header | None, list[str]]:
    """The files by their headers; None for those whose values are the columns of the schema, in their order.

    A file whose header cannot be read is among them too, as whoever reads its rows says what is wrong.
    """
    if files.format is not FileFormat.CSV or not files.header:
        return {None: list(paths)}
    found: dict[Header | None, list[str]] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        look = pool.map(lambda path: header_of(spark, fields, files, path), paths)
        for path, header in zip(paths, look, strict=True):
            found.setdefault(header, []).append(path)
    return found


def columns_in_folders(files: Files, path: str) -> frozenset[str]:
    """The columns whose values are in the names of a file's folders, such as `day=1`, in lower case."""
    folder = resolve_environment(files.path)
    return frozenset() if is_glob(folder) else _named_folders(path) - _named_folders(f"{folder}/")


def _named_folders(path: str) -> frozenset[str]:
    return frozenset(name.lower() for name in re.findall(r"([^/=]+)=[^/]*/", path))


def header_of(spark: SparkSession, fields: Fields, files: Files, path: str) -> Header | None:
    """The header of the file at a path, or None as above."""
    in_folders = columns_in_folders(files, path)
    header: Header = ()
    with suppress(OSError, EOFError, UnicodeError, zlib.error, csv.Error, Py4JError):
        line = _first_line(spark, path).removeprefix(_BOM)
        header = tuple(name.strip() for name in next(csv.reader([line], delimiter=files.separator), ()))
    names = [name.lower() for name in fields.schema if name.lower() not in in_folders]
    is_in_order = [name.lower() for name in header] == names
    return None if is_in_order or not any(header) else header


def columns_of(fields: Fields, header: Header, in_folders: frozenset[str] = frozenset()) -> Schema:
    """The values of a line under a header: fields with the types of their columns, and texts of no column.

    Behind them are the columns of the schema that are in the names of folders. Raises UnreadableFile where no value is
    a field.
    """
    known = {name.lower(): (name, kind) for name, kind in fields.every.items()}
    columns: dict[str, str] = {}
    for index, name in enumerate(header):
        field, kind = known.pop(name.lower(), (_UNREAD.format(index), "string"))
        columns[field] = kind
    if len(known) == len(fields.every):
        raise UnreadableFile(f"its header names no column of the schema ({', '.join(header)[:_LONGEST]})")
    behind = in_folders.intersection(known)
    columns.update({name: kind for name, kind in fields.schema.items() if name.lower() in behind})
    return Schema(columns)


_LONGEST = 200
_BY_PYTHON = ("", ".csv", ".tsv", ".txt", ".gz")
"""How the names of files end which Python reads as Spark does."""


def _first_line(spark: SparkSession, path: str) -> str:
    """The first line that is not empty; nothing where there is none."""
    local = re.fullmatch(r"(?:file:)?/+(.*)", path)
    if local is not None and Path(path).suffix in _BY_PYTHON:
        file = Path("/", local[1])
        open_text: Any = gzip.open if path.endswith(".gz") else open
        with open_text(file, "rt", encoding="utf-8") as lines:
            return next((line.rstrip("\r\n") for line in lines if line.strip()), "")
    return _first_line_by_hadoop(spark, path)


def _first_line_by_hadoop(spark: SparkSession, path: str) -> str:
    """The same on any file system, and of any compression that Spark reads."""
    java: Any = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    place = java.org.apache.hadoop.fs.Path(path)
    codec = java.org.apache.hadoop.io.compress.CompressionCodecFactory(conf).getCodec(place)
    stream = place.getFileSystem(conf).open(place)
    read = stream if codec is None else codec.createInputStream(stream)
    lines = java.java.io.BufferedReader(java.java.io.InputStreamReader(read, "UTF-8"))
    try:
        while (line := lines.readLine()) is not None:
            if line.strip():
                return str(line)
        return ""
    finally:
        lines.close()
