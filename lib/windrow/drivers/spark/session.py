"""Spark sessions: one of windrow's own for the command line and the tests, or a clone beside a caller's."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping

from pyspark import SparkConf
from pyspark.sql import SparkSession

from windrow.drivers.spark.hadoop import drop_unread_properties
from windrow.drivers.spark.jvm import class_archive, code_cache, collector, driver_memory, logging_of, session_jars
from windrow.drivers.spark.names import cache_names
from windrow.spec.pipelines.spark_settings import CATALOG, EXTENSIONS, check_settings, with_delta
from windrow.spec.pipelines.spark_settings import REQUIRED as NEEDED

TRACE = "WINDROW_TRACE"
"""The environment variable that has the traces of any error shown, Python's and the JVM's."""

_CORES = os.cpu_count() or 2

REQUIRED: Mapping[str, str] = {name: setting.value for name, setting in NEEDED.items() if name != CATALOG}
"""Settings of every session in which windrow works, whatever those of the cluster and the caller are."""

PREFERRED: Mapping[str, str] = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": str(_CORES),
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # read once or twice, soon
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "0",
}
"""Settings of these sessions where neither the cluster nor the caller says otherwise: small ticks take less time. No
adaptive planning, which costs them more than it gives. A MERGE may read its source twice: what it reads is files that
do not change. Rows are not sorted by their partitions before they are written, where a task has at most so many. The
texts of plans, made for every query, are short: nobody sees them without Spark's own pages."""

_OF_BATCHES: Mapping[str, str] = {"spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20"}
"""A task groups into a million cells before it needs Spark's slower map. By default that is so from 65,536 on, and both
maps are asked for every row then. The larger map takes some milliseconds to make, which a tick had better not spend."""

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
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of every JVM of windrow's own, and of a job where nobody says otherwise."""

LOCAL: Mapping[str, str] = {
    **STATIC,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.sources.commitProtocolClass":
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol",
}  # fmt: skip
"""Of those, the ones of a JVM on this machine."""


def local_session(
    app: str = "windrow", master: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session of windrow's own, with jars from disk; `conf` wins over what windrow prefers.

    Errors: SpecError where the jars are not set up, and for a setting that would make results wrong.
    """
    given = conf or {}
    check_settings(given)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app).master(master or os.environ.get("WINDROW_MASTER", "local[*]"))
    # What Spark logs goes with the trace of an error: to the terminal, when it was asked for.
    level = "error" if os.environ.get(TRACE) else "fatal"
    settings = {
        "spark.jars": ",".join(session_jars()),
        "spark.driver.memory": driver_memory(),
        "spark.driver.extraJavaOptions": f"{logging_of(level)} {collector()} {code_cache()} {class_archive()}",
        **LOCAL,
        **PREFERRED,
        **REQUIRED,
        **given,
        CATALOG: NEEDED[CATALOG].value,
        EXTENSIONS: with_delta(given.get(EXTENSIONS)),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    spark = builder.getOrCreate()
    drop_unread_properties(spark)
    return spark


def submitted_session(app: str) -> SparkSession:
    """The session of a job that `spark-submit` started: its master, jars and settings, and Delta's extension."""
    given = SparkConf()
    settings = {name: value for name, value in STATIC.items() if not given.contains(name)}
    settings |= {CATALOG: NEEDED[CATALOG].value, EXTENSIONS: with_delta(given.get(EXTENSIONS))}
    builder = SparkSession.builder.appName(app)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def working_session(spark: SparkSession) -> SparkSession:
    """A session beside the caller's, with the settings that windrow needs; the caller's own stay as they are.

    What windrow only prefers gives way to what the cluster or the caller has set.
    """
    if not is_remote(spark):
        cache_names(spark)
    session = _cloned(spark) if is_remote(spark) else spark.newSession()
    chosen = {name: str(spark.conf.get(name, value)) for name, value in PREFERRED.items()}
    chosen |= {name: value for name in _OF_BATCHES if (value := spark.conf.get(name, None)) is not None}
    for name, value in {**chosen, **REQUIRED}.items():
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


def group_at_large(session: SparkSession) -> None:
    """Have a working session group the many rows of a batch at less cost, unless the cluster or the caller says how."""
    for name, value in _OF_BATCHES.items():
        if session.conf.get(name, None) is None:
            session.conf.set(name, value)


def small_session(spark: SparkSession) -> SparkSession:
    """A working session for ticks of a few rows: they are interpreted, as compiling would take longer than they do.

    No broadcasts, which are jobs of their own.
    """
    session = working_session(spark)
    for name, value in _INTERPRETED.items():
        session.conf.set(name, value)
    return session
