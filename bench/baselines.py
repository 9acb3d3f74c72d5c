"""What Spark does by itself, over the same landed rows in the same batches, for the same windows and aggregates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from bench.workload import FEW_KEYS, FILES_PER_BATCH, GAP, NEAR, SCHEMA, files_of, raw_table
from windrow.drivers.spark.session import working_session
from windrow.spec.times import SECOND

STATE_STORES = {
    "default": {
        "spark.sql.streaming.stateStore.providerClass":
            "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    },
    "rocksdb": {
        "spark.sql.streaming.stateStore.providerClass":
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    },
}  # fmt: skip
"""Spark's two stores of streaming state: maps on the heap, written to files (its default), and RocksDB."""

_TEXTS = {"n": "count(1)", "total": "sum(v)", "most": "max(v)"}
_AGGREGATES = tuple(f"{text} AS {name}" for name, text in _TEXTS.items())
_RESULT = "k bigint, window_start timestamp, window_end timestamp, n bigint, total bigint, most bigint"


@dataclass
class Aggregation:
    """A streaming aggregation that can go on from its checkpoint; `shape` says over which windows.

    It reads what is landed, or the files themselves.
    """

    spark: SparkSession
    root: Path
    folder: Path
    store: str
    merges: bool
    shape: Callable[[DataFrame], DataFrame]
    reads_files: bool = False

    @property
    def result(self) -> str:
        return str(self.folder / "result")

    def run(self, files_per_batch: int) -> list[Any]:
        """Take all that is landed since the last run, one landing batch a micro-batch; the progress of each."""
        session = working_session(self.spark)
        for name, value in STATE_STORES[self.store].items():
            session.conf.set(name, value)
        windows = self.shape(self._rows(session, files_per_batch).withWatermark("at", "1 minute"))
        writer = windows.writeStream.option("checkpointLocation", str(self.folder / "checkpoint"))
        if self.merges:
            _create(session, self.result)
            query = writer.outputMode("update").foreachBatch(_merging(self.result)).trigger(availableNow=True).start()
        else:
            query = writer.outputMode("append").format("delta").trigger(availableNow=True).start(self.result)
        query.awaitTermination()
        return [progress for progress in query.recentProgress if progress["numInputRows"]]

    def _rows(self, session: SparkSession, files_per_batch: int) -> DataFrame:
        if self.reads_files:
            return files_stream(session, self.root, files_per_batch)
        raw = session.readStream.format("delta").option("maxFilesPerTrigger", files_per_batch)
        return raw.option("startingVersion", 0).load(raw_table(self.root)).select("k", "v", "at")


def files_stream(session: SparkSession, root: Path, files_per_batch: int = FILES_PER_BATCH) -> DataFrame:
    """The files as they are, as many of them at a time as landing takes."""
    reader = session.readStream.format("parquet").schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    return reader.load(files_of(root))


def run_group_by(spark: SparkSession, root: Path, folder: Path) -> str:
    """One batch over all that is landed, written to Delta."""
    rows = working_session(spark).read.format("delta").load(raw_table(root)).select("k", "v", "at")
    fixed(rows).write.format("delta").save(str(folder / "result"))
    return str(folder / "result")


def run_range_frame(spark: SparkSession, root: Path, folder: Path) -> str:
    """For every row the aggregates over those of its key that are at most so long before it, written to Delta."""
    rows = working_session(spark).read.format("delta").load(raw_table(root)).select("k", "v", "at")
    frame = Window.partitionBy("k").orderBy(F.expr("unix_micros(at)")).rangeBetween(-NEAR * SECOND, 0)
    values = [F.expr(text).over(frame).alias(name) for name, text in _TEXTS.items()]
    rows.select("k", "at", *values).write.format("delta").save(str(folder / "result"))
    return str(folder / "result")


def run_append(spark: SparkSession, root: Path, folder: Path) -> str:
    """The files appended to Delta."""
    writer = files_stream(working_session(spark), root).writeStream.format("delta")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start(str(folder / "result")).awaitTermination()
    return str(folder / "result")


def fixed(rows: DataFrame) -> DataFrame:
    """Windows of ten minutes."""
    return _grouped(rows, F.window("at", "10 minutes"))


def sliding(rows: DataFrame) -> DataFrame:
    """Windows of an hour, one every minute, of fewer keys."""
    few = rows.withColumn("k", F.expr(f"pmod(k, {FEW_KEYS})"))
    return _grouped(few, F.window("at", "60 minutes", "1 minute"))


def sessions(rows: DataFrame) -> DataFrame:
    """Sessions."""
    return _grouped(rows, F.session_window("at", f"{GAP} seconds"))


def chain(rows: DataFrame) -> DataFrame:
    """How many sessions end in each ten minutes, and how many rows they have."""
    made = rows.groupBy("k", F.session_window("at", f"{GAP} seconds").alias("w")).agg(F.expr("count(1) AS rows"))
    ended = made.groupBy(F.window(F.window_time("w"), "10 minutes").alias("t"))
    found = ended.agg(F.expr("count(1) AS n"), F.expr("sum(rows) AS total"), F.expr("max(rows) AS most"))
    return found.select("t.start", "t.end", "n", "total", "most").toDF("window_start", "window_end", *_TEXTS)


def _grouped(rows: DataFrame, window: Column) -> DataFrame:
    grouped = rows.groupBy("k", window.alias("w")).agg(*[F.expr(text) for text in _AGGREGATES])
    return grouped.select("k", "w.start", "w.end", "n", "total", "most").toDF(
        "k", "window_start", "window_end", "n", "total", "most"
    )


def _merging(path: str) -> Callable[[DataFrame, int], None]:
    def merge(batch: DataFrame, number: int) -> None:
        same = "t.k = s.k AND t.window_start = s.window_start AND t.window_end = s.window_end"
        into = DeltaTable.forPath(batch.sparkSession, path).alias("t").merge(batch.alias("s"), same)
        into.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    return merge


def _create(spark: SparkSession, path: str) -> None:
    if not DeltaTable.isDeltaTable(spark, path):
        spark.createDataFrame([], _RESULT).write.format("delta").save(path)
