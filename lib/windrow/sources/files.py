"""Files as a stream: JSON lines, CSV and Parquet, each file once. What cannot be read comes as a row with its text.

Fields are found by their names: those of JSON objects, of the columns of Parquet, and of the first line of a CSV file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from windrow.compile.elements.envelope import OFFSET, RAW, ROW
from windrow.compile.elements.evolution import of_fields
from windrow.compile.sql.columns import named
from windrow.sources.csv_headers import Header, by_header, columns_in_folders, columns_of
from windrow.sources.json_rows import json_rows
from windrow.spec.errors import SpecError
from windrow.spec.sources.connector import is_glob
from windrow.spec.sources.fields import Fields
from windrow.spec.sources.files import FileFormat, Files
from windrow.spec.sources.source import Source, resolve_environment

_TEXT = "_text"
FOR_EVER = "36500d"
"""By itself Spark passes over a new file that was modified a week before the youngest one, without a word."""


def files_of(source: Source) -> Files:
    """The connector of a source that reads files."""
    assert source.files is not None, "it reads files"
    return source.files


def read_files(spark: SparkSession, source: Source, files: Files) -> DataFrame:
    """A streaming frame of the source's columns, the path of the file, and the text of rows that could not be read.

    Of CSV the values are in the order of the schema: `read_again` looks at the header of each file.
    """
    reader = spark.readStream.format(_FORMATS[files.format]).options(**_options(files))
    reader = reader.option("maxFilesPerTrigger", files.max_files_per_batch).option("maxFileAge", FOR_EVER)
    schema = _schema(source.fields, files, None)
    reader = reader if schema is None else reader.schema(schema)
    path = resolve_environment(files.path)
    return _rows(reader.load(_pattern_of(path) if _is_one_file(spark, path) else path), source.fields, files, None)


def _is_one_file(spark: SparkSession, path: str) -> bool:
    """Whether a path names a file, and not a folder or a pattern."""
    if is_glob(path):
        return False
    java: Any = spark
    named = java._jvm.org.apache.hadoop.fs.Path(path)
    system = named.getFileSystem(java._jsparkSession.sessionState().newHadoopConf())
    return bool(system.exists(named)) and bool(system.getFileStatus(named).isFile())


def _pattern_of(path: str) -> str:
    """A pattern that only this path matches: Spark streams from folders and patterns, and refuses a file."""
    folder, name = os.path.split(path)
    plain = next(index for index, letter in enumerate(name) if letter.isalnum())
    return os.path.join(folder, f"{name[:plain]}[{name[plain]}]{name[plain + 1 :]}")


def elsewhere(source: Source, words: str) -> SpecError | None:
    """The error for a query that failed with these words, where its folder is another one than before.

    Spark begins with the files that landed last, and refuses those that are not under the folder of a source.
    """
    if source.files is None or _NOT_UNDER not in words:
        return None
    rule = "must hold the files that landed last, as each file is known by its path"
    hint = "a pattern may name both places, as in '{old.csv,new/*.csv}'; a file that was moved would land again"
    return SpecError(f"sources.{source.name}.files.path", rule, source.files.path, hint)


_NOT_UNDER = "Wrong basePath"


def listed(spark: SparkSession, source: Source, files: Files) -> list[str]:
    """The files under the source's path, as Spark lists them, each as the offset of its rows has it."""
    schema, path = _schema(source.fields, files, None), resolve_environment(files.path)
    reader = _reader(spark, files, schema)
    try:
        found = reader.load(path).inputFiles()
    except AnalysisException as error:
        if is_glob(path) and error.getCondition() == "PATH_NOT_FOUND":  # files that match may come
            return []
        raise
    return [re.sub("^file:/+", "file:/", path) for path in found]


def read_again(spark: SparkSession, fields: Fields, files: Files, paths: Sequence[str]) -> DataFrame:
    """The same frame of some files, listed anew: what they hold now. `paths` are whole ones, at least one.

    Raises UnreadableFile where a CSV file has no column of the schema.
    """
    headers = by_header(spark, fields, files, paths)
    return _united([read_alike(spark, fields, files, alike, header) for header, alike in headers.items()])


def read_alike(
    spark: SparkSession, fields: Fields, files: Files, paths: Sequence[str], header: Header | None, counts: bool = False
) -> DataFrame:
    """The same of files that have that header; None for the columns of the schema in their order.

    With `counts` the rows of Parquet files have their number within the file as `_row`.
    """
    parts = [(_listed(spark, fields, files, together, header)) for together in _together(paths)]
    return _united([_rows(part, fields, files, header, counts) for part in parts])


def _united(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _reader(spark: SparkSession, files: Files, schema: str | None) -> DataFrameReader:
    reader = spark.read.format(_FORMATS[files.format]).options(**_options(files))
    return reader if schema is None else reader.schema(schema)


def _listed(spark: SparkSession, fields: Fields, files: Files, paths: list[str], header: Header | None) -> DataFrame:
    schema = _schema(fields, files, header, columns_in_folders(files, paths[0]))
    reader = _reader(spark, files, schema).option("__globPaths__", "false")
    folder = resolve_environment(files.path)
    if not is_glob(folder) and _is_partitioned(paths[0]) and not _is_one_file(spark, folder):
        reader = reader.option("basePath", folder)
    return reader.load(paths)


def _together(paths: Sequence[str]) -> Iterator[list[str]]:
    """The files that Spark can read in one go.

    It reads the others twice where a name has glob characters, and leaves out those beside folders like `day=1`.
    """
    yield from ([path] for path in paths if is_glob(path))
    for is_partitioned in (False, True):
        alike = [path for path in paths if not is_glob(path) and _is_partitioned(path) == is_partitioned]
        if alike:
            yield alike


def is_read_together(paths: Sequence[str]) -> bool:
    """Whether Spark reads each of these files exactly once when it is given all of them."""
    return sum(1 for _ in _together(paths)) <= 1


def _is_partitioned(path: str) -> bool:
    return any("=" in folder for folder in path.split("/")[:-1])


def _options(files: Files) -> dict[str, str]:
    if files.format is not FileFormat.CSV:
        return {}
    options = {
        "mode": "PERMISSIVE", "columnNameOfCorruptRecord": RAW, "header": str(files.header).lower(),
        "sep": files.separator, "escape": '"',  # a quote within quotes is written twice, as RFC 4180 has it
    }  # fmt: skip
    return options if files.copy else {**options, "columnPruning": "false"}  # a line is as long, whatever is read of it


def _schema(
    fields: Fields, files: Files, header: Header | None, in_folders: frozenset[str] = frozenset()
) -> str | None:
    match files.format:
        case FileFormat.JSON:
            return None
        case FileFormat.PARQUET:
            return fields.every.ddl
        case FileFormat.CSV:
            columns = fields.schema if header is None else columns_of(fields, header, in_folders)
            return f"{columns.ddl}, `{RAW}` string"


_FORMATS = {FileFormat.JSON: "text", FileFormat.CSV: "csv", FileFormat.PARQUET: "parquet"}


def _rows(read: DataFrame, fields: Fields, files: Files, header: Header | None, counts: bool = False) -> DataFrame:
    match files.format:
        case FileFormat.JSON:
            return _json(read, fields)
        case FileFormat.PARQUET:
            place = [f"_metadata.file_path AS {OFFSET}", *([f"_metadata.row_index AS {ROW}"] if counts else [])]
            own = ["*"] if not fields.rename else _columns(fields, fields.every)
            return read.selectExpr(*own, f"CAST(NULL AS STRING) AS {RAW}", *place)
        case FileFormat.CSV:
            have = {one.name: one.dataType.simpleString() for one in read.schema.fields}
            own = ["*"] if header is None else [*_columns(fields, have), RAW]
            return read.selectExpr(*own, f"_metadata.file_path AS {OFFSET}")


def _columns(fields: Fields, have: Mapping[str, str]) -> list[str]:
    return [named(name, column) for name, column in of_fields(fields, have).items()]


def _json(lines: DataFrame, fields: Fields) -> DataFrame:
    """One object a line; empty lines are no rows."""
    texts = lines.where("trim(value) <> ''").selectExpr(f"value AS {_TEXT}", f"_metadata.file_path AS {OFFSET}")
    return json_rows(texts, fields, _TEXT, [OFFSET])
