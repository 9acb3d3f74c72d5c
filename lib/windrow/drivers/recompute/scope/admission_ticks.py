"""A batch reads what has landed since the last one: it moves the stage's clock, and judges the rows.

Rule: docs/semantics.md#the-watermark-of-a-batch.

The clock is that of a stream after the same rows, at the clock of the moment. What came too
late for a window that a batch has published, or on which an expression fails, is a dead letter from then on; all other
rows wait in the upstream until a batch recomputes their windows, or a stream opens the stage.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from windrow.drivers.pipeline.points import point
from windrow.drivers.recompute.scope.batch_clock import clock_after, passed
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.judging import judge
from windrow.engine.tick.micro_batch import DeadLetters, counters_of, with_statistics
from windrow.engine.tick.tick import TickPlan
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.journal.control import ADMISSION, Control, has_stream
from windrow.store.upstream.offsets import Offsets

if TYPE_CHECKING:
    from windrow.drivers.pipeline.runner import StageRunner


@dataclass(frozen=True)
class AdmissionTick:
    """How far a stage without a stream has read, and where its clock stands then."""

    offsets: Offsets
    clock: StageClock
    control: Control | None = None
    dead_letters: DeadLetters = field(default_factory=dict)


def admit(runner: StageRunner, now: int | None = None) -> Iterator[Control]:
    """Commit a tick for what has landed and was not read yet, in several where corrections are to be told apart.

    Where others read the stage, time that has passed until `now` moves its clock in a tick too, so that theirs can
    follow.
    Raises StepTaken where another writer has committed meanwhile.
    """
    for found in _admission_ticks(runner, now if runner.is_read else None):
        assert found.control is not None
        point("admission:before_journal")
        written = runner.write(found.control, TickPlan(None, found.dead_letters))
        point("admission:after_journal")
        yield written


def standing(runner: StageRunner, now: int) -> AdmissionTick:
    """Where the stage stands at the clock of the moment, when it has read all that is there. Commits nothing."""
    before = AdmissionTick(runner.offsets, runner.clock)
    *_, found = [before, *_admission_ticks(runner)]
    return replace(found, clock=passed(runner, found.clock, found.offsets, now))


def _admission_ticks(runner: StageRunner, now: int | None = None) -> Iterator[AdmissionTick]:
    """What each tick of an admission would commit; each is made behind the one before, whether that was committed.

    The last is for the time that has passed `now`, if it is given and moves the clock.
    """
    last, head = runner.last, runner.upstream.head(runner.spark)
    if has_stream(last):
        return
    read, clock = runner.offsets, runner.clock
    while head.is_ahead_of(read):
        started = time.monotonic()
        until, retracts = runner.until_correction(read, head)
        admission = runner.admission if not retracts else Admission(INFINITY)
        known = runner.upstream.landed(runner.spark, read, until)
        landed = {name: rows for name, rows in known.items() if rows.arrivals is not None}
        parts = runner.upstream.parts(runner.spark, read, until)
        micro_batch = with_statistics(runner.stage, parts, admission, landed)
        judges = runner.strategy.judges_by_cells
        cells = runner.journal.cells(runner.spark, None, runner.forgets_until) if judges else None
        judged, dead_letters = judge(runner.stage, micro_batch, cells, admission)
        clock = clock_after(runner, clock, micro_batch, until)
        control = replace(_control(last, clock, until, counters_of(judged)), late_until=admission.expired_end)
        last, read = control.lasting(int(1000 * (time.monotonic() - started))), until
        yield AdmissionTick(read, clock, last, dead_letters)
    if now is None or last is None:
        return
    after = passed(runner, clock, read, now)
    if after.is_ahead_of(clock) or after.output_watermark > clock.output_watermark:
        yield AdmissionTick(read, after, _control(last, after, read, NOTHING))


def _control(last: Control | None, clock: StageClock, until: Offsets, counters: Counters) -> Control:
    return Control(
        tick=1 if last is None else last.tick + 1,
        kind=ADMISSION,
        offsets=until,
        streams=False,
        watermark_before=MINUS_INFINITY if last is None else last.clock.watermark,
        clock=clock,
        counters=counters,
        backfilled=() if last is None else last.backfilled,
        shows=last is not None and last.shows,
        shows_early=last is not None and last.shows_early,
    )
