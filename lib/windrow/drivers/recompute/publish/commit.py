"""The commit of what differs between recomputed windows and those that a stage shows, with retractions.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import call, col, struct, when
from windrow.drivers.inspect.waiting.windows import WaitingWindows
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.publish.changes import Changes, all_new, compared, is_new, is_some
from windrow.drivers.recompute.publish.replacing import WAITS, first_transitions, transitions
from windrow.drivers.recompute.scope.request import Mode, Scope
from windrow.drivers.recompute.scope.waiting_windows import not_expired, waiting_windows
from windrow.drivers.recompute.windows.recomputed import Recomputed
from windrow.drivers.recompute.windows.unrestated import restated_by
from windrow.drivers.retention.kept import check_whole
from windrow.engine.frames import group
from windrow.engine.tick.published import is_complete, is_made
from windrow.engine.tick.tick import TickPlan
from windrow.store.journal.control import Control, Interval, has_stream
from windrow.store.projections.dead_letters import Restated


@dataclass(frozen=True)
class BackfillResult:
    """What a backfill of one stage did: windows recomputed, and how many were inserted, changed and retracted.

    `tick` is the step of its commit, None where there was nothing to commit or it was a dry run. `waiting` are the
    windows that have not expired; of those only what was shown early is among the others.
    """

    stage: str
    windows: int
    inserted: int
    changed: int
    retracted: int
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

    Where nothing differs there is no commit, unless there are late rows in these windows: they are restated then.
    What will be committed is announced before. Raises StepTaken when another has committed meanwhile.
    """
    runner = item.runner
    restated = restated_by(work, item, scope, batch)
    if announce is None and not dry_run and _writes_all(item, scope):
        return _written_at_once(item, scope, batch, restated)
    result = counted_windows(work, item, scope, batch.windows)
    found: AbstractContextManager[Changes]
    if not dry_run and _is_unshown(item, scope):
        found = nullcontext(all_new(item, scope, batch.windows, result.windows))
    else:
        found = compared(work, item, scope, batch.windows, restated)
    with found as changes:
        result = replace(result, inserted=changes.inserted, changed=changes.changed, retracted=changes.retracted)
        if dry_run or not changes.is_any:
            return result
        control = _control(runner, scope, batch.restates, restated.quarantined_files, joins=not changes.restates)
        is_early = result.waiting is not None and result.waiting.early
        control = replace(control, shows_early=control.shows_early or is_early)
        result = replace(result, tick=control.tick)
        if announce is not None:
            announce(result)
        check_whole(item, min(first for first, _ in scope.spans))  # maintenance may have come in between
        point("backfill:before_journal")
        control = runner.write(control, TickPlan(_transitions(runner, scope, changes)))
        point("backfill:after_journal")
    item.ticked(control)
    item.project()
    return result


def _writes_all(item: StageWork, scope: Scope) -> bool:
    """Whether every window of the batch is inserted, none waits, and each has one row: then none need be counted."""
    is_one_row = not item.runner.stage.panes.gathered
    return _is_first(item.runner.last) and scope.is_whole and is_new(item, scope) and is_one_row


def _written_at_once(item: StageWork, scope: Scope, batch: Recomputed, restated: Restated) -> BackfillResult:
    """Write the windows of such a batch in one pass, and count them by what was written."""
    runner = item.runner
    control = _control(runner, scope, batch.restates, restated.quarantined_files, joins=True)
    point("backfill:before_journal")
    first = first_transitions(runner.stage, batch.windows)
    control = runner.write(control, TickPlan(first, has_one_pane=True, is_first=True))
    point("backfill:after_journal")
    item.ticked(control)
    item.project()
    windows = control.counters.panes
    return BackfillResult(item.name, windows, windows, 0, 0, control.tick, not_expired(item, scope))


def _transitions(runner: StageRunner, scope: Scope, changes: Changes) -> DataFrame | None:
    if changes.rows is None:
        return None
    return transitions(runner.stage, changes.rows, has_stream(runner.last), scope.clock.watermark)


def _is_first(last: Control | None) -> bool:
    """Whether nothing of the stage is shown yet, so that there is nothing to compare with."""
    return not has_stream(last) and (last is None or not last.shows)


def _is_unshown(item: StageWork, scope: Scope) -> bool:
    """Whether nothing of these windows is shown yet, so that there is nothing to compare with.

    So it is from one day of a schedule to the next, where the windows of an element are known by its time alone: no
    batch has published any that starts in these spans, and none was shown before it had expired.
    """
    stage, last = item.runner.stage, item.runner.last
    if last is None or _is_first(last):
        return True
    is_by_time = stage.windows.is_aligned and not stage.stage.window.IS_GLOBAL
    if has_stream(last) or last.shows_early or not is_by_time:
        return False
    return not any(one.start < end and start < one.end for one in last.backfilled for start, end in scope.spans)


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


def _control(
    runner: StageRunner, scope: Scope, restates: bool, quarantined_files: tuple[str, ...], joins: bool
) -> Control:
    last = runner.last
    assert last is not None, "rows are admitted before windows are published"
    tick = last.tick + 1
    streams = has_stream(last)
    some = [one for one in scope.made if streams or is_some(one)]
    made = tuple(Interval(one.first, one.last, scope.offsets, tick, streams, one.until, restates) for one in some)
    before = [i for i in last.backfilled if not any(map(i.is_within, made))]
    intervals = _with_neighbour(runner, before, made) if joins and len(before) == len(last.backfilled) else None
    return Control(
        tick=tick,
        kind=scope.request.kind,
        offsets=last.offsets,
        streams=streams,
        watermark_before=last.clock.watermark,
        clock=scope.clock,
        backfilled=intervals or (*before, *made),
        quarantined_files=quarantined_files,
        shows=True,
        shows_early=last.shows_early,
    )


def _with_neighbour(
    runner: StageRunner, before: list[Interval], made: tuple[Interval, ...]
) -> tuple[Interval, ...] | None:
    """The intervals with the new one made one with that which it follows, so that those of a schedule do not add up.

    None where they are not neighbours. No late row was for the new one, so it may have the older one's tick.
    """
    if len(made) != 1 or runner.stage.windows.late_span:
        return None
    (new,) = made
    for old in before:
        alike = (old.streamed, old.restates) == (new.streamed, new.restates)
        follows = old.start <= new.start <= old.end <= new.end and old.until <= new.until
        if alike and follows and is_complete(runner.stage.windows, old.made, runner.strategy.is_made_whole):
            rest = (one for one in before if one is not old)
            return (*rest, replace(old, end=new.end, until=new.until, offsets=old.offsets.common(new.offsets)))
    return None
