"""The final result of every window over a set of elements: one tick with the watermark at +infinity.

Nothing is late and every window is emitted once, so no trigger is asked: a batch is `combine` and the values. Rule:
SEMANTICS section 11.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile import envelope
from windrow.compile.columns import CELL, EVENT_TIME, KEY, WINDOW_END, WINDOW_START
from windrow.compile.having import PASSES, with_passes
from windrow.compile.sql import all_of, any_of, bigint, call, col, lit
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.held import Held
from windrow.engine.tick import combine
from windrow.spec.times import INFINITY, MINUS_INFINITY

PAIR = (envelope.STEP, envelope.ROW, WINDOW_START)
"""What identifies a pair of element and window: landing step, row, and the start of the window."""

TOLERANCE = 1e-9
"""How far floating-point aggregates may be apart, relative to the larger one."""


def final_values(stage: CompiledStage, rows: DataFrame, excluded: DataFrame | None = None) -> DataFrame:
    """`key`, bounds and the aggregates of every window over raw rows.

    `excluded` has pairs (`PAIR`) that are left out: those that are dead as late or closed.
    """
    alive = where(rows, col(envelope.REASON).is_null())
    if excluded is None:
        combined = combine(stage, _elements(stage, alive), Held())
    else:
        touched = excluded.select(*PAIR[:2]).distinct()
        clean = alive.join(touched, on=list(PAIR[:2]), how="left_anti")
        kept = pairs(stage, alive.join(touched, on=list(PAIR[:2]), how="left_semi")).join(
            excluded.select(*PAIR), on=list(PAIR), how="left_anti"
        )
        parts = combine(stage, _elements(stage, clean), Held()).unionByName(_combined(stage, kept))
        combined = group(parts, CELL, stage.merged)
    values = {f"v_{name}": column for name, column in stage.values.items()}
    return _passing(stage, select(combined, {**{name: col(name) for name in CELL}, **values}))


def _passing(stage: CompiledStage, results: DataFrame) -> DataFrame:
    """The results for which `having` is true."""
    if stage.stage.having is None:
        return results
    passes = with_passes(stage.stage, over(results))
    return apply(passes.where(col(PASSES)).only(results.columns), results)


def pairs(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """Raw rows as elements, once for every window that they fall in, with their identity."""
    judged = stage.elements.judged(over(rows))
    elements = stage.elements.elements(judged, (envelope.STEP, envelope.ROW))
    starts = stage.windows.starts_of_slice(stage.windows.slice_start(col(EVENT_TIME)), MINUS_INFINITY)
    exploded = with_column(apply(elements, rows), WINDOW_START, call("explode", starts))
    return with_column(exploded, WINDOW_END, stage.windows.end_of(col(WINDOW_START)))


def _combined(stage: CompiledStage, exploded: DataFrame) -> DataFrame:
    return group(exploded, CELL, stage.partials)


def _elements(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    return apply(stage.elements.elements(stage.elements.judged(over(rows))), rows)


def starting_in(frame: DataFrame, start: int, end: int) -> DataFrame:
    """The rows whose window starts in [start, end); the global window starts in every interval."""
    inside = (col(WINDOW_START) >= bigint(start)) & (col(WINDOW_START) < bigint(end))
    return where(frame, inside | (col(WINDOW_END) == bigint(INFINITY)))


def differing(stage: CompiledStage, stream: DataFrame, batch: DataFrame) -> DataFrame:
    """The windows on which two results differ: `key`, bounds, and the structs `stream` and `batch`, null if missing.

    Both frames have `key`, bounds and `v_` columns. Floating-point aggregates may be apart by TOLERANCE.
    """
    left, right = _as_struct(stage, stream, "stream"), _as_struct(stage, batch, "batch")
    joined = left.join(right, on=list(CELL), how="full")
    same = all_of(_same(stage, name) for name in stage.aggregates)
    missing = any_of([col("stream").is_null(), col("batch").is_null()])
    return where(joined, missing | ~same)


def _as_struct(stage: CompiledStage, frame: DataFrame, name: str) -> DataFrame:
    values = call("named_struct", *[v for n in stage.aggregates for v in (lit(n), col(f"v_{n}"))])
    return select(frame, {**{column: col(column) for column in (KEY, WINDOW_START, WINDOW_END)}, name: values})


def _same(stage: CompiledStage, name: str):  # type: ignore[no-untyped-def]
    stream, batch = col("stream", name), col("batch", name)
    if name not in stage.floating or stage.cells.value_types[f"v_{name}"].startswith("array"):
        return stream.same(batch)
    larger = call("greatest", call("abs", stream), call("abs", batch))
    close = call("abs", stream - batch) <= larger * lit(TOLERANCE)
    return call("coalesce", stream.same(batch) | close, False)
