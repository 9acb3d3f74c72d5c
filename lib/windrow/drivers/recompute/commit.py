"""The commit of what differs between recomputed windows and those that a stage shows, with retractions.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import bigint, call, col, lit, null, struct, when
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.left_out import cells_of, lacking, left_out
from windrow.drivers.recompute.recomputed import Recomputed
from windrow.drivers.recompute.replacing import WAITS, gone_type, transitions, with_gone
from windrow.drivers.recompute.scope import Mode, Scope, last_end
from windrow.drivers.recompute.waiting import WaitingWindows, not_expired, waiting_windows
from windrow.drivers.recompute.widening import Widened
from windrow.engine.final import compared_columns, differing, starting_in
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.published import Made, is_complete, is_made
from windrow.engine.windows import closed
from windrow.spec.times import INFINITY
from windrow.store.journal.control import Control, Interval, has_stream
from windrow.store.journal.results import shown, shown_early, standing_panes
from windrow.store.projections.dead_letters import TakenIn, not_restated
from windrow.store.upstream.raw import QUARANTINED


@dataclass(frozen=True)
class BackfillResult:
    """What a backfill of one stage did: windows recomputed, and how many were inserted, changed and withdrawn.

    `tick` is the step of its commit, None where there was nothing to commit or it was a dry run. `waiting` are the
    windows that have not expired; of those only what was shown early is among the others.
    """

    stage: str
    windows: int
    inserted: int
    changed: int
    withdrawn: int
    tick: int | None
    waiting: WaitingWindows | None = None


def commit(
    work: PipelineWork,
    item: StageWork,
    scope: Scope,
    batch: Recomputed,
    dry_run: bool = False,
    announce: Callable[[BackfillResult], None] | None = None,
) -> BackfillResult:
    """Commit what differs between recomputed windows and those that the stage shows, as one step of its journal.

    Where nothing differs there is no commit, unless there are late rows in these windows: they are taken in then.
    What will be committed is announced before. Raises StepTaken when another has committed meanwhile.
    """
    runner, journal, spark = item.runner, item.runner.journal, work.spark
    result = counted_windows(work, item, scope, batch.windows)
    taken_in = taken_in_by(work, item, scope, batch)
    if not dry_run and _is_first(runner.last):
        control = _control(runner, scope, batch.takes_in, taken_in.left_out)
        return _first(item, scope, batch.windows, result, control, announce)
    changes = _changes(work, item, scope, batch.windows).persist()
    try:
        result = _with_kinds(result, changes)
        differs = result.inserted + result.changed + result.withdrawn > 0
        takes_some = has_letters(work, item, taken_in)
        if dry_run or not (differs or _is_new(item, scope) or takes_some):
            return result
        replacing = None
        if differs:
            rows = with_gone(runner.stage, changes, standing_panes(spark, journal))
            replacing = transitions(runner.stage, rows, has_stream(runner.last), scope.clock.watermark)
        control = _control(runner, scope, batch.takes_in, taken_in.left_out, joins=not takes_some)
        result = replace(result, tick=control.tick)
        if announce is not None:
            announce(result)
        point("backfill:before_journal")
        runner.write(control, replacing, [])
        point("backfill:after_journal")
    finally:
        changes.unpersist()
    item.ticked(control)
    item.project()
    return result


def _is_first(last: Control | None) -> bool:
    """Whether nothing of the stage is shown yet, so that there is nothing to compare with."""
    return not has_stream(last) and (last is None or not last.shows)


def _is_new(item: StageWork, scope: Scope) -> bool:
    """Whether windows are published that were not before, with rows or without: what comes for them later is late."""
    last = item.runner.last
    if last is None or has_stream(last):
        return False
    wanted = [one for one in scope.made if one.until == INFINITY or last_end(item, (one.first, one.last)) is not None]
    return any(_is_some(one) and not _in_full(item, one).is_within(item.runner.published) for one in wanted)


def _is_some(made: Made) -> bool:
    """Whether a window can be among them."""
    return made.until > made.first


def _in_full(item: StageWork, made: Made) -> Made:
    """Up to the last end that an element's window can have: where they merge, more time publishes no more of them."""
    end = last_end(item, (made.first, made.last))
    return made if end is None or made.until == INFINITY else replace(made, until=min(made.until, end))


def _changes(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame) -> DataFrame:
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
        return Widened(item.runner.stage, scope.spans, scope.until, batch, everything, scope.gaps).shown_part()
    return where(everything, is_made(scope.made, col(WINDOW_START), col(WINDOW_END)))


def _touched(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame) -> DataFrame | None:
    """The cells whose late rows are taken in, where a stage has sketches: their change cannot be seen in these."""
    runner = item.runner
    if not any(aggregate.IS_SKETCH for aggregate in runner.stage.stage.aggregates.values()):
        return None
    rows = where(runner.upstream.rows(work.spark, 0, scope.place), col(envelope.REASON).is_null())
    windows, dead = runner.stage.windows, left_out(runner)
    final = where(batch, ~col(WAITS)).select(*CELL)
    if runner.strategy.splits_late_rows and not runner.strategy.is_made_whole:
        return lacking(runner, final, rows, dead)
    touched = where(cells_of(runner, rows, dead), is_made(scope.made, col(WINDOW_START), col(WINDOW_END)))
    if not runner.strategy.is_made_whole:
        return touched
    return closed.meeting(windows, final, touched).select(*CELL)


def taken_in_by(work: PipelineWork, item: StageWork, scope: Scope, batch: Recomputed) -> TakenIn:
    """The dead letters that a backfill takes in now."""
    made = scope.made if batch.takes_in else ()
    return TakenIn(made, left_out=files_in_quarantine(work, item), reach=item.runner.stage.windows.reach)


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
    item: StageWork,
    scope: Scope,
    batch: DataFrame,
    result: BackfillResult,
    control: Control,
    announce: Callable[[BackfillResult], None] | None,
) -> BackfillResult:
    """The first windows of a stage: nothing is there to compare with, so every window is inserted."""
    runner = item.runner
    stage = runner.stage
    is_early = scope.request.mode is Mode.EARLY
    columns = {
        "batch": struct(**{name: col(f"v_{name}") for name in compared_columns(stage, batch)}),
        "gone": null(gone_type(stage)),
    }
    inserted = batch if is_early else where(batch, ~col(WAITS))
    rows = select(inserted, {**{name: col(name) for name in (*CELL, WAITS)}, **columns})
    if not (result.windows or _is_new(item, scope)):
        return result
    result = replace(result, inserted=result.windows, tick=control.tick)
    if announce is not None:
        announce(result)
    point("backfill:before_journal")
    runner.write(control, transitions(stage, rows, False, scope.clock.watermark), [])
    point("backfill:after_journal")
    item.ticked(control)
    item.project()
    return result


def counted_windows(work: PipelineWork, item: StageWork, scope: Scope, batch: DataFrame) -> BackfillResult:
    """How many windows there are, and what of them waits, in one pass."""
    bounds, reverse = (
        struct(start=col(WINDOW_START), end=col(WINDOW_END)),
        struct(end=col(WINDOW_END), start=col(WINDOW_START)),
    )
    has_panes = is_made(scope.complete, col(WINDOW_START), col(WINDOW_END))
    row = group(
        batch,
        (),
        {
            "all": call("count", 1),
            "waiting": call("count_if", col(WAITS)),
            "by_clock": call("count_if", col(WAITS) & has_panes),
            "first": call("min", when(col(WAITS), bounds)),
            "last": call("max", when(col(WAITS), reverse)),
        },
    ).collect()[0]
    is_early = scope.request.mode is Mode.EARLY and not has_stream(item.runner.last)
    waiting = not_expired(item, scope)
    if row["waiting"]:
        first, last = (row["first"]["start"], row["first"]["end"]), (row["last"]["start"], row["last"]["end"])
        waiting = waiting_windows(work, item, scope, row["waiting"], first, last, is_early, row["by_clock"])
    windows = row["all"] if is_early else row["all"] - row["waiting"]
    return BackfillResult(item.name, windows, 0, 0, 0, None, waiting)


def _with_kinds(result: BackfillResult, changes: DataFrame) -> BackfillResult:
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
    return replace(result, inserted=row["inserted"], changed=row["changed"], withdrawn=row["withdrawn"])


def _control(
    runner: StageRunner, scope: Scope, takes_in: bool, left_out: tuple[str, ...], joins: bool = False
) -> Control:
    last = runner.last
    assert last is not None, "rows are admitted before windows are published"
    tick = last.tick + 1
    streams = has_stream(last)
    some = [one for one in scope.made if streams or _is_some(one)]
    made = tuple(Interval(one.first, one.last, scope.place, tick, streams, one.until, takes_in) for one in some)
    before = [i for i in last.backfilled if not any(map(i.is_within, made))]
    intervals = _with_neighbour(runner, before, made) if joins and len(before) == len(last.backfilled) else None
    return Control(
        tick=tick,
        kind=scope.request.kind,
        upstream_step=last.upstream_step,
        watermark_before=last.clock.watermark,
        clock=scope.clock,
        backfilled=intervals or (*before, *made),
        left_out=left_out,
        admitted=last.admitted,
        shows=True,
    )


def _with_neighbour(
    runner: StageRunner, before: list[Interval], made: tuple[Interval, ...]
) -> tuple[Interval, ...] | None:
    """The intervals with the new one made one with that which it follows, so that those of a schedule do not add up.

    None where they are not neighbours. No late row was for the new one, so it may have the older one's tick.
    """
    if len(made) != 1 or runner.stage.windows.reach:
        return None
    (new,) = made
    for old in before:
        alike = (old.streamed, old.takes_in) == (new.streamed, new.takes_in)
        follows = old.start <= new.start <= old.end <= new.end and old.until <= new.until
        if alike and follows and is_complete(runner.stage.windows, old.made, runner.strategy.is_made_whole):
            rest = (one for one in before if one is not old)
            return (*rest, replace(old, end=new.end, until=new.until, raw_step=min(old.raw_step, new.raw_step)))
    return None
