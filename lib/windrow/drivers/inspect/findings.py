"""What the steps of a run have found, for its next steps: read as by who only looks, as it costs no job."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.drivers.inspect.look import look_at
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Audits, Found


def findings(lake: Lake, spark: SparkSession, run: str) -> dict[tuple[str, str], Found]:
    """By step and subject, what a run has found since it last began; a run may be repeated under its name."""
    return look_at(lake, spark, lambda tables: Audits.of(lake).read_run(tables, run))
