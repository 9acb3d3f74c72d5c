"""`dead_letters` of a stage: every element that is in no result, with the reason, and which tick has restated it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import END, START
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, any_of, bigint, case, col, lit, null
from windrow.engine.frames import apply, over
from windrow.engine.tick.dead_letters import rule_of
from windrow.engine.tick.published import Made
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import INFINITY, saturating_add
from windrow.store.delta.log.step_log import StepLog
from windrow.store.journal.control import DEAD_LETTER, Control
from windrow.store.projections.creation import commented
from windrow.store.projections.tick_range import TickRange


@dataclass(frozen=True)
class Restated:
    """The letters that a backfill restates, by those late or closed before its tick whose window it has made.

    Where an element was late for windows that start up to `late_span` behind its letter's, these must start there too.
    The rows of files that are in quarantine are in no result, so their letters stay as they are.
    """

    made: tuple[Made, ...]
    tick: int = INFINITY
    quarantined_files: tuple[str, ...] = ()
    late_span: int = 0

    def holds(self, start: Column, end: Column) -> Column:
        """Whether a letter is one of them; `start` and `end` are those of its window in microseconds."""
        inside = any_of(is_inside(one, self.late_span, start, end) for one in self.made)
        if self.tick != INFINITY:
            inside = inside & (col("tick") < bigint(self.tick))
        out = any_of(col("offset").same(lit(file)) for file in self.quarantined_files)
        return inside & ~out if self.quarantined_files else inside


def is_inside(made: Made, late_span: int, start: Column, end: Column) -> Column:
    """Whether all windows that the element of a late or closed letter is missing in are among those that were made."""
    all_within = Made(made.first, made.last - late_span, saturating_add(made.until, -late_span))
    is_late, is_closed = col("reason") == "late", col("reason") == "closed"
    return (is_late & all_within.holds(start, end)) | (is_closed & made.holds(start, end))


def write_dead_letters(
    spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]
) -> int:
    """Write what backfills among these ticks have restated, then append. Gives the last step that is written.

    That comes first, with the table's old progress, so that a process that dies between the two does both again.
    `spark` is a session that nothing else uses meanwhile.
    """
    restated = _backfilled(tick_range.controls, tick_range.journal.stage.windows.late_span)
    if restated and step > 0 and not tick_range.fresh:  # before its first step the table has no rows
        step = _write_restated_by(spark, log, step, restated, {**notes, "journal_step": min(tick_range.controls) - 1})
    if not tick_range.fresh and not tick_range.has_letters:
        return step
    letters = tick_range.rows(spark, DEAD_LETTER)
    rows = apply(_table_rows(over(letters), restated), letters)
    if tick_range.fresh:
        log.replace(commented(rows), step + 1, notes)
    else:
        log.append(rows, step + 1, notes)
    return step + 1


def _backfilled(controls: Mapping[int, Control], late_span: int) -> list[Restated]:
    """What each backfill among these ticks has restated, in order."""
    made = []
    for control in sorted(controls.values(), key=lambda control: control.tick):
        windows = tuple(i.made for i in control.backfilled if i.tick == control.tick and i.restates)
        if windows:
            made.append(Restated(windows, control.tick, control.quarantined_files, late_span))
    return made


def _write_restated_by(
    spark: SparkSession, log: StepLog, step: int, restated: list[Restated], notes: Mapping[str, int]
) -> int:
    """Write each backfill's tick to the dead letters in the table that it has restated."""
    for made in restated:
        letters = not_restated(made)
        if log.location.read(spark).where(letters.text).isEmpty():
            continue
        step += 1
        with log.stepping(spark, step, notes):
            log.location.table(spark).update(letters.text, {"restated_by": bigint(made.tick).text})
    return step


def not_restated(restated: Restated) -> Column:
    """Whether a letter in the table is one that a backfill restates, and none has."""
    return restated.holds(START, END) & col("restated_by").is_null()


def _table_rows(rows: Chain, restated: list[Restated]) -> Chain:
    def letter(name: str) -> Column:
        return col(LogColumn.DEAD_LETTER, name)

    rows = rows.with_columns({"reason": letter("reason"), "offset": letter("offset")})
    taken = [(made.holds(START, END), bigint(made.tick)) for made in restated]
    return rows.select(
        {
            "reason": col("reason"),
            "rule": rule_of(letter("reason")),
            "event_time": as_timestamp(letter("event_time")),
            WINDOW_START: col(WINDOW_START),
            WINDOW_END: col(WINDOW_END),
            "element": letter("element"),
            "source": letter("source"),
            "partition": letter("partition"),
            "offset": col("offset"),
            "arrived_at": as_timestamp(letter("arrived_at")),
            "tick": col("tick"),
            "restated_by": case(*taken, otherwise=null("bigint")) if taken else null("bigint"),
        }
    )
