"""The lineage of a pipeline as events of OpenLineage.

Rule: docs/operations.md#lineage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.lineage.jobs import jobs_of
from windrow.drivers.inspect.lineage.runs import run_events
from windrow.drivers.inspect.look import look
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.view.lineage.events import job_event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def lineage(
    pipeline: Pipeline, spark: SparkSession | None = None, run: str | None = None, namespace: str = "windrow"
) -> list[dict[str, Any]]:
    """Events as plain values that JSON holds: which columns each result is made of, and what runs have written.

    Without `run` they are the jobs as the specification says them, and no lake is read. `run` is the name of a run,
    `last`, `stream` or `all`. Errors: SpecError for a run that has left nothing, NotReadable where only Spark can read
    the lake and there is no session.
    """
    if run is None:
        now = clock_micros()
        return [job_event(job, namespace, now) for job in jobs_of(pipeline)]
    return look(pipeline, spark, lambda tables: run_events(tables, pipeline, run, namespace))
