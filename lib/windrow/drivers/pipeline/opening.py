"""A stream opens a stage that batches have read: one tick over all that they read makes the cells of what waits.

Rule: docs/semantics.md#the-watermark-of-a-batch.

What a batch has published as last is not shown again, and what it has shown early is
retracted first, in a tick of its own. From then on the stage stands where a stream would that had always been there.
A stage opens behind those that it reads: what they emit then may have expired long ago, and is in time for it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import ROW, STEP
from windrow.drivers.pipeline.points import point
from windrow.drivers.recompute.publish.replacing import retractions, with_gone
from windrow.drivers.recompute.scope.admission_ticks import admit
from windrow.drivers.recompute.windows.unrestated import unrestated
from windrow.drivers.retention.cut import only_whole
from windrow.drivers.retention.kept import first_with_rows
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import NOTHING
from windrow.engine.tick.micro_batch import MicroBatch, with_statistics
from windrow.engine.tick.published import Made
from windrow.engine.tick.tick import TickPlan, tick
from windrow.spec.errors import NotYet
from windrow.spec.times import MINUS_INFINITY
from windrow.store.journal.control import BACKFILL, Control
from windrow.store.journal.results import shown_early, shown_last, standing_panes
from windrow.store.upstream.offsets import START, Offsets
from windrow.store.upstream.panes import StagePanes

if TYPE_CHECKING:
    from windrow.drivers.pipeline.runner import StageRunner


def opened(runner: StageRunner, head: Offsets, kind: str) -> Control | None:
    """Commit the next tick by which the stage opens. The tables of the stage must be at the head of its journal.

    `head` is how far there is something to read. None while a stage that it reads has yet to open.
    Raises NotYet where what batches did cannot be told to a stream, StepTaken where another writer has committed.
    """
    last = runner.last
    assert last is not None
    fronts = [log for log in runner.upstream.logs.values() if isinstance(log, StagePanes)]
    if not all(log.streams(runner.spark) for log in fronts):
        return None
    if fronts and head.is_ahead_of(last.offsets):
        return next(admit(runner))
    _check(runner, last)
    early = shown_early(runner.spark, runner.journal)
    if not early.isEmpty():
        return _retracted(runner, last, early)
    started = time.monotonic()
    first = first_with_rows(runner)
    admission = _admission(runner, first)
    micro_batch = _waiting_rows(runner, last, admission)
    times = TickTimes(runner.next_tick, StageClock(), last.clock, runner.clocks.active(last.clock))
    plan = tick(runner.stage, micro_batch, None, times, admission)
    found = plan.transitions
    if found is not None and runner.strategy.depends_on_others:
        found = runner.strategy.but_for(found, shown_last(runner.spark, runner.journal), first)
        found = only_whole(runner, found, first) if runner.strategy.is_made_whole else found
    times = replace(times, before=last.clock)  # for the control row: no watermark has moved
    return runner.commit(times, last.offsets, TickPlan(found, has_one_pane=plan.has_one_pane), started, kind)


def _check(runner: StageRunner, last: Control) -> None:
    """Raises NotYet where a cell cannot be made from the rows that batches have read."""
    stage, hint = runner.stage, "run with --from-start: a new generation, which the stream makes from all rows"
    place = f"stages.{stage.stage.name}"
    rule = runner.strategy.why_not_streamed(runner.published)
    if rule is not None:
        raise NotYet(place, rule, None, hint)
    if runner.strategy.splits_late_rows and not unrestated(runner).isEmpty():
        rule = f"cannot begin a stream of {stage.stage.window.NAME} windows while late rows wait to be restated"
        raise NotYet(place, rule, None, "run windrow restate first")
    if any(stage.of_input(name).nets for name in runner.upstream.logs) and _was_corrected(runner, last):
        raise NotYet(place, "cannot begin a stream behind batches over panes that were corrected", None, hint)


def _was_corrected(runner: StageRunner, last: Control) -> bool:
    read = START
    while last.offsets.is_ahead_of(read):
        read, retracts = runner.until_correction(read, last.offsets)
        if retracts:
            return True
    return False


def _waiting_rows(runner: StageRunner, last: Control, admission: Admission) -> MicroBatch:
    """The rows that batches have read, but for those that are dead as late.

    They were counted when they were read, and their dead letters are in the journal.
    """
    parts = runner.upstream.parts(runner.spark, START, last.offsets)
    if runner.strategy.depends_on_others:
        excluded = unrestated(runner).select(STEP, ROW).distinct()
        parts = {name: rows.join(excluded, on=[STEP, ROW], how="left_anti") for name, rows in parts.items()}
    return with_statistics(runner.stage, parts, admission)


def _admission(runner: StageRunner, whole: int) -> Admission:
    """All windows but those that batches have published, and those that have lost rows by their age.

    Of windows that depend on others these are left out when they are made.
    """
    if runner.strategy.depends_on_others:
        return Admission()
    lost = () if whole == MINUS_INFINITY else (Made(MINUS_INFINITY, whole),)
    return Admission(counted=(*lost, *runner.published))


def _retracted(runner: StageRunner, last: Control, early: DataFrame) -> Control:
    """Commit a tick that retracts what batches have shown early."""
    rows = with_gone(runner.stage, early, standing_panes(runner.spark, runner.journal))
    control = replace(
        last, tick=last.tick + 1, kind=BACKFILL, watermark_before=last.clock.watermark, counters=NOTHING,
        quarantined_files=(), duration_ms=0,
    )  # fmt: skip
    point("opening:before_retraction")
    control = runner.write(control, TickPlan(retractions(runner.stage, rows)))
    point("opening:after_retraction")
    return control
