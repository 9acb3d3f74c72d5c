"""The queries in Spark's Structured Streaming: from the files to a Delta table, in append mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.baselines import STATE_STORES
from bench.nexmark.events import COLUMNS, DELAY, PARTS, Data
from bench.nexmark.queries import QUERIES, Query
from windrow.drivers.spark.session import working_session

Events = Mapping[str, DataFrame]


def _ten() -> Column:
    return F.window("at", "10 seconds").alias("w")


def _q5(events: Events) -> DataFrame:
    counts = events["bids"].groupBy("auction", F.window("at", "10 seconds", "2 seconds").alias("w")).agg(
        F.count("*").alias("num")
    )  # fmt: skip
    return counts.groupBy("w").agg(F.max(F.struct("num", "auction")).alias("hottest")).select("w", "hottest.*")


def _q7(events: Events) -> DataFrame:
    highest = F.max(F.struct("price", "auction", "bidder", "ms")).alias("highest")
    return events["bids"].groupBy(_ten()).agg(highest).select("w", "highest.*")


def _q8(events: Events) -> DataFrame:
    persons = events["persons"].groupBy("id", "name", _ten()).agg(F.count("*").alias("persons"))
    sellers = events["auctions"].groupBy("seller", _ten()).agg(F.count("*").alias("auctions"))
    same = (F.col("p.id") == F.col("a.seller")) & (F.col("p.w") == F.col("a.w"))
    return persons.alias("p").join(sellers.alias("a"), same).select("p.w", "id", "name")


def _q11(events: Events) -> DataFrame:
    sessions = events["bids"].groupBy("bidder", F.session_window("at", "10 seconds").alias("w"))
    return sessions.agg(F.count("*").alias("num"))


def _q12(events: Events) -> DataFrame:
    return events["bids"].groupBy("bidder", _ten()).agg(F.count("*").alias("num"))


SHAPES: Mapping[str, Callable[[Events], DataFrame]] = {"q5": _q5, "q7": _q7, "q8": _q8, "q11": _q11, "q12": _q12}


def run(spark: SparkSession, query: Query, data: Data, folder: Path) -> str:
    """From the files to a Delta table, whose path it returns.

    The watermark of a query does not pass the events that it has read. So it also reads the one behind them, and has
    the micro-batches without rows that windrow's sessions turn off.
    """
    session = working_session(spark)
    for name, value in {**STATE_STORES["default"], "spark.sql.streaming.noDataMicroBatches.enabled": "true"}.items():
        session.conf.set(name, value)
    events = {kind: _events(session, data, kind, query.batches * PARTS) for kind in query.reads}
    found = SHAPES[query.name](events)
    times = {"window_start": F.col("w.start"), "window_end": F.col("w.end")}
    writer = found.withColumns(times).select(*query.columns).writeStream.outputMode("append").format("delta")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start(str(folder / "result")).awaitTermination()
    return str(folder / "result")


def _events(session: SparkSession, data: Data, kind: str, files: int) -> DataFrame:
    schema = ", ".join(f"{name} {type}" for name, type in COLUMNS[kind].items())
    reader = session.readStream.format("csv").schema(schema).option("maxFilesPerTrigger", files)
    rows = reader.load(data.files_and_end(kind)).withColumn("at", F.timestamp_millis("ms"))
    return rows.withWatermark("at", f"{DELAY} seconds")


assert SHAPES.keys() == QUERIES.keys()
