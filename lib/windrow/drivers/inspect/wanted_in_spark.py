"""The rows that somebody wants to see, read with Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, lit, quoted
from windrow.drivers.inspect.wanted import NULL, Found, Wanted
from windrow.drivers.spark.session import working_session
from windrow.engine.frames import select, where
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.view.show import TIMES


def found(pipeline: Pipeline, spark: SparkSession, wanted: Wanted) -> Found:
    """The rows of a stage's table. Errors: SpecError where the stage has not run."""
    session, stage = working_session(spark), wanted.stage.name
    table = Lake.of(pipeline.lake).table(stage, wanted.table)
    if not table.exists(session):
        raise SpecError(f"stages.{stage}", "has not run in this lake", pipeline.lake, "windrow run, or --set lake=...")
    rows = table.read(session)
    for condition in [*_key_conditions(wanted), *_inside(wanted.at)]:
        rows = where(rows, condition)
    newest = rows.orderBy(*[F.col(quoted(name)).desc() for name in wanted.order]).limit(wanted.limit)
    micros = {name: call("unix_micros", col(name)) if name in TIMES else col(name) for name in wanted.columns}
    return [tuple(row) for row in select(newest, micros).collect()], rows.count()


def _key_conditions(wanted: Wanted) -> list[Column]:
    return [
        col(name).is_null() if value == NULL else col(name).cast("string") == lit(value)
        for name, value in wanted.keys.items()
    ]


def _inside(at: int | None) -> list[Column]:
    if at is None:
        return []
    time = as_timestamp(bigint(at))
    starts, ends = coalesce(col("window_start") <= time, True), coalesce(col("window_end") > time, True)
    return [starts, ends]
