"""Who only looks at a lake needs no JVM, unless the lake is one that only Hadoop knows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from windrow.drivers.spark.connect import is_remote
from windrow.spec.errors import NotReadable
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.tables import Tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Seen = TypeVar("Seen")


def look(pipeline: Pipeline, spark: SparkSession | None, at: Callable[[Tables], Seen]) -> Seen:
    """What is seen in the tables of a pipeline's lake; errors: as `look_at`."""
    return look_at(Lake.of(pipeline.lake), spark, at)


def look_at(lake: Lake, spark: SparkSession | None, at: Callable[[Tables], Seen]) -> Seen:
    """What is seen in the tables of a lake: by `deltalake`, or with Spark where it cannot read them.

    Errors: NotReadable where it cannot and there is no session, or one of Spark Connect, which has no JVM.
    """
    try:
        _check_is_local(lake, spark)
        return at(ArrowTables())
    except NotReadable:
        if spark is None or is_remote(spark):
            raise
    from windrow.drivers.spark.session import working_session
    from windrow.store.reading.spark import SparkTables

    return at(SparkTables(working_session(spark)))


def _check_is_local(lake: Lake, spark: SparkSession | None) -> None:
    """Refuse a path without a scheme where Hadoop may take it for one of another file system than this machine's."""
    if lake.has_scheme:
        return
    context = getattr(spark, "_jsc", None)  # a session of Spark Connect has none
    default = "" if context is None else context.hadoopConfiguration().get("fs.defaultFS")
    is_elsewhere = not default.startswith("file:") if default else "HADOOP_CONF_DIR" in os.environ
    if is_elsewhere:
        rule = "cannot be read without Spark: Hadoop's configuration says on which file system a plain path is"
        raise NotReadable("lake", rule, lake.root, f"file://{lake.root}, if it is on this machine")
