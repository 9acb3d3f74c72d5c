"""The pairs of element and window that are in no result, as late or closed: what a batch and a stream differ in.

Rule: SEMANTICS section 11.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.sql import Column, all_of, bigint, call, col
from windrow.engine.final import PAIR, pairs
from windrow.engine.frames import select, where
from windrow.engine.held import starts_in
from windrow.engine.record_windows import EXPIRED_END
from windrow.run.work import StageWork
from windrow.store.control import Interval


def left_out(item: StageWork) -> DataFrame:
    """The pairs that are dead as late or closed and that no backfill has taken in, with the tick in which they died."""
    runner = item.runner
    rows = runner.journal.location.read(runner.spark)
    reason = col("dead", "reason")
    letters = where(rows, (col("kind") == "dead_letter") & ((reason == "late") | (reason == "closed")))
    step, row = PAIR[:2]
    kept = {name: col(name) for name in (WINDOW_START, WINDOW_END, "tick")}
    dead = select(letters, {step: col("dead", "step"), row: col("dead", "row"), **kept})
    found = where(dead, _not_restated(() if runner.last is None else runner.last.backfilled))
    return _with_expired_end(rows, found) if runner.stage.windows.made_by_records else found


def _with_expired_end(journal: DataFrame, dead: DataFrame) -> DataFrame:
    """The pairs with what had expired before the tick in which they died."""
    expired_end = call("get_json_object", col("control"), "$.expired_end").cast("bigint")
    before = select(where(journal, col("kind") == "control"), {"tick": col("tick") + 1, EXPIRED_END: expired_end})
    return dead.join(before, on=["tick"], how="left")


def _not_restated(intervals: tuple[Interval, ...]) -> Column:
    """A pair that no backfill after it has taken in."""
    start = col(WINDOW_START)
    return all_of(~(starts_in(((i.start, i.end),), start) & (col("tick") < bigint(i.tick))) for i in intervals)


def cells_of(item: StageWork, rows: DataFrame, dead: DataFrame) -> DataFrame:
    """The cells, each once, that such pairs of raw rows would be in."""
    touched = pairs(item.runner.stage, rows.join(dead.select(*PAIR[:2]).distinct(), on=list(PAIR[:2]), how="left_semi"))
    return touched.join(dead.select(*PAIR), on=list(PAIR), how="left_semi").select(*CELL).distinct()
