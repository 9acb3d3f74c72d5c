"""A stage's windows once more, from raw: their final values, and the commit of what differs, with retractions.

Rule: SEMANTICS section 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile.cells import EXPIRED, OPENED, PANES, STATE
from windrow.compile.columns import CELL
from windrow.compile.panes import BACKFILL, LATE, ON_TIME, PaneColumns, pane_struct
from windrow.compile.sql import (
    Column,
    array,
    call,
    case,
    coalesce,
    col,
    empty_array,
    lit,
    null,
    struct,
    when,
)
from windrow.compile.stage import CompiledStage
from windrow.engine.clock import StageClock
from windrow.engine.final import differing, final_values, starting_in
from windrow.engine.frames import group, select, where
from windrow.run.advance import StageRunner
from windrow.run.points import point
from windrow.run.work import PipelineWork, StageWork
from windrow.spec.errors import NotYet
from windrow.spec.times import MINUS_INFINITY, format_time
from windrow.store.control import Control, Interval
from windrow.store.projections.dead_letters import not_taken_in
from windrow.store.results import shown, standing_panes


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


def prepare(work: PipelineWork, item: StageWork, start: int, end: int) -> int:
    """Bring the stage up, and give the landing step up to which its windows are recomputed; 0 where nothing landed.

    Errors: SpecError for windows that start in [start, end) and are not a backfill's.
    """
    runner, spark = item.runner, work.spark
    runner.last = runner.journal.last(spark)
    item.catch_up()
    item.project()
    _check_expired(runner.stage, runner.clock, has_stream(runner.last), start, end)
    _check_reached(runner, start, end)
    return raw_step_of(work, item)


def raw_step_of(work: PipelineWork, item: StageWork) -> int:
    """The landing step that a backfill reads up to: that of the stage's stream, or the newest where there is none."""
    runner = item.runner
    return runner.upstream_step if has_stream(runner.last) else work.raw_step(runner.source)


def recomputed(work: PipelineWork, item: StageWork, start: int, end: int, raw_step: int) -> DataFrame:
    """The final values of the windows that start in [start, end), from the rows that had landed by that step."""
    rows = item.runner.raw.rows(work.spark, 0, raw_step)
    return starting_in(final_values(item.runner.stage, rows), start, end)


def commit(
    work: PipelineWork,
    item: StageWork,
    start: int,
    end: int,
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
        return _first(item, batch, _control(None, start, end, raw_step), announce)
    stream = starting_in(shown(spark, work.lake, journal), start, end)
    changes = differing(runner.stage, stream, batch).persist()
    try:
        kinds = _count(changes)
        result = BackfillResult(item.name, batch.count(), *kinds, None)
        takes_in = sum(kinds) > 0 or _has_letters(work, item, start, end)
        if not takes_in or dry_run:
            return result
        transitions = None
        if sum(kinds) > 0:
            rows = _with_gone(runner.stage, changes, standing_panes(spark, work.lake, journal))
            transitions = _transitions(runner.stage, rows, runner.last)
        control = _control(runner.last, start, end, raw_step)
        result = replace(result, tick=control.tick)
        if announce is not None:
            announce(result)
        point("backfill:before_journal")
        journal.commit(spark, control, transitions, [])
        point("backfill:after_journal")
    finally:
        changes.unpersist()
    runner.last = control
    item.ticked(control)
    item.project()
    return result


def _has_letters(work: PipelineWork, item: StageWork, start: int, end: int) -> bool:
    """Whether rows were late for these windows, or closed out, and no backfill has taken them in."""
    letters = work.lake.table(item.name, "dead_letters").read(work.spark)
    return not where(letters, not_taken_in(start, end)).isEmpty()


def _first(
    item: StageWork, batch: DataFrame, control: Control, announce: Callable[[BackfillResult], None] | None
) -> BackfillResult:
    """The first tick of a stage: nothing is there to compare with, so every window is inserted."""
    runner = item.runner
    stage = runner.stage
    columns = {
        "batch": struct(**{name: col(f"v_{name}") for name in stage.aggregates}),
        "gone": null(_gone_type(stage)),
    }
    rows = select(batch, {**{name: col(name) for name in CELL}, **columns})
    if announce is not None:  # the windows are staged then, and quick to count
        windows = batch.count()
        announce(BackfillResult(item.name, windows, windows, 0, 0, control.tick))
    point("backfill:before_journal")
    runner.journal.commit(runner.spark, control, _transitions(stage, rows, None), [])
    point("backfill:after_journal")
    runner.last = control
    item.ticked(control)
    summary = item.project().get(control.tick)
    windows = batch.count() if summary is None else summary.panes
    return BackfillResult(item.name, windows, windows, 0, 0, control.tick)


def has_stream(last: Control | None) -> bool:
    """Whether a stream has consumed anything."""
    return last is not None and last.upstream_step > 0


def _check_expired(stage: CompiledStage, clock: StageClock, streams: bool, start: int, end: int) -> None:
    """Refuse an interval that holds a window which is open in the stream, and name it."""
    if not streams:
        return
    last = stage.windows.greatest_start_before(end)
    is_global = stage.stage.window.IS_GLOBAL
    if last is None or (last[0] < start and not is_global) or last[1] <= clock.expired_end:
        return
    hint = "take an earlier --to, or drain the stream"
    if clock.expired_end != MINUS_INFINITY:
        hint = f"windows that end at or before {format_time(clock.expired_end)} have expired; " + hint
    window = f"[{format_time(last[0])}, {format_time(last[1])})"
    raise NotYet(f"stages.{stage.stage.name}", f"window {window} is open in the stream, which owns it", None, hint)


def _check_reached(runner: StageRunner, start: int, end: int) -> None:
    """Refuse windows that an earlier backfill has made from rows which the stream has not reached yet.

    The stream will skip those rows: computed up to its place only, the windows would lose them.
    """
    last = runner.last
    if not has_stream(last) or last is None:
        return
    is_global = runner.stage.stage.window.IS_GLOBAL
    made = [i.raw_step for i in last.backfilled if is_global or (i.start < end and start < i.end)]
    if max(made, default=0) > last.upstream_step:
        raise NotYet(
            f"stages.{runner.stage.stage.name}",
            "an earlier backfill has read further than the stream",
            f"landing step {max(made)}, and the stream is at {last.upstream_step}",
            "run the stream until it has passed that step",
        )


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


def _control(last: Control | None, start: int, end: int, raw_step: int) -> Control:
    tick = 1 if last is None else last.tick + 1
    clock = StageClock() if last is None else last.clock
    before = () if last is None else last.backfilled
    return Control(
        tick=tick,
        kind="backfill",
        upstream_step=0 if last is None else last.upstream_step,
        watermark_before=clock.watermark,
        clock=clock,
        backfilled=(*before, Interval(start, end, raw_step, tick)),
    )


def _with_gone(stage: CompiledStage, changes: DataFrame, standing: DataFrame) -> DataFrame:
    """The windows that differ, with `gone`: the withdrawals of the panes that stand in each, by index."""
    withdrawn = pane_struct(
        PaneColumns(
            change=lit("delete"), weight=-1, timing=col("timing"), pane_index=col("pane_index"),
            on_time_index=col("on_time_index"), is_last=col("is_last"), trigger=col("trigger"),
            percentile=col("watermark_percentile"), values={name: col(f"v_{name}") for name in stage.aggregates},
        )
    )  # fmt: skip
    touched = standing.join(changes.select(*CELL), on=list(CELL), how="left_semi")
    gone = group(touched, CELL, {"gone": call("array_sort", call("collect_list", _ordered(withdrawn)))})
    return changes.join(gone, on=list(CELL), how="left")


def _gone_type(stage: CompiledStage) -> str:
    return f"array<struct<index: int, pane: {stage.cells.pane_type}>>"


def _transitions(stage: CompiledStage, rows: DataFrame, last: Control | None) -> DataFrame:
    """Withdraw what stands in each window, and insert what is right."""
    inserted = _inserted(stage, last)
    gone_panes = coalesce(col("gone", "pane"), empty_array(stage.cells.pane_type))
    panes = case((col("batch").is_null(), gone_panes), otherwise=call("concat", gone_panes, array(inserted)))
    return select(
        rows,
        {
            **{name: col(name) for name in CELL},
            STATE: null(stage.cells.state_type),
            PANES: panes,
            EXPIRED: lit(True),
            OPENED: lit(True),
        },
    )


def _ordered(pane: Column) -> Column:
    return Column(f"named_struct('index', pane_index, 'pane', {pane.text})")


def _inserted(stage: CompiledStage, last: Control | None) -> Column:
    """The pane of the recomputed window: the index goes on, and it is late where a pane was there before."""
    index = coalesce(Column("(element_at(gone, -1).index + 1)"), 0)
    on_time = Column("element_at(gone, -1).pane.on_time_index")
    late = has_stream(last)
    return pane_struct(
        PaneColumns(
            change=lit("insert"),
            weight=1,
            timing=lit(LATE) if late else when(col("gone").is_null(), ON_TIME, LATE),
            pane_index=index,
            on_time_index=coalesce(on_time + 1, 0),
            is_last=lit(True),
            trigger=lit(BACKFILL),
            percentile=null("int"),
            values={name: col("batch", name) for name in stage.aggregates},
        )
    )
