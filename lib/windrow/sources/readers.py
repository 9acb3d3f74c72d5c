"""Which reader a source has: a streaming frame of its rows, and how rows are known that have landed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import OFFSET, PARTITION
from windrow.compile.sql.columns import call, col
from windrow.engine.frames import group, where
from windrow.sources.delta import changed_table, read_delta
from windrow.sources.files import elsewhere, read_files
from windrow.sources.kafka import is_outage, read_kafka
from windrow.sources.rate import read_rate
from windrow.spec.errors import SourceUnavailable
from windrow.spec.sources.connector import Connector
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.files import Files
from windrow.spec.sources.kafka import Kafka
from windrow.spec.sources.rate import Rate
from windrow.spec.sources.source import Source

__all__ = ["READERS", "Reader", "SourceOffsets", "failure_of", "read", "without", "words_of"]

SourceOffsets = Mapping[str, Any]
"""What has landed: the greatest offset of each partition, or where the last batch has ended, in Spark's words."""


def _without_offsets(batch: DataFrame, landed: DataFrame) -> DataFrame:
    return batch.join(landed.select(OFFSET).distinct(), on=OFFSET, how="left_anti")


def _behind_offsets(batch: DataFrame, landed: DataFrame) -> DataFrame:
    """Without the rows up to the greatest offset of their partition."""
    last = "_last_offset"
    greatest = group(landed, (PARTITION,), {last: call("max", col(OFFSET).cast("bigint"))})
    joined = batch.join(greatest, on=PARTITION, how="left")
    return where(joined, col(last).is_null() | (col(OFFSET).cast("bigint") > col(last))).drop(last)


def _all_new(batch: DataFrame, landed: DataFrame) -> DataFrame:
    """Without its checkpoint such a source counts from 0 again, and these are other rows."""
    return batch


@dataclass(frozen=True)
class Reader:
    """How the rows of a connector are read.

    `read` takes the session, the source, its connector, and what tells how far it has landed (None: nothing has, or a
    checkpoint knows). It gives a streaming frame of the columns of the schema, `_offset`, `_raw` (null where the row
    could be read) and, where the connector has partitions, `_partition`; or None where there is nothing to read.
    `without` takes a batch and rows that have landed: those of the batch that are new. `is_outage` says of the words of
    a failure whether the source may answer later.
    """

    read: Callable[[SparkSession, Source, Any, Callable[[], SourceOffsets | None]], DataFrame | None]
    without: Callable[[DataFrame, DataFrame], DataFrame] = _without_offsets
    is_outage: Callable[[str], bool] = lambda words: False


READERS: Mapping[type[Connector], Reader] = {
    Files: Reader(lambda spark, source, files, offsets: read_files(spark, source, files)),
    Kafka: Reader(
        lambda spark, source, kafka, offsets: read_kafka(spark, source, kafka, offsets() or {}),
        _behind_offsets,
        is_outage,
    ),
    DeltaSource: Reader(lambda spark, source, delta, offsets: read_delta(spark, source, delta, offsets())),
    Rate: Reader(lambda spark, source, rate, offsets: read_rate(spark, source, rate), _all_new),
}
"""By the class of the connector. A new one is a file beside this one, and a line here."""


def read(spark: SparkSession, source: Source, offsets: Callable[[], SourceOffsets | None]) -> DataFrame | None:
    """A streaming frame of the source's rows; None where there is nothing to read.

    `offsets` tells what has landed, where no checkpoint knows it. Errors: SpecError, SourceUnavailable.
    """
    return READERS[type(source.connector)].read(spark, source, source.connector, offsets)


def failure_of(source: Source, failure: Exception) -> Exception:
    """Why a query of the source has failed, as far as it is known: SourceUnavailable where it may go on later."""
    words = words_of(failure)
    if READERS[type(source.connector)].is_outage(words):
        return SourceUnavailable(source.name, "it did not answer while a batch was read")
    return changed_table(source, words) or elsewhere(source, words) or failure


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
    return READERS[type(source.connector)].without(batch, landed)
