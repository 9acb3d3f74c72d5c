"""The rows of a stage's tables that somebody wants to see."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.show import wanted_in_arrow
from windrow.drivers.inspect.show.wanted import Found, Wanted
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import instant
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTable
from windrow.store.reading.tables import Tables
from windrow.view.show import Shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def show(
    pipeline: Pipeline,
    spark: SparkSession | None,
    stage: str,
    panes: bool = False,
    keys: Mapping[str, str] | None = None,
    at: datetime | str | int | None = None,
    limit: int = 20,
) -> Shown:
    """The last `limit` rows of `current`, or of `panes`, in the order of windows, or of ticks.

    `keys` has texts by the names of keys (`null` for the null key), `at` is a time inside of the windows: a
    datetime, text in ISO 8601, or microseconds. The table is read by `deltalake`; the session is for a lake that it
    cannot read. Errors: SpecError for a name that is not a key, and where the stage has not run.
    """
    wanted = Wanted(pipeline.stage(stage), panes, keys or {}, None if at is None else instant("at", at), limit)
    newest, total = look(pipeline, spark, lambda tables: shown_in(tables, pipeline, wanted))
    return Shown(
        stage=stage,
        keys=list(wanted.stage.keys),
        results=list(wanted.stage.result_columns),
        columns=wanted.columns,
        rows=newest[::-1],
        total=total,
        panes=panes,
    )


def shown_in(tables: Tables, pipeline: Pipeline, wanted: Wanted) -> Found:
    """The rows that are wanted, as these tables have them. Errors: SpecError where the stage has not run."""
    stage = wanted.stage.name
    table = tables.open(Lake.of(pipeline.lake).table(stage, wanted.table))
    if table is None:
        raise SpecError(f"stages.{stage}", "has not run in this lake", pipeline.lake, "windrow run, or --set lake=...")
    if isinstance(table, ArrowTable):
        return wanted_in_arrow.found(table, wanted)
    from windrow.drivers.inspect.show import wanted_in_spark
    from windrow.store.reading.spark import SparkTable

    assert isinstance(table, SparkTable)
    return wanted_in_spark.found(table, wanted)
