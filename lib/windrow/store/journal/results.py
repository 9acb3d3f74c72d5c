"""What a stage shows now, as frames that can be compared with what a batch gives."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL
from windrow.compile.panes.log_rows import cell_identity
from windrow.compile.sql.columns import Column, array, call, col
from windrow.engine.frames import group, select, where
from windrow.spec.aggregates import Aggregate, CollectSet, Histogram, Top
from windrow.spec.errors import NotInThisVersion
from windrow.store.journal.journal import Journal

_OVER_PANES: Mapping[str, str] = {
    "count": "sum", "count_if": "sum", "sum": "sum", "min": "min", "max": "max", "any": "max", "all": "min",
}  # fmt: skip


def _over_panes(aggregate: Aggregate, column: Column) -> Column | None:
    """The panes of a window that stand side by side, combined; None where values do not allow it: then one is alone."""
    items = call("flatten", call("collect_list", column))
    match aggregate:
        case CollectSet():
            return call("sort_array", call("array_distinct", items))
        case Top(count=count):
            return call("slice", call("sort_array", items, False), 1, count)
        case Histogram(bounds=bounds):
            return array(*[call("sum", Column(f"{column.text}[{index}]")) for index in range(len(bounds) + 1)])
    function = _OVER_PANES.get(aggregate.NAME)
    return None if function is None else call(function, column)


def shown(spark: SparkSession, journal: Journal) -> DataFrame:
    """The table `current` as `key`, bounds and `v_` columns; the panes of a stage that may clear combined.

    Of a join there is one `v_` column, with the rows of each window.
    """
    stage, gathered = journal.stage.shown, journal.stage.panes.gathered
    table = journal.lake.table(stage.name, "current").read(spark)
    rows = select(table, {**cell_identity(stage), **{f"v_{name}": col(name) for name in stage.emitted}})
    if gathered:
        return group(rows, CELL, gathered)
    if not (stage.is_discarding or stage.is_mixed):
        return rows
    kinds = journal.stage.cells.value_types
    several = {name: _over_panes(aggregate, col(f"v_{name}")) for name, aggregate in stage.aggregates.items()}
    combined = {
        f"v_{name}": (call("any_value", col(f"v_{name}")) if column is None else column).cast(kinds[f"v_{name}"])
        for name, column in several.items()
    }
    single = [name for name, column in several.items() if column is None]
    if single:
        panes = group(rows, CELL, {"panes": call("count", 1)})
        if not where(panes, col("panes") > 1).isEmpty():
            rule = "of a stage whose panes clear cannot be put together from several panes of a window in this version"
            raise NotInThisVersion(f"aggregates.{single[0]}", rule, stage.aggregates[single[0]].NAME)
    return group(rows, CELL, combined)


def shown_last(spark: SparkSession, journal: Journal) -> DataFrame:
    """`key` and bounds of the windows of which the last pane is shown, each once."""
    return _cells_where(spark, journal, col("is_last"))


def shown_early(spark: SparkSession, journal: Journal) -> DataFrame:
    """Those of the windows that a batch shows before they have expired, each once; of a stage without a stream."""
    return _cells_where(spark, journal, ~col("is_last"))


def _cells_where(spark: SparkSession, journal: Journal, condition: Column) -> DataFrame:
    stage = journal.stage.stage
    table = where(journal.lake.table(stage.name, "current").read(spark), condition)
    return select(table, cell_identity(stage)).distinct()


def standing_panes(spark: SparkSession, journal: Journal) -> DataFrame:
    """The panes that stand, with all their fields: those of `panes` that `current` shows; of a join, their rows."""
    stage = journal.stage.shown
    panes = journal.lake.table(stage.name, "panes").read(spark)
    current = journal.lake.table(stage.name, "current").read(spark)
    fields = ("timing", "pane_index", "on_time_index", "is_first", "is_last", "trigger", "watermark_percentile")
    values = {f"v_{name}": col(name) for name in stage.emitted}
    values["event_time"] = call("unix_micros", col("event_time"))
    emitted = select(
        where(panes, col("weight") > 0),
        {**cell_identity(stage), **{f: col(f) for f in fields}, "tick": col("tick"), **values},
    )
    there = select(current, {**cell_identity(stage), "pane_index": col("pane_index"), "tick": col("tick")})
    return emitted.join(there, on=[*CELL, "pane_index", "tick"], how="left_semi")
