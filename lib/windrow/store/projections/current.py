"""`current`: the latest pane of each key and window, or every pane that stands of a stage whose panes may clear.

Of a join it has the rows of these panes.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL
from windrow.compile.panes.panes import CHANGES, TIMINGS, WITHDRAWN, as_timestamp
from windrow.compile.sql.columns import array, bigint, call, col, index_of, lit, name_at, null, quoted, struct
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.newest import newest
from windrow.spec.pipelines.table_columns import current_columns
from windrow.store.delta.step_log import StepLog
from windrow.store.projections.creation import commented
from windrow.store.projections.tick_range import TickRange, bounds

_GONE = "change IN ({})".format(", ".join(f"'{change}'" for change in WITHDRAWN))


def write_current(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Insert what is new; where something that stands is changed or withdrawn, MERGE.

    `spark` is a session that nothing else uses meanwhile. Gives the last step that is written.
    """
    columns = [quoted(name) for name in current_columns(tick_range.journal.stage.shown)]
    changed = any(summary.changed for summary in tick_range.counted.values())
    if tick_range.fresh:
        rows = _newest(spark, tick_range).where(f"NOT {_GONE}").select(*columns)
        log.replace(commented(rows), step + 1, notes)
    elif not tick_range.has_panes:
        return step
    elif not changed:
        log.append(tick_range.pane_rows(tick_range.cells(spark)).select(*columns), step + 1, notes)
    else:
        _merge(spark, log, step + 1, tick_range, notes)
    return step + 1


def _newest(spark: SparkSession, tick_range: TickRange) -> DataFrame:
    """The last change of each row of `current` in these ticks."""
    cells = tick_range.cells(spark)
    if tick_range.journal.stage.shown.row_identity:
        rows = _with_replaced(tick_range, tick_range.pane_rows(cells))
        whole = struct(**{name: col(name) for name in rows.columns})
        latest = struct(tick=col("tick"), index=col("pane_index"), weight=col("weight"))
        newest = group(rows, _identity(tick_range), {"change": call("max_by", whole, latest)})
        return select(newest, {name: col("change", name) for name in rows.columns})
    if len(tick_range.controls) == 1:
        return tick_range.pane_rows(with_column(cells, "panes", call("slice", col("panes"), -1, 1)))
    return tick_range.pane_rows(_newest_panes(tick_range, cells))


_COUNTERS = {"pane_index": "int", "on_time_index": "int", "is_last": "boolean"}
_NOT_SHOWN = {"weight": "int", "is_first": "boolean", "trigger": "string", "watermark_percentile": "int"}


def _newest_panes(tick_range: TickRange, cells: DataFrame) -> DataFrame:
    """The last pane of the newest of a cell's transitions, as far as `current` shows it."""
    types = tick_range.journal.stage.cells.value_types
    keeps = {"event_time": "bigint"} if tick_range.journal.stage.stage.keeps_event_times else {}
    counters = {**_COUNTERS, **keeps}
    result = {f"_{index}": name for index, name in enumerate(tick_range.journal.stage.stage.aggregates)}
    found = newest(
        with_column(cells, "pane", call("element_at", col("panes"), -1)),
        CELL,
        "tick",
        {
            "change": (index_of(CHANGES, col("pane", "change")), "int"),
            "timing": (index_of(TIMINGS, col("pane", "timing")), "int"),
            **{name: (col("pane", name), kind) for name, kind in counters.items()},
            **{field: (col("pane", "result", name), types[f"v_{name}"]) for field, name in result.items()},
        },
    )
    pane = struct(
        change=name_at(CHANGES, col("change")),
        timing=name_at(TIMINGS, col("timing")),
        **{name: col(name) for name in counters},
        **{name: null(kind) for name, kind in _NOT_SHOWN.items()},
        result=struct(**{name: col(field) for field, name in result.items()}),
    )
    return select(found, {**{name: col(name) for name in (*CELL, "tick")}, "panes": array(pane)})


def _identity(tick_range: TickRange) -> tuple[str, ...]:
    """The columns that tell one row of `current` from another."""
    stage = tick_range.journal.stage.shown
    return (*stage.keys, "window_start", "window_end", *stage.row_identity)


def _with_replaced(tick_range: TickRange, rows: DataFrame) -> DataFrame:
    """The rows, and for each pane that replaces one without a withdrawal the end of that: it is the one before."""
    if not tick_range.journal.stage.stage.is_mixed:
        return rows
    before = {"change": lit(WITHDRAWN[0]), "pane_index": col("pane_index") - 1}
    replacing = where(rows, col("change") == "update_postimage")
    return rows.unionByName(select(replacing, {name: before.get(name, col(name)) for name in rows.columns}))


def _merge(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> None:
    same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in _identity(tick_range))
    between = bounds(tick_range.counted)
    if between is not None:
        low, high = (as_timestamp(bigint(bound)).text for bound in between)
        same += f" AND t.window_start >= {low} AND t.window_start <= {high}"
    values: dict[str, str] = {
        quoted(name): f"s.{quoted(name)}" for name in current_columns(tick_range.journal.stage.shown)
    }
    with log.stepping(spark, step, notes):
        merge = log.location.table(spark).alias("t").merge(_newest(spark, tick_range).alias("s"), same)
        merge = merge.whenMatchedDelete(f"s.{_GONE}").whenMatchedUpdate(set=values)  # type: ignore[arg-type]
        merge.whenNotMatchedInsert(f"NOT s.{_GONE}", values=values).execute()  # type: ignore[arg-type]
