"""Spark sessions: one of windrow's own for the command line and the tests, or a clone beside a caller's."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from windrow.drivers.spark import settings
from windrow.drivers.spark.connect import check_is_no_server, is_remote
from windrow.drivers.spark.hadoop import drop_unread_properties
from windrow.drivers.spark.machine import defaults
from windrow.drivers.spark.names import cache_names
from windrow.drivers.spark.settings import OF_BATCHES, PREFERRED, REQUIRED
from windrow.engine.partitions import choose_partitions
from windrow.store.delta.log.put_if_absent import LINKING, LOG_STORE

TRACE = "WINDROW_TRACE"
"""The environment variable that has the traces of any error shown, Python's and the JVM's."""

PYTHON = "spark.pyspark.python"
"""The setting that names the Python of executors. `spark-submit` reads it for jobs, and we for our own sessions."""


def local_session(
    app: str = "windrow", master: str | None = None, conf: Mapping[str, str] | None = None, s3: bool = False
) -> SparkSession:
    """A session of windrow's own, with jars from disk; `conf` wins over the cluster's defaults, and these over ours.

    With `s3` it reaches lakes on S3, where that is set up. Errors: SpecError where the jars are not set up, for a
    setting that would make results wrong, and where only a server of Spark Connect is named.
    """
    given, known = conf or {}, defaults(_find_spark_home())
    master = settings.master_of(master, given, known)
    check_is_no_server(master)
    python = given.get(PYTHON) or os.environ.get("PYSPARK_PYTHON") or known.get(PYTHON) or sys.executable
    os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    # What Spark logs goes with the trace of an error: to the terminal, when it was asked for.
    level = "error" if os.environ.get(TRACE) else "fatal"
    builder = SparkSession.builder.appName(app)
    for name, value in settings.of_own_session(master, given, known, s3, level).items():
        builder = builder.config(name, value)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    spark = builder.getOrCreate()
    drop_unread_properties(spark)
    choose_partitions(spark, spark)
    return spark


def submitted_session(app: str) -> SparkSession:
    """The session of a job that `spark-submit` started: its master, jars and settings, and Delta's extension.

    Errors: SpecError where it was submitted with a setting that would make results wrong.
    """
    SparkContext._ensure_initialized()  # before, Python does not know what the job was submitted with
    java: Any = SparkContext._jvm
    log_stores = [name for name in (LINKING, LOG_STORE) if java.org.apache.spark.util.Utils.classIsLoadable(name)]
    submitted = dict(SparkConf().getAll())
    builder = SparkSession.builder.appName(app)
    for name, value in settings.of_submitted_session(submitted, defaults(), log_stores).items():
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
    chosen |= {name: value for name in OF_BATCHES if (value := spark.conf.get(name, None)) is not None}
    for name, value in {**chosen, **REQUIRED}.items():
        session.conf.set(name, value)
    if not is_remote(spark):
        choose_partitions(spark, session)
    return session


def _cloned(spark: SparkSession) -> SparkSession:
    """The session of a server once more. The server knows a session, and can clone it, once it was asked something."""
    spark.conf.get("spark.sql.session.timeZone")
    clone: SparkSession = spark.cloneSession()  # type: ignore[attr-defined]
    return clone


def group_at_large(session: SparkSession) -> None:
    """Have a working session group the many rows of a batch at less cost, unless the cluster or the caller says how."""
    for name, value in OF_BATCHES.items():
        if session.conf.get(name, None) is None:
            session.conf.set(name, value)


def small_session(spark: SparkSession) -> SparkSession:
    """A working session for ticks of a few rows: they are interpreted, as compiling would take longer than they do.

    No broadcasts, which are jobs of their own.
    """
    session = working_session(spark)
    for name, value in settings.INTERPRETED.items():
        session.conf.set(name, value)
    return session
