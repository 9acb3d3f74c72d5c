"""Landing: the one Structured Streaming query of a source, and the only writer of its raw log.

Every row that was read is in the one commit of its batch. A batch that had been committed when the process was killed
is known by query and batch number; when the checkpoint was lost, files are known by their paths, and messages by their
offsets. So a batch may be landed by whoever comes first, and several processes may land one source.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.compile.elements.envelope import QUARANTINED
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.checkpoint_race import LandingRun
from windrow.drivers.ingest.file_faults import FileFaults, Why
from windrow.drivers.ingest.runs import Run
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.spans import span
from windrow.drivers.spark import callbacks
from windrow.sources.batch_files import BatchFiles, batch_files
from windrow.sources.readers import SourceOffsets, failure_of, read, without
from windrow.sources.unreadable import is_of_a_file
from windrow.sources.verdicts import landed, unread
from windrow.spec.quality.expectations import Expectation
from windrow.spec.sources.source import Source
from windrow.store.delta.location import Lake
from windrow.store.delta.log.retries import StepTaken, tried_again
from windrow.store.upstream.raw import FILES, Raw

END_OFFSET = "end_offset"
"""The note that says where a batch of a Delta table has ended: its files may be other ones later."""


@dataclass
class Landing:
    """The landing of one source into a lake. `rules` judge each row: those of its suite that say so."""

    spark: SparkSession
    source: Source
    lake: Lake
    clock: Callable[[], int] = clock_micros
    rules: tuple[Expectation, ...] = ()
    raw: Raw = field(init=False)
    faults: FileFaults | None = field(init=False)
    fault: Exception | None = field(default=None, init=False)
    """What the last batch that failed has failed with: of the query's own error only the text is left."""
    _called: callbacks.Call | None = field(default=None, init=False)
    """The connection on which the query that is at work has called Python."""

    def __post_init__(self) -> None:
        self.raw = Raw.of(self.lake, self.source.name, self.source)
        files = self.source.files
        self.faults = None if files is None else FileFaults(self.source, files, self.raw)

    def start(self) -> LandingRun | None:
        """Start to land what is there now, in batches, and end; None where there is nothing.

        Errors: SpecError, SourceUnavailable.
        """
        checkpoint = self.lake.checkpoint(self.source.name)
        self.raw.last(self.spark)
        steps = partial(self.raw.last_step, self.spark)
        run = LandingRun(self._start, checkpoint, steps, lambda: self.fault, self._end_call)
        return run if run.is_begun else None

    def _start(self) -> StreamingQuery | None:
        self.fault = None
        rows = read(self.spark, self.source, self._offsets)
        if rows is None:
            return None
        writer = rows.writeStream.foreachBatch(self._land)
        writer = writer.option("checkpointLocation", self.lake.checkpoint(self.source.name))
        return writer.trigger(availableNow=True).start()

    def run(self) -> None:
        """Land all that is there now, also where another process lands the same source meanwhile."""
        run = self.start()
        if run is None:
            return
        with run:
            while run.is_active:
                run.wait(1.0)
        failure = self.failure(run)
        if failure is not None:
            raise failure

    def failure(self, run: Run) -> Exception | None:
        """Why a landing that has ended has failed, if it has: SourceUnavailable where it may go on later."""
        failure, fault = run.failure, self.fault
        if failure is None:
            return None
        known = failure_of(self.source, failure)
        told = fault if known is failure and fault is not None else known
        if not getattr(told, "__notes__", ()):
            told.add_note(f"while source {self.source.name} landed")
        return told

    def _offsets(self) -> SourceOffsets | None:
        """What has landed, where the checkpoint does not know from where to go on."""
        if self.lake.has_begun(self.spark, self.source.name):
            return None
        if not self.source.connector.NOTES_END:
            return self.raw.offsets(self.spark)
        last = self.raw.log.last(self.spark)
        return None if last is None else json.loads(last.notes.get(END_OFFSET, "null"))

    def _end_call(self) -> None:
        called, self._called = self._called, None
        callbacks.end(called)

    def _land(self, batch: DataFrame, number: int) -> None:
        """Land a batch; again where another writer was ahead, which may have landed this very batch."""
        self._called = callbacks.current()
        try:
            with span("land", source=self.source.name, batch=number):
                tried_again(lambda: self._append(batch, number))
        except Exception as fault:
            self.fault = fault
            raise

    def _append(self, batch: DataFrame, number: int) -> None:
        spark = batch.sparkSession
        query = str(spark.sparkContext.getLocalProperty("sql.streaming.queryId"))
        last = self.raw.last(spark)
        notes: dict[str, Any] = {"query": query, "batch": number, "others_until": 0}
        notes[QUARANTINED] = self.raw.quarantined_at(last)
        if last is not None:
            if last.notes["query"] == query and last.notes["batch"] >= number:
                return
            notes["others_until"] = _others_until(last.step, last.notes, query)
        if self.source.connector.NOTES_END:
            notes[END_OFFSET] = self.lake.batch_end(spark, self.source.name, number)
        step = _Step(self, spark, 1 if last is None else last.step + 1, notes)
        step.append(batch)


@dataclass(frozen=True)
class _Step:
    """One landing step: the rows of a batch, and a row for each of its files that cannot be read."""

    landing: Landing
    spark: SparkSession
    number: int
    notes: Mapping[str, Any]

    def append(self, batch: DataFrame) -> None:
        """Append the batch; where a file of it cannot be read, what the others hold. Errors: StepTaken."""
        faults = self.landing.faults
        files = None if faults is None else batch_files(self.landing.spark, self.notes["query"])
        if faults is None or files is None:
            return self._write(batch, {}, None if self.landing.source.connector.HAS_FILES else 0)
        strays = faults.strays(self.spark)
        for look in range(_LOOKS):
            try:
                rows, failed = self._rows(batch, files, look)
                self._write(rows, {**strays, **failed}, len(files.paths) + len(strays))
                break
            except Exception as failure:
                if isinstance(failure, StepTaken) or not is_of_a_file(failure) or look == _LOOKS - 1:
                    raise
        faults.named.update(strays)

    def _rows(self, batch: DataFrame, files: BatchFiles, look: int) -> tuple[DataFrame | None, Why]:
        """At the first look the rows of all files; then those of the ones that can be read, and why others cannot."""
        faults = self.landing.faults
        assert faults is not None, "it has files"
        if look > 0:
            return faults.sorted_out(self.spark, files)
        is_whole = files.is_sound and faults.is_in_order(self.spark, files)
        return (batch if is_whole else faults.again(self.spark, files)), {}

    def _write(self, rows: DataFrame | None, failed: Why, files: int | None) -> None:
        """Append the rows, and one for each file that cannot be read; `files` is None where they were not counted."""
        source, clock = self.landing.source, self.landing.clock()
        frames = [] if rows is None else [landed(source, self._new(rows), self.number, clock, self.landing.rules)]
        if failed:
            frames.append(self._new(unread(self.spark, source, failed, self.number, clock)))
        point("landing:before_raw")
        notes = self.notes if files is None or self.notes["others_until"] else {**self.notes, FILES: files}
        self.landing.raw.append(reduce(DataFrame.unionByName, frames), self.number, notes)
        point("landing:after_raw")

    def _new(self, rows: DataFrame) -> DataFrame:
        """Without those that another query has landed, of which this one's checkpoint knows nothing."""
        others = self.notes["others_until"]
        raw = self.landing.raw
        return without(self.landing.source, rows, raw.rows(self.spark, 0, others)) if others else rows


_LOOKS = 3
"""How often a batch is tried whose files fail: one may break between the look at it and the write."""


def _others_until(step: int, notes: Mapping[str, Any], query: str | None) -> int:
    """The last step that another query has landed: its files are in raw, and this query's checkpoint knows nothing."""
    return int(notes["others_until"]) if notes["query"] == query else step
