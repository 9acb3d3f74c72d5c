"""The final result of every window over a set of elements: one tick with the watermark at +infinity.

Nothing is late and every window is emitted once, so no trigger is evaluated: a batch is `combine` and the values.

Rules: docs/semantics.md#what-is-promised, docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame

from windrow.compile.columns import AHEAD, CELL, KEY, NET, WEIGHT, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.results import PASSES, TOLERANCE, with_passes
from windrow.compile.sql.columns import Column, all_of, any_of, call, col, lit, when
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, over, select, where, with_column
from windrow.engine.tick.cogroups import united
from windrow.engine.tick.elements import PAIR, elements_of, pairs_of_input, pairs_of_rows
from windrow.engine.tick.inputs import parted
from windrow.engine.tick.published import Span, starts_in
from windrow.engine.windows.registry import strategy_of

PANE_TIME = "event_time"
"""The event time that a batch gives a pane; no aggregate can have this name."""


def final_values(
    stage: CompiledStage, rows: DataFrame, excluded: DataFrame | None = None, net: Collection[str] = ()
) -> DataFrame:
    """`key`, bounds and the aggregates of every window over raw rows; of a join, the rows of every window.

    `excluded` has pairs (`PAIR`) that are left out: those that are dead as late or closed. Where records make the
    windows it says in `reason` which, in `EXPIRED_END` what had expired by then, and in `RESTATED` the spans in which
    they are not left out after all. `net` names the inputs whose rows are panes that others
    of them may retract.
    """
    alive, strategy = where(rows, col(envelope.REASON).is_null()), strategy_of(stage)
    if net:
        combined = strategy.combine_pairs(_standing(stage, alive, excluded, net))
    elif excluded is None:
        combined = strategy.windows_of(elements_of(stage, alive))
    else:
        combined = strategy.combine_without(alive, excluded)
    if stage.is_weighted:
        combined = where(combined, col(NET) > 0)
    values = {f"v_{name}": column for name, column in stage.values.items()}
    if stage.stage.keeps_event_times:
        values[f"v_{PANE_TIME}"] = col(AHEAD)
    results = _passing(stage, select(combined, {**{name: col(name) for name in CELL}, **values}))
    return apply(stage.panes.of_windows(over(results)), results)


def _standing(stage: CompiledStage, rows: DataFrame, excluded: DataFrame | None, net: Collection[str]) -> DataFrame:
    """The pairs of panes that stand, and those of the inputs that retract none."""
    parts = {}
    for name, frame in parted(stage, rows).items():
        part = stage.of_input(name)
        found = pairs_of_input(part, frame, strategy_of(stage).pairs, (WEIGHT,) if name in net else ())
        if excluded is not None:
            found = found.join(excluded.select(*PAIR), on=list(PAIR), how="left_anti")
        parts[name] = _net(found) if name in net else found
    return united(stage, parts)


def _net(found: DataFrame) -> DataFrame:
    """The pairs of panes that stand: those that are left out neither count nor retract."""
    of_pane = f"OVER (PARTITION BY {', '.join(col(name).text for name in PAIR[1:])})"
    added, weight = col(WEIGHT) > 0, col(WEIGHT).text
    standing = {
        "left": Column(f"sum({weight}) {of_pane}"),
        "last": Column(f"max({when(added, col(envelope.STEP)).text}) {of_pane}"),
    }
    for name, column in standing.items():
        found = with_column(found, name, column)
    return where(found, added & (col("left") > 0) & (col(envelope.STEP) == col("last"))).drop(*standing)


def _passing(stage: CompiledStage, results: DataFrame) -> DataFrame:
    """The results for which `having` is true."""
    if stage.stage.having is None:
        return results
    passes = with_passes(stage.stage, over(results))
    return apply(passes.where(col(PASSES)).only(results.columns), results)


def pairs(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """Raw rows as elements, once for every window that they fall in, with their identity."""
    return pairs_of_rows(stage, rows, strategy_of(stage).pairs)


def starting_in(frame: DataFrame, *spans: Span) -> DataFrame:
    """The rows whose window starts in one of the spans; the global window starts in each."""
    return where(frame, starts_in(spans, col(WINDOW_START)))


def differing(stage: CompiledStage, stream: DataFrame, batch: DataFrame, touched: DataFrame | None = None) -> DataFrame:
    """The windows on which two results differ: `key`, bounds, and the structs `stream` and `batch`, null if missing.

    Both frames have `key`, bounds and `v_` columns, the batch also the event times of its panes. Floating-point
    aggregates may be apart by TOLERANCE; sketches are not compared. The windows of `touched` (`key` and bounds, each
    once) differ in any case.
    """
    left = _as_struct(stream, "stream", compared_columns(stage))
    right = _as_struct(batch, "batch", columns_of_batch(stage))
    joined = left.join(right, on=list(CELL), how="full")
    differs = any_of([col("stream").is_null(), col("batch").is_null(), ~_same_values(stage)])
    if touched is not None:
        joined = joined.join(select(touched, {**{n: col(n) for n in CELL}, "touched": lit(True)}), list(CELL), "left")
        differs = differs | col("touched").is_not_null()
    return where(joined, differs).drop("touched")


def _same_values(stage: CompiledStage) -> Column:
    sketches = {name for name, aggregate in stage.stage.aggregates.items() if aggregate.IS_SKETCH}
    return all_of(_same(stage, name) for name in stage.panes.values if name not in sketches)


def compared_columns(stage: CompiledStage) -> list[str]:
    """The values of a window."""
    return [*stage.panes.values]


def columns_of_batch(stage: CompiledStage) -> list[str]:
    """The same, and the event times that a batch gives panes, if it does, which are not compared."""
    return [*compared_columns(stage), *([PANE_TIME] if stage.stage.keeps_event_times else [])]


def _as_struct(frame: DataFrame, name: str, columns: list[str]) -> DataFrame:
    values = call("named_struct", *[v for n in columns for v in (lit(n), col(f"v_{n}"))])
    return select(frame, {**{column: col(column) for column in (KEY, WINDOW_START, WINDOW_END)}, name: values})


def _same(stage: CompiledStage, name: str) -> Column:
    stream, batch = col("stream", name), col("batch", name)
    if name not in stage.floating or stage.cells.value_types[f"v_{name}"].startswith("array"):
        return stream.same(batch)
    larger = call("greatest", call("abs", stream), call("abs", batch))
    close = call("abs", stream - batch) <= larger * lit(TOLERANCE)
    return call("coalesce", stream.same(batch) | close, False)
