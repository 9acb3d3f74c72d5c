"""A session for whoever writes to a lake: what its tables rest on is looked at before anything is written."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.spark.connect import check_has_jvm
from windrow.drivers.spark.session import working_session
from windrow.store.delta.location import S3, Lake
from windrow.store.delta.log.put_if_absent import check_put_if_absent

CHECKPOINTS = "spark.sql.streaming.checkpointFileManagerClass"
_PUTTING = "windrow.ConditionalCheckpoints"
"""Puts the files of a checkpoint only where there are none; Spark's default would copy each to its name."""


def lake_session(spark: SparkSession, lake: Lake) -> SparkSession:
    """A working session in which a lake is written.

    Errors: SpecError for a session of Spark Connect, and where two drivers would lose commits.
    """
    check_has_jvm(spark)
    session = working_session(spark)
    scheme = check_put_if_absent(session, lake.root)
    java: Any = session._jvm
    is_said = session.conf.get(CHECKPOINTS, None) is not None
    if scheme in S3 and not is_said and java.org.apache.spark.util.Utils.classIsLoadable(_PUTTING):
        session.conf.set(CHECKPOINTS, _PUTTING)
    return session
