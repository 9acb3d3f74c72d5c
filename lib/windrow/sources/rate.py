"""Rows that count up, so many a second, to try a pipeline out."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import OFFSET, RAW
from windrow.compile.sql.columns import col, named, null
from windrow.spec.sources.rate import Rate
from windrow.spec.sources.source import Source


def read_rate(spark: SparkSession, source: Source, rate: Rate) -> DataFrame:
    """A streaming frame of the source's columns; the offset of a row is its number."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", rate.rows_per_second).load()
    own = [named(name, col(name)) for name in source.schema]
    return rows.selectExpr(*own, named(RAW, null("string")), named(OFFSET, col("value").cast("string")))
