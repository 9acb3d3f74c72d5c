"""How old the newest complete results of stages are, read without Spark.

Rule: docs/operations.md#freshness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.look import look
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.freshness import Freshness
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import Condition, Tables
from windrow.view.freshness import StageFreshness

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def freshness_of(pipeline: Pipeline, spark: SparkSession | None = None, now: int | None = None) -> list[StageFreshness]:
    """How old the results of each stage are that has a `freshness`, as of now, or of a time in microseconds.

    The tables are read by `deltalake`; the session is for a lake that it cannot read. Errors: NotReadable where it
    cannot and there is no session.
    """
    at = clock_micros() if now is None else now
    return look(pipeline, spark, lambda tables: freshness_in(tables, pipeline, at))


def freshness_in(tables: Tables, pipeline: Pipeline, now: int) -> list[StageFreshness]:
    """The same, as these tables tell it."""
    allowed = {stage.name: stage.freshness for stage in pipeline.stages if stage.freshness is not None}
    return freshness_among(tables, Lake.of(pipeline.lake), allowed, now)


def freshness_among(tables: Tables, lake: Lake, allowed: Mapping[str, Freshness], now: int) -> list[StageFreshness]:
    """That of the stages of which it is said how old they may be."""
    return [stage_freshness(tables, lake, stage, one, now) for stage, one in allowed.items()]


def stage_freshness(tables: Tables, lake: Lake, stage: str, allowed: Freshness, now: int) -> StageFreshness:
    """That of one stage."""
    until = _complete_until(tables, lake, stage)
    return StageFreshness(stage, allowed, until, None if until is None else now - until)


def _complete_until(tables: Tables, lake: Lake, stage: str) -> int | None:
    """The greatest end of a window in `current` whose pane is not early."""
    current = tables.open(lake.table(stage, "current"))
    if current is None:
        return None
    return current.greatest("window_end", Condition("timing", "!=", "early"))
