"""The rows of a stage's tables that somebody wants to see."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, lit, quoted
from windrow.drivers.spark.session import working_session
from windrow.engine.frames import select, where
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.columns import current_columns, pane_columns
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import instant
from windrow.store.delta.location import Lake
from windrow.view.show import TIMES, Shown

NULL = "null"
"""What stands for the null key."""


def show(
    pipeline: Pipeline,
    spark: SparkSession,
    stage: str,
    panes: bool = False,
    keys: Mapping[str, str] | None = None,
    at: datetime | str | int | None = None,
    limit: int = 20,
) -> Shown:
    """The last `limit` rows of `current`, or of `panes`, in the order of windows, or of ticks.

    `keys` has texts by the names of keys (`null` for the null key), `at` is a time inside of the windows: a
    datetime, text in ISO 8601, or microseconds. Errors: SpecError for a name that is not a key, and where the stage
    has not run.
    """
    chosen, session = pipeline.stage(stage), working_session(spark)
    table = Lake.of(pipeline.lake).table(stage, "panes" if panes else "current")
    if not table.exists(session):
        raise SpecError(f"stages.{stage}", "has not run in this lake", pipeline.lake, "windrow run, or --set lake=...")
    rows = table.read(session)
    for condition in [*_key_conditions(chosen, keys or {}), *_inside(None if at is None else instant("at", at))]:
        rows = where(rows, condition)
    columns = pane_columns(chosen) if panes else current_columns(chosen)
    micros = {name: call("unix_micros", col(name)) if name in TIMES else col(name) for name in columns}
    newest = select(_newest(rows, chosen, panes, limit), micros).collect()
    return Shown(
        stage=stage,
        keys=list(chosen.keys),
        results=list(chosen.result_columns),
        columns=columns,
        rows=[tuple(row) for row in reversed(newest)],
        total=rows.count(),
        panes=panes,
    )


def _key_conditions(stage: Stage, keys: Mapping[str, str]) -> list[Column]:
    conditions = []
    for name, value in keys.items():
        if name not in stage.keys:
            hint = f"the keys are {', '.join(stage.keys)}" if stage.keys else "the stage has no keys"
            raise SpecError("--key", f"names what is not a key of {stage.name}", name, hint)
        column = col(name)
        conditions.append(column.is_null() if value == NULL else column.cast("string") == lit(value))
    return conditions


def _inside(at: int | None) -> list[Column]:
    """The windows that hold that time; the global window holds every time."""
    if at is None:
        return []
    time = as_timestamp(bigint(at))
    starts, ends = coalesce(col("window_start") <= time, True), coalesce(col("window_end") > time, True)
    return [starts, ends]


def _newest(rows: DataFrame, stage: Stage, panes: bool, limit: int) -> DataFrame:
    """The last rows, the newest in front. A withdrawal comes before what replaces it."""
    row = [] if stage.join is None else ["row"]
    order = ["window_start", "window_end", *stage.keys, "pane_index"]
    by = ["tick", *order, "weight", *row] if panes else [*order, *row]
    return rows.orderBy(*[F.col(quoted(name)).desc() for name in by]).limit(limit)
