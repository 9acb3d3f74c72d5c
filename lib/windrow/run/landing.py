"""Landing: the one Structured Streaming query of a source, and the only writer of its raw log.

Every row that was read is in the one commit of its batch. A batch that had been committed when the process was killed
is known by query and batch number; when the checkpoint was lost, files are known by their paths, and messages by their
offsets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.run.points import point
from windrow.run.rows import row_schema
from windrow.sources.readers import Places, failure_of, read, without
from windrow.sources.verdicts import landed
from windrow.spec.expectations import Expectation
from windrow.spec.sources import Source
from windrow.store.location import Lake
from windrow.store.raw import QUARANTINED, Raw
from windrow.store.steps import StepTaken

PLACE = "place"
"""The note that says where a batch of a Delta table has ended: its files may be other ones later."""


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
        self.raw = Raw.of(self.lake, self.source.name, row_schema(self.source.columns))

    def start(self) -> StreamingQuery | None:
        """Start a query that lands what is there now, in batches, and ends; None where there is nothing.

        Errors: SpecError, SourceUnavailable.
        """
        rows = read(self.spark, self.source, self._places)
        if rows is None:
            return None
        writer = rows.writeStream.foreachBatch(self._land)
        writer = writer.option("checkpointLocation", self.lake.checkpoint(self.source.name))
        return writer.trigger(availableNow=True).start()

    def run(self) -> None:
        """Land all that is there now."""
        query = self.start()
        if query is None:
            return
        try:
            query.awaitTermination()
        except StreamingQueryException:
            failure = self.failure(query)
            assert failure is not None
            raise failure from None

    def failure(self, query: StreamingQuery) -> Exception | None:
        """Why the query has failed, if it has: SourceUnavailable where it may go on later."""
        failure = query.exception()
        return None if failure is None else failure_of(self.source, failure)

    def _places(self) -> Places | None:
        """What has landed, where the checkpoint does not know from where to go on."""
        if self.lake.has_begun(self.spark, self.source.name):
            return None
        if self.source.delta is None:
            return self.raw.places(self.spark)
        last = self.raw.log.last(self.spark)
        return None if last is None else json.loads(last.notes.get(PLACE, "null"))

    def _land(self, batch: DataFrame, number: int) -> None:
        """Land a batch; where a file was taken out meanwhile, or `raw` put in order, it is done again."""
        before = self.raw.log.last(batch.sparkSession)
        try:
            self._append(batch, number)
        except StepTaken:
            after = self.raw.log.last(batch.sparkSession)
            if after != before and self.raw.quarantined_at(after) == self.raw.quarantined_at(before):
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
        if self.source.delta is not None:
            notes[PLACE] = self.lake.batch_end(spark, self.source.name, number)
        step = 1 if last is None else last.step + 1
        if notes["others_until"]:
            batch = without(self.source, batch, self.raw.rows(spark, 0, notes["others_until"]))
        point("landing:before_raw")
        self.raw.log.append(landed(self.source, batch, step, self.clock(), self.rules), step, notes)
        point("landing:after_raw")


def _others_until(step: int, notes: Mapping[str, Any], query: str | None) -> int:
    """The last step that another query has landed: its files are in raw, and this query's checkpoint knows nothing."""
    return int(notes["others_until"]) if notes["query"] == query else step
