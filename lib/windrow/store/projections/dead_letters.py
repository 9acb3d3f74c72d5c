"""`dead_letters` of a stage: every element that is in no result, with the reason, and who has taken it in since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from windrow.compile.chain import Chain
from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes import as_timestamp
from windrow.compile.sql import Column, any_of, bigint, call, case, coalesce, col, null
from windrow.engine.frames import apply, over
from windrow.engine.held import starts_in
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.control import Control, Interval
from windrow.store.projections.batch import Batch
from windrow.store.schemas import commented
from windrow.store.steps import StepLog


def write_dead_letters(spark: SparkSession, log: StepLog, step: int, batch: Batch, notes: Mapping[str, int]) -> int:
    """Mark what backfills among these ticks have taken in, then append. Gives the last step that is written.

    Marking comes first, with the table's old place, so that a process that dies between the two does both again.
    `spark` is a session that nothing else uses meanwhile.
    """
    taken_in = _backfilled(batch.controls)
    if taken_in and not batch.fresh:
        step = _mark(spark, log, step, taken_in, {**notes, "journal_step": min(batch.controls) - 1})
    if not batch.fresh and not batch.has_letters:
        return step
    letters = batch.rows(spark, "dead_letter")
    rows = apply(_dead_rows(over(letters), taken_in), letters)
    if batch.fresh:
        log.replace(commented(rows), step + 1, notes)
    else:
        log.append(rows, step + 1, notes)
    return step + 1


def _backfilled(controls: Mapping[int, Control]) -> list[Interval]:
    """What the backfills among these ticks have made."""
    return [i for control in controls.values() for i in control.backfilled if i.tick == control.tick]


def _mark(spark: SparkSession, log: StepLog, step: int, taken_in: Iterable[Interval], notes: Mapping[str, int]) -> int:
    """Write the backfill's tick to the dead letters in the table that it has taken in."""
    for interval in taken_in:
        inside = _inside(interval, _START) & col("restated_by").is_null()
        if log.location.read(spark).where(inside.text).isEmpty():
            continue
        step += 1
        with log.stepping(spark, step, notes):
            log.location.table(spark).update(inside.text, {"restated_by": bigint(interval.tick).text})
    return step


_START = coalesce(call("unix_micros", col(WINDOW_START)), bigint(MINUS_INFINITY))
"""The start of a letter's window in the table, where the global window has none."""


def not_taken_in(start: int, end: int) -> Column:
    """Whether a letter in the table is late or closed, of a window that starts in [start, end), and not restated."""
    return _inside(Interval(start, end, 0, INFINITY), _START) & col("restated_by").is_null()


def _inside(interval: Interval, start: Column) -> Column:
    """Whether a late or closed letter is of a window that the backfill has made."""
    reasons = any_of(col("reason") == reason for reason in ("late", "closed"))
    return reasons & starts_in(((interval.start, interval.end),), start) & (col("tick") < bigint(interval.tick))


def _dead_rows(rows: Chain, taken_in: list[Interval]) -> Chain:
    def dead(name: str) -> Column:
        return col("dead", name)

    rows = rows.with_columns({"reason": dead("reason")})
    taken = [(_inside(interval, col(WINDOW_START)), bigint(interval.tick)) for interval in taken_in]
    return rows.select(
        {
            "reason": col("reason"),
            "rule": case(
                (dead("reason") == "late", "the window had not expired when the element came"),
                (dead("reason") == "closed", "the trigger of the window had not finished"),
                otherwise="every expression of the stage can be evaluated on the row",
            ),
            "event_time": as_timestamp(dead("event_time")),
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            "element": dead("element"),
            "source": dead("source"),
            "partition": dead("partition"),
            "offset": dead("offset"),
            "arrived_at": as_timestamp(dead("arrived_at")),
            "tick": col("tick"),
            "restated_by": case(*taken, otherwise=null("bigint")) if taken else null("bigint"),
        }
    )
