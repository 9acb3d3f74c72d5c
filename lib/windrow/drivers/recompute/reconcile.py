"""Reconcile: is what the stream shows what a batch over the same rows would give?

Rules: docs/semantics.md#backfill-and-reconcile, docs/semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.elements.envelope import REASON
from windrow.compile.sql.columns import bigint, col
from windrow.drivers.forget.windows.leaving import LeftWindows
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.catching_up import catch_up
from windrow.drivers.recompute.windows.unrestated import cells_of, unrestated
from windrow.drivers.recompute.windows.values import batch_of
from windrow.drivers.retention.kept import whole_from
from windrow.engine.final import PANE_TIME, differing, starting_in
from windrow.engine.frames import where
from windrow.engine.partitions import choose_partitions
from windrow.engine.tick.elements import PAIR
from windrow.engine.tick.published import is_made
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.journal.control import has_stream
from windrow.store.journal.results import shown, shown_last

KEPT = 20
"""How many differing windows are named."""


@dataclass(frozen=True)
class Difference:
    """One window on which stream and batch differ; None where one of them does not have it. Bounds in microseconds."""

    key: Mapping[str, Any]
    window_start: int
    window_end: int
    stream: Mapping[str, Any] | None
    batch: Mapping[str, Any] | None


@dataclass(frozen=True)
class Reconciliation:
    """What came out for one stage. `late_rows` are left out on both sides: dead letters that were not restated."""

    stage: str
    windows: int
    differing: tuple[Difference, ...]
    number_differing: int
    late_rows: int
    late_windows: int
    not_compared: tuple[str, ...] = ()
    """The aggregates that are sketches."""
    proves_from: int | None = None
    """Windows that start before this, in microseconds, are not compared: rows of them were removed."""
    left: int = 0
    """So many windows are not compared, because a forgetting has left them as they were."""

    @property
    def equal(self) -> bool:
        return self.number_differing == 0


def reconcile(
    pipeline: Pipeline, spark: SparkSession, start: int | None = None, end: int | None = None, stage: str | None = None
) -> list[Reconciliation]:
    """Compare every stage's expired windows that start in [start, end) with a batch over the rows it has read."""
    if stage is not None:
        pipeline.stage(stage)
    work = PipelineWork.open(pipeline, spark)
    low, high = MINUS_INFINITY if start is None else start, INFINITY if end is None else end
    return [_reconcile(work, item, low, high) for item in work.stages if stage in (None, item.name)]


def _reconcile(work: PipelineWork, item: StageWork, start: int, end: int) -> Reconciliation:
    choose_partitions(work.spark, work.spark, is_batch=True)  # for the executors that have come since
    catch_up(work, item)
    runner, spark, last = item.runner, work.spark, item.runner.last
    sketches = tuple(name for name, aggregate in runner.stage.stage.aggregates.items() if aggregate.IS_SKETCH)
    if last is None:
        return Reconciliation(item.name, 0, (), 0, 0, 0, sketches)
    streams = has_stream(last)
    rows = runner.upstream.rows(spark, last.offsets)
    excluded = unrestated(runner)
    if not runner.upstream.quarantined(spark).is_start:
        excluded = excluded.join(
            where(rows, col(REASON).is_null()).select(*PAIR[:2]), on=list(PAIR[:2]), how="left_semi"
        )
    whole = whole_from(item.runner)
    compared = excluded if whole == MINUS_INFINITY else where(excluded, col(WINDOW_START) >= bigint(whole))
    late_rows = compared.count()
    batch = batch_of(item, rows, excluded if late_rows or not excluded.isEmpty() else None)
    stream = shown(spark, runner.journal)
    is_published = is_made(item.runner.published, col(WINDOW_START), col(WINDOW_END))
    if streams:
        expired = (col(WINDOW_END) <= bigint(last.clock.expired_end)) | is_published
        batch, stream = where(batch, expired), where(stream, expired)
        stream = _not_merging(work, item, stream)
    else:
        last_shown = shown_last(spark, runner.journal)
        stream = stream.join(last_shown, on=list(CELL), how="left_semi")
        others = where(batch, ~is_published).join(last_shown, on=list(CELL), how="left_semi")
        batch = where(batch, is_published).unionByName(others)
    span = (max(start, whole), end)
    kept = LeftWindows.of(work, item)
    batch, stream = (kept.but(starting_in(frame, span)) for frame in (batch, stream))
    known = kept.read()
    left = 0 if known is None else starting_in(known, span).count()
    different = differing(runner.stage, stream, batch).persist()
    try:
        number = different.count()
        first = different.orderBy(WINDOW_START, WINDOW_END).limit(KEPT).collect()
        windows = batch.select(*CELL).count()
    finally:
        different.unpersist()
    late_windows = cells_of(runner, rows, compared).count() if late_rows else 0
    differences = tuple(_difference(row) for row in first)
    proves_from = None if whole == MINUS_INFINITY else whole
    return Reconciliation(item.name, windows, differences, number, late_rows, late_windows, sketches, proves_from, left)


def _not_merging(work: PipelineWork, item: StageWork, stream: DataFrame) -> DataFrame:
    """The shown windows but for those merged into one that has not fired yet: they are retracted when it does."""
    runner = item.runner
    if not runner.strategy.is_made_whole:
        return stream
    cells = runner.journal.cells(work.spark, None, runner.clock.expired_end)
    return stream if cells is None else runner.strategy.standing(stream, cells)


def _difference(row: Row) -> Difference:
    def plain(value: Row | None) -> dict[str, Any] | None:
        if value is None:
            return None
        return {name: one for name, one in value.asDict(recursive=True).items() if name != PANE_TIME}

    return Difference(
        row["key"].asDict(), row[WINDOW_START], row[WINDOW_END], plain(row["stream"]), plain(row["batch"])
    )
