"""`dead_letters` of a stage: every element that is in no result, with the reason, and who has taken it in since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, any_of, bigint, call, case, coalesce, col, lit, null
from windrow.engine.frames import apply, over
from windrow.engine.tick.dead_letters import rule_of
from windrow.engine.tick.published import Made
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.store.delta.steps import StepLog
from windrow.store.journal.control import Control
from windrow.store.projections.batch import Batch
from windrow.store.projections.schemas import commented


@dataclass(frozen=True)
class TakenIn:
    """The letters that a backfill takes in, by those late or closed before its tick whose window it has made.

    Where an element was late for windows that start up to `reach` behind its letter's, these must start there too. The
    rows of files that are in quarantine are in no result, so their letters stay as they are.
    """

    made: tuple[Made, ...]
    tick: int = INFINITY
    left_out: tuple[str, ...] = ()
    reach: int = 0

    def holds(self, start: Column, end: Column) -> Column:
        """Whether a letter is one of them; `start` and `end` are those of its window in microseconds."""
        inside = any_of(is_inside(one, self.reach, start, end) for one in self.made)
        if self.tick != INFINITY:
            inside = inside & (col("tick") < bigint(self.tick))
        out = any_of(col("offset").same(lit(file)) for file in self.left_out)
        return inside & ~out if self.left_out else inside


def is_inside(made: Made, reach: int, start: Column, end: Column) -> Column:
    """Whether all windows that the element of a late or closed letter is missing in are among those that were made."""
    all_within = Made(made.first, made.last - reach, saturating_add(made.until, -reach))
    is_late, is_closed = col("reason") == "late", col("reason") == "closed"
    return (is_late & all_within.holds(start, end)) | (is_closed & made.holds(start, end))


def write_dead_letters(spark: SparkSession, log: StepLog, step: int, batch: Batch, notes: Mapping[str, int]) -> int:
    """Mark what backfills among these ticks have taken in, then append. Gives the last step that is written.

    Marking comes first, with the table's old place, so that a process that dies between the two does both again.
    `spark` is a session that nothing else uses meanwhile.
    """
    taken_in = _backfilled(batch.controls, batch.journal.stage.windows.reach)
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


def _backfilled(controls: Mapping[int, Control], reach: int) -> list[TakenIn]:
    """What each backfill among these ticks has taken in, in their order."""
    made = []
    for control in sorted(controls.values(), key=lambda control: control.tick):
        windows = tuple(i.made for i in control.backfilled if i.tick == control.tick and i.takes_in)
        if windows:
            made.append(TakenIn(windows, control.tick, control.left_out, reach))
    return made


def _mark(spark: SparkSession, log: StepLog, step: int, taken_in: list[TakenIn], notes: Mapping[str, int]) -> int:
    """Write each backfill's tick to the dead letters in the table that it has taken in."""
    for made in taken_in:
        letters = not_restated(made)
        if log.location.read(spark).where(letters.text).isEmpty():
            continue
        step += 1
        with log.stepping(spark, step, notes):
            log.location.table(spark).update(letters.text, {"restated_by": bigint(made.tick).text})
    return step


START = coalesce(call("unix_micros", col(WINDOW_START)), bigint(MINUS_INFINITY))
"""The start of a letter's window in the table, where the global window has none."""

END = coalesce(call("unix_micros", col(WINDOW_END)), bigint(INFINITY))
"""And its end."""


def not_restated(taken_in: TakenIn) -> Column:
    """Whether a letter in the table is one that a backfill takes in, and none has."""
    return taken_in.holds(START, END) & col("restated_by").is_null()


def _dead_rows(rows: Chain, taken_in: list[TakenIn]) -> Chain:
    def dead(name: str) -> Column:
        return col("dead", name)

    rows = rows.with_columns({"reason": dead("reason"), "offset": dead("offset")})
    taken = [(made.holds(col(WINDOW_START), col(WINDOW_END)), bigint(made.tick)) for made in taken_in]
    return rows.select(
        {
            "reason": col("reason"),
            "rule": rule_of(dead("reason")),
            "event_time": as_timestamp(dead("event_time")),
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            "element": dead("element"),
            "source": dead("source"),
            "partition": dead("partition"),
            "offset": col("offset"),
            "arrived_at": as_timestamp(dead("arrived_at")),
            "tick": col("tick"),
            "restated_by": case(*taken, otherwise=null("bigint")) if taken else null("bigint"),
        }
    )
