"""A Thrift server in the JVM of a session, which speaks what JDBC drivers for Hive speak."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession


@contextmanager
def served(spark: SparkSession) -> Iterator[None]:
    """The catalog of the session is served within, as `served_settings` say. Each connection is a session of its own.

    Errors: Spark's, where the port is taken.
    """
    java: Any = spark._jvm
    thrift = java.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
    server = thrift.startWithSparkSession(spark._jsparkSession, False)
    try:
        yield
    finally:
        server.stop()
