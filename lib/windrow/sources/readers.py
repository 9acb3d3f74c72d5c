"""Which reader a source has: a streaming frame of its rows, and how rows are known that have landed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import OFFSET, PARTITION
from windrow.compile.sql.columns import call, col
from windrow.engine.frames import group, where
from windrow.sources.delta import changed_table, read_delta
from windrow.sources.files import read_files
from windrow.sources.kafka import is_outage, read_kafka
from windrow.sources.rate import read_rate
from windrow.spec.errors import SourceUnavailable
from windrow.spec.sources.connectors import DeltaSource, Kafka, Rate
from windrow.spec.sources.source import Files, Source

__all__ = ["SourceOffsets", "failure_of", "read", "without", "words_of"]

SourceOffsets = Mapping[str, Any]
"""What has landed: the greatest offset of each partition, or where the last batch has ended, in Spark's words."""


def read(spark: SparkSession, source: Source, offsets: Callable[[], SourceOffsets | None]) -> DataFrame | None:
    """A streaming frame of the source's columns, `_offset`, `_raw`, and `_partition` where the connector has it.

    None where there is nothing to read. `offsets` tells what has landed, where no checkpoint knows it; None where one
    does, or nothing has. Errors: SpecError, SourceUnavailable.
    """
    match source.connector:
        case Files() as files:
            return read_files(spark, source, files)
        case Kafka() as kafka:
            return read_kafka(spark, source, kafka, offsets() or {})
        case DeltaSource() as delta:
            return read_delta(spark, source, delta, offsets())
        case Rate() as rate:
            return read_rate(spark, source, rate)
    raise NotImplementedError(source.connector)


def failure_of(source: Source, failure: Exception) -> Exception:
    """Why a query of the source has failed, as far as it is known: SourceUnavailable where it may go on later."""
    words = words_of(failure)
    if source.kafka is not None and is_outage(words):
        return SourceUnavailable(source.name, "it did not answer while a batch was read")
    return changed_table(source, words) or failure


def words_of(failure: BaseException) -> str:
    """An error of Spark and its causes, in their words: those of Java name their classes in the trace only."""
    said: list[str] = []
    error: BaseException | None = failure
    while error is not None:
        said += [str(error), str(getattr(error, "_stackTrace", ""))]
        error = getattr(error, "_cause", None)
    return "\n".join(said)


def without(source: Source, batch: DataFrame, landed: DataFrame) -> DataFrame:
    """The batch without the rows that are among those that landed."""
    if isinstance(source.connector, Rate):
        return batch  # without its checkpoint it counts from 0 again, and these are other rows
    if not isinstance(source.connector, Kafka):
        return batch.join(landed.select(OFFSET).distinct(), on=OFFSET, how="left_anti")
    last = "_last_offset"
    greatest = group(landed, (PARTITION,), {last: call("max", col(OFFSET).cast("bigint"))})
    joined = batch.join(greatest, on=PARTITION, how="left")
    return where(joined, col(last).is_null() | (col(OFFSET).cast("bigint") > col(last))).drop(last)
