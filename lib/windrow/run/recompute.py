"""A stage's windows once more, from raw: their final values, and the commit of what differs, with retractions.

Rule: SEMANTICS section 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile import envelope
from windrow.compile.columns import CELL
from windrow.compile.sql import (
    any_of,
    bigint,
    call,
    col,
    null,
    struct,
)
from windrow.engine import barriers
from windrow.engine.clock import StageClock
from windrow.engine.final import compared_columns, differing, starting_in
from windrow.engine.frames import group, select, where
from windrow.engine.held import Span
from windrow.run.batches import batch_of
from windrow.run.left_out import cells_of, lacking, left_out
from windrow.run.points import point
from windrow.run.refusals import check, check_none_open, is_checked_by_data
from windrow.run.replacing import gone_type, transitions, with_gone
from windrow.run.stage_work import StageWork
from windrow.run.widening import Widened, batch_over, check_expired
from windrow.run.work import PipelineWork
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.store.control import FOLLOW, Control, Interval, has_stream
from windrow.store.projections.dead_letters import TakenIn, not_restated
from windrow.store.raw import QUARANTINED
from windrow.store.results import shown, standing_panes
from windrow.store.steps import StepTaken


@dataclass(frozen=True)
class Request:
    """Which windows of a stage are recomputed, those that start in one of the spans, and the kind of the tick."""

    spans: tuple[Span, ...]
    kind: str = "backfill"


@dataclass(frozen=True)
class BackfillResult:
    """What a backfill of one stage did: windows recomputed, and how many were inserted, changed and withdrawn.

    `tick` is the step of its commit, None where there was nothing to commit or it was a dry run.
    """

    stage: str
    windows: int
    inserted: int
    changed: int
    withdrawn: int
    tick: int | None


def prepare(work: PipelineWork, item: StageWork, request: Request, dry_run: bool = False) -> int:
    """Bring the stage up, and give the step of its upstream up to which its windows are recomputed; 0 without any.

    Errors: NotYet for windows that are not a backfill's.
    """
    above = work.upstreams_of(item)
    for one in above:
        bring_up(work, one)
    if above and not dry_run:
        follow(work, item)
    bring_up(work, item)
    for span in request.spans:
        check(item, span)
    return raw_step_of(work, item)


def bring_up(work: PipelineWork, item: StageWork) -> None:
    """Bring the tables of a stage to the head of its journal."""
    item.runner.last = item.runner.journal.last(work.spark)
    item.catch_up()
    item.project()


def follow(work: PipelineWork, item: StageWork) -> None:
    """Make the ticks by which a stage that streams has read all that the stage in front of it has emitted.

    A stream beside it may make them too: whoever comes first.
    """
    item.runner.last = item.runner.journal.last(work.spark)
    item.take_over()
    while has_stream(item.runner.last):
        try:
            if item.ticked(item.runner.advance(item.runner.upstream.last_step(work.spark), FOLLOW)) is None:
                return
        except StepTaken:
            item.runner.reload()


def raw_step_of(work: PipelineWork, item: StageWork) -> int:
    """The landing step that a backfill reads up to: that of the stage's stream, or the newest where there is none."""
    runner = item.runner
    return runner.upstream_step if has_stream(runner.last) else runner.upstream.last_step(work.spark)


def recomputed(work: PipelineWork, item: StageWork, request: Request, raw_step: int) -> DataFrame:
    """The final values of the windows, from the rows that had landed by that step."""
    rows = item.runner.upstream.rows(work.spark, 0, raw_step)
    if item.runner.stage.windows.merges:
        found = widened(work, item, request.spans, rows)
        if item.runner.last is not None and has_stream(item.runner.last):
            check_expired(found, item.runner.last)
        return found.batch_part()
    rows = rows_of(item, request.spans, rows)
    batch = starting_in(batch_of(item, rows), *request.spans)
    if is_checked_by_data(item.runner.stage):
        check_none_open(item, batch)
        cells = item.runner.journal.cells(work.spark, None, item.runner.clock.expired_end)
        if cells is not None:
            check_none_open(item, starting_in(cells, *request.spans))
    return batch


def widened(work: PipelineWork, item: StageWork, spans: tuple[Span, ...], rows: DataFrame) -> Widened:
    """The windows of a stage whose windows merge, recomputed over rows and as they are shown, around the spans."""
    batch = batch_over(item, spans, rows)
    return Widened(item.runner.stage, spans, batch, shown(work.spark, work.lake, item.runner.journal))


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


def commit(
    work: PipelineWork,
    item: StageWork,
    request: Request,
    batch: DataFrame,
    raw_step: int,
    dry_run: bool = False,
    announce: Callable[[BackfillResult], None] | None = None,
) -> BackfillResult:
    """Commit what differs between recomputed windows and those that the stage shows, as one step of its journal.

    Where nothing differs there is no commit, unless there are late rows in these windows: they are taken in then.
    What will be committed is announced before. Errors: StepTaken when another has committed meanwhile.
    """
    runner, journal, spark = item.runner, item.runner.journal, work.spark
    if runner.last is None and not dry_run:
        return _first(item, batch, _control(None, request, raw_step), announce)
    taken_in = taken_in_by(work, item, request)
    stream = _shown_part(work, item, request, batch)
    changes = differing(runner.stage, stream, batch, _touched(work, item, request, batch, raw_step)).persist()
    try:
        kinds = _count(changes)
        result = BackfillResult(item.name, batch.count(), *kinds, None)
        takes_in = sum(kinds) > 0 or has_letters(work, item, taken_in)
        if not takes_in or dry_run:
            return result
        replacing = None
        if sum(kinds) > 0:
            rows = with_gone(runner.stage, changes, standing_panes(spark, work.lake, journal))
            replacing = transitions(runner.stage, rows, has_stream(runner.last))
        control = _control(runner.last, request, raw_step, taken_in.left_out)
        result = replace(result, tick=control.tick)
        if announce is not None:
            announce(result)
        point("backfill:before_journal")
        journal.commit(spark, control, replacing, [])
        point("backfill:after_journal")
    finally:
        changes.unpersist()
    runner.last = control
    item.ticked(control)
    item.project()
    return result


def _shown_part(work: PipelineWork, item: StageWork, request: Request, batch: DataFrame) -> DataFrame:
    """The windows that the stage shows now, as far as the recomputed ones take their place."""
    everything = shown(work.spark, work.lake, item.runner.journal)
    if item.runner.stage.windows.merges:
        return Widened(item.runner.stage, request.spans, batch, everything).shown_part()
    return starting_in(everything, *request.spans)


def _touched(
    work: PipelineWork, item: StageWork, request: Request, batch: DataFrame, raw_step: int
) -> DataFrame | None:
    """The cells whose late rows are taken in, where a stage has sketches: their change cannot be seen in these."""
    if not any(aggregate.IS_SKETCH for aggregate in item.runner.stage.stage.aggregates.values()):
        return None
    rows = where(item.runner.upstream.rows(work.spark, 0, raw_step), col(envelope.REASON).is_null())
    windows, dead = item.runner.stage.windows, left_out(item)
    if windows.made_by_records:
        return lacking(item, batch.select(*CELL), rows, dead)
    touched = starting_in(cells_of(item, rows, dead), *request.spans)
    if not windows.merges:
        return touched
    return barriers.meeting(windows, batch.select(*CELL), touched).select(*CELL)


def taken_in_by(work: PipelineWork, item: StageWork, request: Request) -> TakenIn:
    """The dead letters that a backfill takes in now."""
    left_out = files_in_quarantine(work, item)
    return TakenIn(request.spans, left_out=left_out, reach=item.runner.stage.windows.reach)


def has_letters(work: PipelineWork, item: StageWork, taken_in: TakenIn, after: int = 0) -> bool:
    """Whether rows were late for these windows, or closed out, in a tick behind `after`, and none has taken them in."""
    letters = work.lake.table(item.name, "dead_letters").read(work.spark)
    return not where(letters, not_restated(taken_in) & (col("tick") > bigint(after))).isEmpty()


def files_in_quarantine(work: PipelineWork, item: StageWork) -> tuple[str, ...]:
    """The files of the stage's source that are in quarantine."""
    raw, spark = item.runner.upstream, work.spark
    if not raw.quarantined(spark):
        return ()
    rows = where(raw.rows(spark, 0, raw.last_step(spark)), col(envelope.REASON) == QUARANTINED)
    return tuple(sorted(row[0] for row in rows.select(envelope.OFFSET).distinct().collect()))


def _first(
    item: StageWork, batch: DataFrame, control: Control, announce: Callable[[BackfillResult], None] | None
) -> BackfillResult:
    """The first tick of a stage: nothing is there to compare with, so every window is inserted."""
    runner = item.runner
    stage = runner.stage
    columns = {
        "batch": struct(**{name: col(f"v_{name}") for name in compared_columns(stage, batch)}),
        "gone": null(gone_type(stage)),
    }
    rows = select(batch, {**{name: col(name) for name in CELL}, **columns})
    if announce is not None:  # the windows are staged then, and quick to count
        windows = batch.count()
        announce(BackfillResult(item.name, windows, windows, 0, 0, control.tick))
    point("backfill:before_journal")
    runner.journal.commit(runner.spark, control, transitions(stage, rows, False), [])
    point("backfill:after_journal")
    runner.last = control
    item.ticked(control)
    summary = item.project().get(control.tick)
    windows = batch.count() if summary is None else summary.opened
    return BackfillResult(item.name, windows, windows, 0, 0, control.tick)


def _count(changes: DataFrame) -> tuple[int, int, int]:
    inserted, withdrawn = col("stream").is_null(), col("batch").is_null()
    row = group(
        changes,
        (),
        {
            "inserted": call("count_if", inserted),
            "changed": call("count_if", ~inserted & ~withdrawn),
            "withdrawn": call("count_if", withdrawn),
        },
    ).collect()[0]
    return row["inserted"], row["changed"], row["withdrawn"]


def _control(last: Control | None, request: Request, raw_step: int, left_out: tuple[str, ...] = ()) -> Control:
    tick = 1 if last is None else last.tick + 1
    clock = StageClock() if last is None else last.clock
    made = tuple(Interval(*span, raw_step, tick, has_stream(last)) for span in request.spans)
    before = [] if last is None else [i for i in last.backfilled if not any(map(i.is_within, made))]
    return Control(
        tick=tick,
        kind=request.kind,
        upstream_step=0 if last is None else last.upstream_step,
        watermark_before=clock.watermark,
        clock=clock,
        backfilled=(*before, *made),
        left_out=left_out,
    )
