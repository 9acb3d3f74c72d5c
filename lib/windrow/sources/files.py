"""Files as a stream: JSON lines, CSV and Parquet, each file once. What cannot be read comes as a row with its text."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from windrow.compile.envelope import OFFSET, RAW
from windrow.sources.json_rows import json_rows
from windrow.spec.sources import FileFormat, Files, Source, resolve_environment

_TEXT = "_text"
FOR_EVER = "36500d"
"""By itself Spark passes over a new file that was modified a week before the youngest one, without a word."""


def read_files(spark: SparkSession, source: Source, files: Files) -> DataFrame:
    """A streaming frame of the source's columns, the path of the file, and the text of rows that could not be read."""
    reader = spark.readStream.format(_FORMATS[files.format]).option("maxFilesPerTrigger", files.max_files_per_batch)
    reader = reader.option("maxFileAge", FOR_EVER)
    if files.format is FileFormat.PARQUET:
        rows = reader.schema(source.schema.ddl).load(resolve_environment(files.path))
        return rows.selectExpr("*", f"CAST(NULL AS STRING) AS {RAW}", f"_metadata.file_path AS {OFFSET}")
    if files.format is FileFormat.JSON:
        return _json(reader, source, files)
    reader = reader.option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", RAW)
    reader = reader.option("header", str(files.header).lower())
    rows = reader.schema(f"{source.schema.ddl}, `{RAW}` string").load(resolve_environment(files.path))
    return rows.selectExpr("*", f"_metadata.file_path AS {OFFSET}")


_FORMATS = {FileFormat.JSON: "text", FileFormat.CSV: "csv", FileFormat.PARQUET: "parquet"}


def _json(reader: DataStreamReader, source: Source, files: Files) -> DataFrame:
    """One object a line; empty lines are no rows."""
    lines = reader.load(resolve_environment(files.path)).where("trim(value) <> ''")
    texts = lines.selectExpr(f"value AS {_TEXT}", f"_metadata.file_path AS {OFFSET}")
    return json_rows(texts, source.schema, _TEXT, [OFFSET])
