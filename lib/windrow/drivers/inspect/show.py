"""The rows of a stage's tables that somebody wants to see."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from windrow.drivers.inspect.wanted import Found, Wanted
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import instant
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
    datetime, text in ISO 8601, or microseconds. Without a session the table is read by `deltalake`. Errors: SpecError
    for a name that is not a key, and where the stage has not run.
    """
    wanted = Wanted(pipeline.stage(stage), panes, keys or {}, None if at is None else instant("at", at), limit)
    newest, total = _found(pipeline, spark, wanted)
    return Shown(
        stage=stage,
        keys=list(wanted.stage.keys),
        results=list(wanted.stage.result_columns),
        columns=wanted.columns,
        rows=newest[::-1],
        total=total,
        panes=panes,
    )


def _found(pipeline: Pipeline, spark: SparkSession | None, wanted: Wanted) -> Found:
    if spark is None:
        from windrow.drivers.inspect import wanted_in_arrow

        return wanted_in_arrow.found(pipeline, wanted)
    from windrow.drivers.inspect import wanted_in_spark

    return wanted_in_spark.found(pipeline, spark, wanted)
