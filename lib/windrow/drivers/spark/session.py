"""Spark sessions: one of windrow's own for the command line and the tests, or a clone beside a caller's."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from windrow.drivers.spark.hadoop import drop_unread_properties
from windrow.drivers.spark.jvm import class_archive, collector, session_jars
from windrow.drivers.spark.names import cache_names

TRACE = "WINDROW_TRACE"
"""The environment variable that has the traces of any error shown, Python's and the JVM's."""

_CORES = os.cpu_count() or 2

RUNTIME: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": str(_CORES),
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.databricks.delta.schema.autoMerge.enabled": "false",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # read once or twice, soon
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "0",
}
"""Settings of every session in which windrow works. UTC and no ANSI errors, so that results do not depend on the
caller's session and no row can stop a tick. No substitution of `${env:NAME}`, by which a text could read secrets. No
adaptive planning, which costs small ticks more than it gives. A MERGE may read its source twice: what it reads is
files that do not change. A landing that starts beside another in one JVM does not stop that one, but waits. Timestamps
are written in microseconds: Spark's default is a format that other readers take for nanoseconds, which end in 2262.
Rows are not sorted by their partitions before they are written, where a task has at most so many. The texts of plans,
made for every query, are short: nobody sees them without Spark's own pages."""

_INTERPRETED: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}

STATIC: Mapping[str, str] = {
    "spark.sql.codegen.cache.maxEntries": "5000",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.sources.commitProtocolClass":
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol",
}  # fmt: skip


def local_session(
    app: str = "windrow", master: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session of windrow's own, with jars from disk. Errors: SpecError where they are not set up."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app).master(master or os.environ.get("WINDROW_MASTER", "local[*]"))
    settings = {
        "spark.jars": ",".join(session_jars()),
        "spark.driver.memory": os.environ.get("WINDROW_DRIVER_MEMORY", "4g"),
        "spark.driver.extraJavaOptions": f"{_logging()} {collector()} {class_archive()}",
        **STATIC,
        **RUNTIME,
        **(conf or {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    spark = builder.getOrCreate()
    drop_unread_properties(spark)
    return spark


def _logging() -> str:
    """What Spark logs goes with the trace of an error: to the terminal, when it was asked for."""
    quiet = Path(__file__).parent / "log4j2.properties"
    return f"-Dlog4j2.configurationFile=file:{quiet} -Dwindrow.log={'error' if os.environ.get(TRACE) else 'fatal'}"


def submitted_session(app: str) -> SparkSession:
    """The session of a job that `spark-submit` started: its master, jars and settings, and Delta's extension."""
    builder = SparkSession.builder.appName(app)
    for name in ("spark.sql.extensions", "spark.sql.catalog.spark_catalog"):
        builder = builder.config(name, STATIC[name])
    return builder.getOrCreate()


def working_session(spark: SparkSession) -> SparkSession:
    """A session beside the caller's, with windrow's settings; the caller's own stay as they are."""
    if not is_remote(spark):
        cache_names(spark)
    session = _cloned(spark) if is_remote(spark) else spark.newSession()
    for name, value in RUNTIME.items():
        session.conf.set(name, value)
    return session


def _cloned(spark: SparkSession) -> SparkSession:
    """The session of a server once more. The server knows a session, and can clone it, once it was asked something."""
    spark.conf.get("spark.sql.session.timeZone")
    clone: SparkSession = spark.cloneSession()  # type: ignore[attr-defined]
    return clone


def is_remote(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect: it has no JVM, and what windrow's tables need is not there."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def small_session(spark: SparkSession) -> SparkSession:
    """A working session for ticks of a few rows: they are interpreted, as compiling would take longer than they do.

    No broadcasts, which are jobs of their own.
    """
    session = working_session(spark)
    for name, value in _INTERPRETED.items():
        session.conf.set(name, value)
    return session
