"""The rows that somebody wants to see, read with Spark."""

from __future__ import annotations

from pyspark.sql import functions as F

from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, lit, quoted
from windrow.drivers.inspect.show.wanted import NULL, Found, Wanted
from windrow.engine.frames import select, where
from windrow.store.reading.spark import SparkTable
from windrow.view.show import TIMES


def found(table: SparkTable, wanted: Wanted) -> Found:
    """The rows of a stage's table."""
    rows = table.frame
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
