"""The metrics of a pipeline, read from its lake without a JVM: as text, or on a port of this machine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.status.status import status_in
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.times import DAY, SECOND
from windrow.store.delta.location import REWRITES, Lake
from windrow.store.journal.control import ADMISSION, READING
from windrow.store.reading.tables import Tables
from windrow.view.metrics import Standing, metrics_of
from windrow.view.status import StageStatus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric
    from pyspark.sql import SparkSession

KEPT = 5.0
"""For how many seconds what was read is told again: two that scrape at once read the lake once."""


def standing_of(pipeline: Pipeline, spark: SparkSession | None = None) -> Standing:
    """Where the pipeline stands now, for metrics. Errors: NotReadable where only Spark can read the lake."""
    return look(pipeline, spark, lambda tables: standing_in(tables, pipeline))


def metrics_text(pipeline: Pipeline, spark: SparkSession | None = None) -> str:
    """The metrics as OpenMetrics text."""
    from prometheus_client.openmetrics.exposition import generate_latest

    text: bytes = generate_latest(registry_of(pipeline, spark))
    return text.decode()


def registry_of(pipeline: Pipeline, spark: SparkSession | None = None) -> CollectorRegistry:
    """What the library of Prometheus serves: nothing but these metrics, read whenever somebody asks."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(pipeline, spark))
    return registry


def serve(pipeline: Pipeline, port: int, host: str, spark: SparkSession | None = None) -> None:
    """Answer on a port until the process is told to end. Raises OSError for a port that is taken."""
    from prometheus_client import start_http_server

    registry = registry_of(pipeline, spark)
    standing_of(pipeline, spark)  # what is wrong with the lake is said now, and not to who scrapes
    _, thread = start_http_server(port, host, registry)
    thread.join()


@dataclass(eq=False)  # a registry knows it by itself
class _Collector:
    """Reads the lake when it is asked, at most every few seconds."""

    pipeline: Pipeline
    spark: SparkSession | None
    _read_at: float = field(default=float("-inf"), init=False)
    _found: Iterable[Metric] = field(default=(), init=False)

    def collect(self) -> Iterable[Metric]:
        """The metrics as they are."""
        if time.monotonic() - self._read_at > KEPT:
            self._found = metrics_of(standing_of(self.pipeline, self.spark))
            self._read_at = time.monotonic()
        return self._found


def standing_in(tables: Tables, pipeline: Pipeline) -> Standing:
    """The same, as these tables tell it."""
    sources, stages = status_in(tables, pipeline)
    lake = Lake.of(pipeline.lake)
    phases = {one.stage: phases_of(tables, lake, one) for one in stages if one.tick is not None}
    hidden = frozenset(
        stage.name
        for stage in pipeline.stages
        for read in pipeline.upstreams_of(stage).values()
        if isinstance(read, Source) and read.hides_partitions
    )
    return Standing(pipeline.pipeline, clock_micros(), sources, stages, phases, hidden)


def phases_of(tables: Tables, lake: Lake, status: StageStatus) -> Mapping[str, float]:
    """Seconds of the last tick: statistics and planning, the job with its commit, and the projection of its panes.

    The commit is known where the processing time of the tick was that of the clock, and not that of a history or, as
    that of a backfill, of the tick before.
    """
    committed, phases = status.committed_at, dict[str, float]()
    if status.kind in (*READING, ADMISSION):
        planning = (status.planning_ms or 0) / 1000
        phases["planning"] = planning
        if committed is not None and status.now is not None and 0 <= committed - status.now < DAY:
            phases["commit"] = max(0.0, (committed - status.now) / SECOND - planning)
    panes = tables.open(lake.table(status.stage, "panes")) if status.emits else None
    notes, shown = ({}, None) if panes is None else (panes.notes(), panes.stepped_at())
    is_its = notes.get("journal_step") == status.tick and notes.get("generation") == status.generation
    if is_its and not notes.get(REWRITES) and committed is not None and shown is not None and shown >= committed:
        phases["projection"] = (shown - committed) / SECOND
    return phases
