"""What differs between recomputed windows and those that a stage shows, as one value.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Row

from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import call, col, lit
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.publish.replacing import WAITS, all_inserted, with_gone
from windrow.drivers.recompute.scope.complete_windows import last_end
from windrow.drivers.recompute.scope.request import Mode, Scope
from windrow.drivers.recompute.windows.unrestated import cells_of, has_letters, lacking, unrestated
from windrow.drivers.recompute.windows.widening import Widened
from windrow.engine.final import differing, starting_in
from windrow.engine.frames import group, where, with_column
from windrow.engine.tick.published import Made, is_made
from windrow.spec.times import INFINITY
from windrow.store.journal.control import has_stream
from windrow.store.journal.results import shown, shown_early, standing_panes
from windrow.store.projections.dead_letters import Restated


@dataclass(frozen=True)
class Changes:
    """What a batch commits of a stage.

    `rows` are the windows that differ from what is shown, as `transitions` takes them (None without one); `inserted`,
    `changed` and `retracted` count them. `is_new` says that windows are published that were not before, with rows or
    without: what comes for them later is late. `restates` says that rows were late for these windows, which count in
    them from now on.
    """

    rows: DataFrame | None
    inserted: int
    changed: int = 0
    retracted: int = 0
    is_new: bool = False
    restates: bool = False

    @property
    def is_any(self) -> bool:
        """Whether there is something to commit."""
        return self.rows is not None or self.is_new or self.restates


@dataclass(frozen=True)
class Differing:
    """Recomputed windows that differ from what is shown: `first` has `key`, bounds, and the structs of both."""

    inserted: int
    changed: int
    retracted: int
    first: list[Row]


def all_new(item: StageWork, scope: Scope, batch: DataFrame, number: int) -> Changes:
    """Of the first windows of a stage: nothing is there to compare with, so every window is inserted.

    `number` says how many there are.
    """
    inserted = batch if scope.request.mode is Mode.EARLY else where(batch, ~col(WAITS))
    rows = all_inserted(item.runner.stage, inserted)
    return Changes(rows if number else None, number, is_new=is_new(item, scope))


@contextmanager
def compared(
    work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame, restated: Restated
) -> Iterator[Changes]:
    """What differs from the windows that the stage shows. It is kept in memory meanwhile."""
    windows = _differing(work, item, scope, batch).persist()
    try:
        inserted, changed, retracted = _kinds(windows)
        rows = None
        if inserted + changed + retracted:
            rows = with_gone(item.runner.stage, windows, standing_panes(work.spark, item.runner.journal))
        restates = has_letters(work, item, restated)
        yield Changes(rows, inserted, changed, retracted, is_new(item, scope), restates)
    finally:
        windows.unpersist()


def first_differing(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame, limit: int) -> Differing:
    """What publishing the windows would change: how many, and the first of them with both values."""
    windows = _differing(work, item, scope, batch).persist()
    try:
        return Differing(*_kinds(windows), windows.orderBy(WINDOW_START, WINDOW_END).limit(limit).collect())
    finally:
        windows.unpersist()


def _kinds(windows: DataFrame) -> tuple[int, int, int]:
    """How many windows are inserted, changed and retracted."""
    inserted, retracted = col("stream").is_null(), col("batch").is_null()
    counts = {
        "inserted": call("count_if", inserted),
        "changed": call("count_if", ~inserted & ~retracted),
        "retracted": call("count_if", retracted),
    }
    row = group(windows, (), counts).collect()[0]
    return row["inserted"], row["changed"], row["retracted"]


def is_new(item: StageWork, scope: Scope) -> bool:
    """Whether windows are published that were not before, with rows or without: what comes for them later is late."""
    last = item.runner.last
    if last is None or has_stream(last):
        return False
    wanted = [one for one in scope.made if one.until == INFINITY or last_end(item, (one.first, one.last)) is not None]
    return any(is_some(one) and not _in_full(item, one).is_within(item.runner.published) for one in wanted)


def is_some(made: Made) -> bool:
    """Whether a window can be among them."""
    return made.until > made.first


def _in_full(item: StageWork, made: Made) -> Made:
    """Up to the last end that an element's window can have: where they merge, more time publishes no more of them."""
    end = last_end(item, (made.first, made.last))
    return made if end is None or made.until == INFINITY else replace(made, until=min(made.until, end))


def _differing(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame) -> DataFrame:
    """The windows that differ: `key`, bounds, the structs `stream` and `batch`, and whether they wait."""
    runner, spark = item.runner, work.spark
    everything = shown(spark, runner.journal)
    final = where(batch, ~col(WAITS)).drop(WAITS)
    touched = [frame for frame in (_touched(work, item, scope, batch),) if frame is not None]
    shows_early = not has_stream(runner.last)
    if shows_early:
        early = shown_early(spark, runner.journal)
        touched.append(final.select(*CELL).join(early, on=list(CELL), how="left_semi"))
    forced = None if not touched else touched[0] if len(touched) == 1 else touched[0].union(touched[1]).distinct()
    standing = _shown_part(item, scope, batch, everything)
    changes = with_column(differing(runner.stage, standing, final, forced), WAITS, lit(False))
    if scope.request.mode is not Mode.EARLY or not shows_early:
        return changes
    waits = where(batch, col(WAITS)).drop(WAITS)
    standing = starting_in(everything.join(early, on=list(CELL), how="left_semi"), *scope.spans)
    standing = where(standing, ~is_made(scope.made, col(WINDOW_START), col(WINDOW_END)))
    return changes.unionByName(with_column(differing(runner.stage, standing, waits), WAITS, lit(True)))


def _shown_part(item: StageWork, scope: Scope, batch: DataFrame, everything: DataFrame) -> DataFrame:
    """The windows that the stage shows now, as far as the recomputed ones take their place."""
    if item.runner.strategy.is_made_whole:
        return Widened(scope.spans, scope.until, batch, everything, scope.gaps, col(WAITS)).shown_part()
    return where(everything, is_made(scope.made, col(WINDOW_START), col(WINDOW_END)))


def _touched(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame) -> DataFrame | None:
    """The cells whose late rows are restated, where a stage has sketches: their change cannot be seen in these."""
    runner = item.runner
    if not any(aggregate.IS_SKETCH for aggregate in runner.stage.stage.aggregates.values()):
        return None
    rows = where(runner.upstream.rows(work.spark, scope.offsets), col(envelope.REASON).is_null())
    excluded = unrestated(runner)
    final = where(batch, ~col(WAITS)).select(*CELL)
    if runner.strategy.splits_late_rows and not runner.strategy.is_made_whole:
        return lacking(runner, final, rows, excluded)
    touched = where(cells_of(runner, rows, excluded), is_made(scope.made, col(WINDOW_START), col(WINDOW_END)))
    if not runner.strategy.is_made_whole:
        return touched
    return runner.strategy.meeting(final, touched).select(*CELL)
