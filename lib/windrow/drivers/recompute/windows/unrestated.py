"""The pairs of element and window that are in no result, as late or closed: what a batch and a stream differ in.

Rule: docs/semantics.md#late-rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, KEY, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.elements.envelope import QUARANTINED
from windrow.compile.panes.log_rows import END, START
from windrow.compile.sql.columns import Column, all_of, array, bigint, call, case, col, keep, struct
from windrow.engine.final import pairs
from windrow.engine.frames import select, where, with_column
from windrow.engine.tick.elements import PAIR
from windrow.engine.windows.record_frames import EXPIRED_END, RESTATED, is_restated
from windrow.spec.stages.keys import LogColumn
from windrow.store.journal.control import CONTROL, DEAD_LETTER, Interval
from windrow.store.projections.dead_letters import Restated, is_inside, not_restated

if TYPE_CHECKING:
    from windrow.drivers.pipeline.pipeline import PipelineWork
    from windrow.drivers.pipeline.runner import StageRunner
    from windrow.drivers.pipeline.stage import StageWork
    from windrow.drivers.recompute.scope.request import Scope
    from windrow.drivers.recompute.windows.recomputed import Recomputed


def unrestated(runner: StageRunner) -> DataFrame:
    """The pairs that are dead as late or closed and that no backfill has counted, with the tick in which they died.

    Of record windows they also say what had expired by then, and in which starts of windows they have been restated.
    """
    rows = runner.journal.location.read(runner.spark)
    of_letter = Column(LogColumn.DEAD_LETTER).field
    reason = of_letter("reason")
    letters = where(rows, (col(LogColumn.KIND) == DEAD_LETTER) & ((reason == "late") | (reason == "closed")))
    step, row = PAIR[:2]
    kept = {WINDOW_START: START, WINDOW_END: END, "tick": col("tick")}
    excluded = select(letters, {step: of_letter("step"), row: of_letter("row"), "reason": reason, **kept})
    backfilled, windows = () if runner.last is None else runner.last.backfilled, runner.stage.windows
    found = where(excluded, _not_restated(backfilled, windows.late_span))
    if not runner.strategy.ends_by_cells:
        return found
    return with_column(_with_expired_end(rows, found), RESTATED, _restated_spans(backfilled))


def _with_expired_end(journal: DataFrame, excluded: DataFrame) -> DataFrame:
    """The pairs with what had expired for the elements of the tick in which they died."""
    late_until = call("get_json_object", col(LogColumn.CONTROL), "$.late_until").cast("bigint")
    ticks = select(where(journal, col(LogColumn.KIND) == CONTROL), {"tick": col("tick"), EXPIRED_END: late_until})
    return excluded.join(ticks, on=["tick"], how="left")


def _not_restated(intervals: tuple[Interval, ...], late_span: int) -> Column:
    """A pair that no backfill after it has counted, with the windows within `late_span`."""
    start, end = col(WINDOW_START), col(WINDOW_END)
    return all_of(
        ~(is_inside(i.made, late_span, start, end) & (col("tick") < bigint(i.tick))) for i in intervals if i.restates
    )


def _restated_spans(intervals: tuple[Interval, ...]) -> Column:
    """The spans of the backfills behind a tick, as an array."""
    made = [struct(first=bigint(i.start), last=bigint(i.end), tick=bigint(i.tick)) for i in intervals if i.restates]
    after = keep(array(*made), lambda one: Column(f"{one.text}.tick") > col("tick")) if made else array()
    return after.cast("array<struct<first: bigint, last: bigint, tick: bigint>>")


def lacking(runner: StageRunner, cells: DataFrame, rows: DataFrame, excluded: DataFrame) -> DataFrame:
    """The cells of record windows that such pairs of raw rows are missing in, each once."""
    letters = _of_key(
        runner, rows, select(excluded, {**{n: col(n) for n in excluded.columns}, "first": col(WINDOW_START)})
    )
    pairs_of_key = cells.join(letters.drop(WINDOW_START, WINDOW_END), on=[KEY])
    behind = col(WINDOW_START) - col("first")
    was_late = behind.between(0, runner.stage.windows.late_span) & (col(WINDOW_END) <= col(EXPIRED_END))
    missing = case((col("reason") == "late", was_late), otherwise=behind == 0) & ~is_restated()
    return where(pairs_of_key, missing).select(*CELL).distinct()


def _of_key(runner: StageRunner, rows: DataFrame, excluded: DataFrame) -> DataFrame:
    """The pairs with the key of their row, and the bounds that they say."""
    of_excluded = rows.join(excluded.select(*PAIR[:2]).distinct(), on=list(PAIR[:2]), how="left_semi")
    return pairs(runner.stage, of_excluded).select(KEY, *PAIR[:2]).distinct().join(excluded, on=list(PAIR[:2]))


def cells_of(runner: StageRunner, rows: DataFrame, excluded: DataFrame) -> DataFrame:
    """The cells, each once, that such pairs of raw rows would be in."""
    if runner.strategy.ends_by_cells:  # those of a row depend on others
        return _of_key(runner, rows, excluded).select(*CELL).distinct()
    touched = pairs(runner.stage, rows.join(excluded.select(*PAIR[:2]).distinct(), on=list(PAIR[:2]), how="left_semi"))
    return touched.join(excluded.select(*PAIR), on=list(PAIR), how="left_semi").select(*CELL).distinct()


def restated_by(work: PipelineWork, item: StageWork, scope: Scope, batch: Recomputed) -> Restated:
    """The dead letters that a backfill restates now."""
    made = scope.made if batch.restates else ()
    return Restated(
        made, quarantined_files=files_in_quarantine(work, item), late_span=item.runner.stage.windows.late_span
    )


def has_letters(work: PipelineWork, item: StageWork, restated: Restated, after: int = 0) -> bool:
    """Whether rows were late for these windows, or closed out, in a tick behind `after`, and none has counted them."""
    letters = work.lake.table(item.name, "dead_letters").read(work.spark)
    return not where(letters, not_restated(restated) & (col("tick") > bigint(after))).isEmpty()


def files_in_quarantine(work: PipelineWork, item: StageWork) -> tuple[str, ...]:
    """The files of the stage's sources that are in quarantine."""
    logs, spark = item.runner.upstream, work.spark
    if logs.quarantined(spark).is_start:
        return ()
    rows = where(logs.rows(spark, logs.head(spark)), col(envelope.REASON) == QUARANTINED)
    return tuple(sorted(row[0] for row in rows.select(envelope.OFFSET).distinct().collect()))
