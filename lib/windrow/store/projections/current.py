"""`current`: the latest pane of each key and window, or every pane that stands of a stage whose panes may clear.

Of a join it has the rows of these panes.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.panes.panes import CHANGES, RETRACTED, TIMINGS, as_timestamp
from windrow.compile.sql.columns import bigint, call, col, index_of, lit, name_at, quoted, struct
from windrow.engine.frames import group, select, where
from windrow.engine.newest import newest
from windrow.spec.pipelines.column_comments import comments_of_current
from windrow.spec.pipelines.table_columns import current_columns
from windrow.store.delta.log.step_log import StepLog
from windrow.store.projections.creation import commented
from windrow.store.projections.panes import append_panes
from windrow.store.projections.rewriting import rewritten
from windrow.store.projections.tick_range import TickRange

_GONE = "change IN ({})".format(", ".join(f"'{change}'" for change in RETRACTED))


def write_current(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Insert what is new; where something that stands is changed or retracted, in place of the files that may hold it.

    `spark` is a session that nothing else uses meanwhile. Gives the last step that is written.
    """
    columns = current_columns(tick_range.journal.stage.shown)
    if tick_range.fresh:
        comments = comments_of_current(tick_range.journal.stage.shown)
        log.replace(commented(standing(spark, tick_range), comments), step + 1, notes)
    elif not tick_range.has_panes:
        return step
    elif not tick_range.changes:
        append_panes(spark, log, step + 1, tick_range, columns, notes)
    elif tick_range.is_first:
        log.append(standing(spark, tick_range), step + 1, notes)
    else:
        _change(log, step + 1, tick_range, _newest(spark, tick_range), notes)
    return step + 1


def standing(spark: SparkSession, tick_range: TickRange) -> DataFrame:
    """The rows of `current` that all ticks of a generation make."""
    columns = current_columns(tick_range.journal.stage.shown)
    return _newest(spark, tick_range).where(f"NOT {_GONE}").select(*map(quoted, columns))


def _newest(spark: SparkSession, tick_range: TickRange) -> DataFrame:
    """The last change of each row of `current` in these ticks."""
    stage, rows = tick_range.journal.stage.shown, tick_range.panes(spark)
    if stage.row_identity:
        wanted = {name: col(name) for name in (*current_columns(stage), "change", "weight")}
        rows = _with_replaced(tick_range, select(rows, wanted))
        whole = struct(**{name: col(name) for name in rows.columns})
        latest = struct(tick=col("tick"), index=col("pane_index"), weight=col("weight"))
        found = group(rows, _identity(tick_range), {"change": call("max_by", whole, latest)})
        return select(found, {name: col("change", name) for name in rows.columns})
    if not tick_range.retracts and len(tick_range.controls) == 1:
        return rows
    return _newest_panes(tick_range, where(rows, col("change") != RETRACTED[0]))


def _newest_panes(tick_range: TickRange, rows: DataFrame) -> DataFrame:
    """The last pane of each window, as far as `current` shows it. A tick may retract one and insert another."""
    stage, types = tick_range.journal.stage.shown, dict(rows.dtypes)
    identity = _identity(tick_range)
    names = [name for name in (*current_columns(stage), "change") if name not in identity]
    coded = {"change": CHANGES, "timing": TIMINGS}
    fields = {
        f"_{index}": (index_of(coded[name], col(name)), "int") if name in coded else (col(name), types[name])
        for index, name in enumerate(names)
    }
    order = {name: col(name) for name in rows.columns} | {_ORDER: col("tick") * 2 + (col("weight") > 0).cast("bigint")}
    found = newest(select(rows, order), identity, _ORDER, fields)
    shown = {
        name: name_at(coded[name], col(f"_{index}")) if name in coded else col(f"_{index}")
        for index, name in enumerate(names)
    }
    return select(found, {**{name: col(name) for name in identity}, **shown})


_ORDER = "_order"
"""A pane is behind what the same tick retracts."""


def _identity(tick_range: TickRange) -> tuple[str, ...]:
    """The columns that tell one row of `current` from another."""
    stage = tick_range.journal.stage.shown
    return (*stage.keys, "window_start", "window_end", *stage.row_identity)


def _with_replaced(tick_range: TickRange, rows: DataFrame) -> DataFrame:
    """The rows, and for each pane that replaces one without a retraction the end of that: it is the one before."""
    if not tick_range.journal.stage.stage.is_mixed:
        return rows
    before = {"change": lit(RETRACTED[0]), "pane_index": col("pane_index") - 1}
    replacing = where(rows, col("change") == "update_postimage")
    return rows.unionByName(select(replacing, {name: before.get(name, col(name)) for name in rows.columns}))


def _change(log: StepLog, step: int, tick_range: TickRange, new: DataFrame, notes: Mapping[str, int]) -> None:
    """Change, retract and insert rows: in files that are written anew, or where that is too much by a MERGE."""
    identity, starts = _identity(tick_range), tick_range.starts
    if rewritten(log, step, new, f"NOT {_GONE}", identity, starts, tick_range.shown, notes):
        return
    same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in identity)
    if starts is not None:
        low, high = (as_timestamp(bigint(bound)).text for bound in starts)
        same += f" AND t.window_start >= {low} AND t.window_start <= {high}"
    values: dict[str, str] = {
        quoted(name): f"s.{quoted(name)}" for name in current_columns(tick_range.journal.stage.shown)
    }
    spark = new.sparkSession
    with log.stepping(spark, step, notes):
        merge = log.location.table(spark).alias("t").merge(new.alias("s"), same)
        merge = merge.whenMatchedDelete(f"s.{_GONE}").whenMatchedUpdate(set=values)  # type: ignore[arg-type]
        merge.whenNotMatchedInsert(f"NOT s.{_GONE}", values=values).execute()  # type: ignore[arg-type]
