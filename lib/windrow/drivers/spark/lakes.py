"""A session for whoever writes to a lake: what its tables rest on is looked at before anything is written."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.spark.session import is_remote, working_session
from windrow.spec.errors import SpecError
from windrow.store.delta.location import Lake, is_on_s3
from windrow.store.delta.put_if_absent import check_put_if_absent

CHECKPOINTS = "spark.sql.streaming.checkpointFileManagerClass"
_PUTTING = "windrow.ConditionalCheckpoints"
"""Puts the files of a checkpoint only where there are none; Spark's default would copy each to its name."""


def lake_session(spark: SparkSession, lake: Lake) -> SparkSession:
    """A working session in which a lake is written.

    Errors: SpecError for a session of Spark Connect, and where two drivers would lose commits.
    """
    if is_remote(spark):
        rule = "must have a JVM of its own: tables are written there"
        raise SpecError("spark", rule, "a session of Spark Connect", "plan, status, show, report and panes need none")
    session = working_session(spark)
    check_put_if_absent(session, lake.root)
    java: Any = session._jvm
    if is_on_s3(lake.root) and java.org.apache.spark.util.Utils.classIsLoadable(_PUTTING):
        session.conf.set(CHECKPOINTS, _PUTTING)
    return session
