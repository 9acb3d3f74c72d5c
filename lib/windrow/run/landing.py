"""Landing: the one Structured Streaming query of a source, and the only writer of its raw log.

Every row that was read is in the one commit of its batch. A batch that had been committed when the process was killed
is known by query and batch number; when the checkpoint was lost, files are known by their paths.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.compile.envelope import OFFSET
from windrow.run.points import point
from windrow.sources.files import read_files
from windrow.sources.verdicts import landed
from windrow.spec.expectations import Expectation
from windrow.spec.sources import Source
from windrow.store.location import Lake
from windrow.store.raw import QUARANTINED, Raw
from windrow.store.steps import StepTaken


def clock_micros() -> int:
    """The clock of this machine in microseconds."""
    return time.time_ns() // 1000


@dataclass
class Landing:
    """The landing of one source into a lake. `rules` judge each row: those of its suite that say so."""

    spark: SparkSession
    source: Source
    lake: Lake
    clock: Callable[[], int] = clock_micros
    rules: tuple[Expectation, ...] = ()
    raw: Raw = field(init=False)

    def __post_init__(self) -> None:
        self.raw = Raw.of(self.lake, self.source.name)

    def start(self) -> StreamingQuery:
        """Start a query that lands what is there now, in batches, and ends."""
        rows = read_files(self.spark, self.source)
        writer = rows.writeStream.foreachBatch(self._land)
        writer = writer.option("checkpointLocation", self.lake.checkpoint(self.source.name))
        return writer.trigger(availableNow=True).start()

    def run(self) -> None:
        """Land all that is there now."""
        query = self.start()
        query.awaitTermination()

    def _land(self, batch: DataFrame, number: int) -> None:
        """Land a batch; behind a file that was taken out meanwhile it is done again."""
        before = self.raw.quarantined(batch.sparkSession)
        try:
            self._append(batch, number)
        except StepTaken:
            if self.raw.quarantined(batch.sparkSession) == before:
                raise
            self._append(batch, number)

    def _append(self, batch: DataFrame, number: int) -> None:
        spark = batch.sparkSession
        query = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
        last = self.raw.log.last(spark)
        notes: dict[str, Any] = {"query": query, "batch": number, "others_until": 0}
        notes[QUARANTINED] = self.raw.quarantined_at(last)
        if last is not None:
            if last.notes["query"] == query and last.notes["batch"] >= number:
                return
            notes["others_until"] = _others_until(last.step, last.notes, query)
        step = 1 if last is None else last.step + 1
        if notes["others_until"]:
            batch = batch.join(self.raw.files(spark, notes["others_until"]), on=OFFSET, how="left_anti")
        point("landing:before_raw")
        self.raw.log.append(landed(self.source, batch, step, self.clock(), self.rules), step, notes)
        point("landing:after_raw")


def _others_until(step: int, notes: Mapping[str, Any], query: str | None) -> int:
    """The last step that another query has landed: its files are in raw, and this query's checkpoint knows nothing."""
    return int(notes["others_until"]) if notes["query"] == query else step
