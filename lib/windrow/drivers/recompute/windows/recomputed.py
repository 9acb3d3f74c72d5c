"""The windows of a stage once more, from the rows of its upstream: their final values.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import any_of, bigint, col
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.publish.replacing import WAITS
from windrow.drivers.recompute.scope.refusals import check_none_open, is_checked_by_data
from windrow.drivers.recompute.scope.request import Mode, Scope
from windrow.drivers.recompute.windows.unrestated import cells_of, unrestated
from windrow.drivers.recompute.windows.values import batch_of
from windrow.drivers.recompute.windows.widening import Widened, batch_over
from windrow.engine.final import starting_in
from windrow.engine.frames import where, with_column
from windrow.engine.tick.published import Span, is_made, starts_in
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.store.journal.control import has_stream
from windrow.store.journal.results import shown


@dataclass(frozen=True)
class Recomputed:
    """Windows with their values: `key`, bounds, `v_` columns, and whether each `waits`.

    `restates`: late rows of the windows count in them. They do not where such a row would join windows that merge with
    one that is open.
    """

    windows: DataFrame
    restates: bool = True


def recomputed(work: PipelineWork, item: StageWork, scope: Scope) -> Recomputed:
    """The values of the windows of a scope, from the rows that it reads.

    Raises NotYet where a history that is asserted to be whole has windows that are open in the stream.
    """
    rows = item.runner.upstream.rows(work.spark, scope.offsets)
    if item.runner.strategy.is_made_whole:
        found = _merging(work, item, scope, rows)
    else:
        batch = starting_in(batch_of(item, rows_of(item, scope.spans, rows)), *scope.spans)
        found = Recomputed(with_column(batch, WAITS, ~is_made(scope.made, col(WINDOW_START), col(WINDOW_END))))
    if scope.request.mode is Mode.WHOLE and has_stream(item.runner.last) and is_checked_by_data(item.runner.stage):
        check_none_open(item, found.windows)
    return replace(found, windows=_not_published(item, found.windows))


def _not_published(item: StageWork, windows: DataFrame) -> DataFrame:
    """The windows but for those that would wait now and that a batch has published: they stay as they are."""
    last = item.runner.last
    if last is None or has_stream(last) or not item.runner.published:
        return windows
    return where(windows, ~col(WAITS) | ~is_made(item.runner.published, col(WINDOW_START), col(WINDOW_END)))


def _merging(work: PipelineWork, item: StageWork, scope: Scope, rows: DataFrame) -> Recomputed:
    """Those of a stage whose windows merge. A late row that would join an open window is restated by a later batch."""
    found = widened(work, item, scope, rows).batch_part()
    letters = where(unrestated(item.runner), starts_in(scope.spans, col(WINDOW_START)))
    waits = where(found, col(WAITS))
    if waits.isEmpty() or letters.isEmpty():
        return Recomputed(found)
    joining = item.runner.strategy.meeting(cells_of(item.runner, rows, letters), waits.select(*CELL))
    if joining.isEmpty():
        return Recomputed(found)
    return Recomputed(widened(work, item, scope, rows, restates=False).batch_part(), restates=False)


def widened(work: PipelineWork, item: StageWork, scope: Scope, rows: DataFrame, restates: bool = True) -> Widened:
    """The windows of a stage whose windows merge, recomputed over rows and as they are shown, around the spans."""
    batch = batch_over(item, scope.spans if restates else (), rows)
    standing = shown(work.spark, item.runner.journal)
    return Widened(scope.spans, scope.until, batch, standing, scope.gaps)


def times_of(item: StageWork, span: Span) -> Span | None:
    """Between which event times of the source the rows of windows lie that start in the span; None without a window.

    An element time may lie any length ahead of the source's, but only so far before it.
    """
    times, own = item.runner.stage.windows.span(*span), item.runner.stage.stage.element_time
    if times is None or own is None:
        return times
    return MINUS_INFINITY, saturating_add(times[1], own.backward)


def rows_of(item: StageWork, spans: tuple[Span, ...], rows: DataFrame) -> DataFrame:
    """The rows that fall into windows which start in the spans, and maybe others, found by their event times."""
    times = [time for span in spans for time in [times_of(item, span)] if time is not None]
    at = col(envelope.EVENT_TIME)
    return where(rows, any_of(at.between(bigint(first), bigint(end - 1)) for first, end in times))
