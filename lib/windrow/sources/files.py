"""Files as a stream: JSON lines, CSV and Parquet, each file once. What cannot be read comes as a row with its text."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.envelope import OFFSET, RAW
from windrow.spec.sources import FileFormat, Source, resolve_environment

FOR_EVER = "36500d"
"""By itself Spark passes over a new file that was modified a week before the youngest one, without a word."""


def read_files(spark: SparkSession, source: Source) -> DataFrame:
    """A streaming frame of the source's columns, the path of the file, and the text of rows that could not be read."""
    files = source.files
    reader = spark.readStream.format(files.format.value).option("maxFilesPerTrigger", files.max_files_per_batch)
    reader = reader.option("maxFileAge", FOR_EVER)
    if files.format is FileFormat.PARQUET:
        rows = reader.schema(source.schema.ddl).load(resolve_environment(files.path))
        return rows.selectExpr("*", f"CAST(NULL AS STRING) AS {RAW}", f"_metadata.file_path AS {OFFSET}")
    reader = reader.option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", RAW)
    if files.format is FileFormat.CSV:
        reader = reader.option("header", str(files.header).lower())
    rows = reader.schema(f"{source.schema.ddl}, `{RAW}` string").load(resolve_environment(files.path))
    return rows.selectExpr("*", f"_metadata.file_path AS {OFFSET}")
