"""The earliest event time of what windows still need of a source, or of the panes of a stage."""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.compile.columns import WINDOW_START
from windrow.compile.elements.envelope import EVENT_TIME, REASON
from windrow.compile.sql.columns import bigint, call, col
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.retention.kept import whole_from
from windrow.engine.frames import group, where
from windrow.spec.pipelines.fingerprint import names_read
from windrow.spec.times import INFINITY, MINUS_INFINITY, format_time, saturating_add
from windrow.spec.windows.base import LONGEST
from windrow.store.delta.file_system import is_there
from windrow.store.journal.control import has_stream
from windrow.store.journal.generations import Generations


@dataclass(frozen=True)
class Need:
    """Rows from this event time on are needed, and all behind a step; `why` in words, None where nothing needs any."""

    time: int
    step: int
    why: str | None = None


def needs_of(work: PipelineWork, name: str, head: int) -> Need:
    """What all stages need that read a source or stage, whose log ends at `head`."""
    needs = [_need(work, item, name) for item in work.stages if name in item.runner.upstream.names]
    needs += [_unknown(stage) for stage in _others(work, name)]
    first = min(needs, key=lambda need: need.time, default=Need(INFINITY, head))
    return replace(first, step=min([need.step for need in needs], default=head))


def _others(work: PipelineWork, name: str) -> list[str]:
    """The stages that read it, have a journal in the lake, and are not in the pipeline file: somebody may run them."""
    own = {item.name for item in work.stages}
    recorded = Generations.of(work.lake).all(work.spark)
    others = [stage for stage, one in recorded.items() if stage not in own and name in names_read(one.fingerprint)]
    return [stage for stage in others if is_there(work.spark, work.lake.table(stage, "journal").path)]


def _unknown(stage: str) -> Need:
    why = f"stage {stage} reads it, and is not in the pipeline file: take one that has it, or delete the folder {stage}"
    return Need(MINUS_INFINITY, 0, why)


def _need(work: PipelineWork, item: StageWork, name: str) -> Need:
    runner, stage = item.runner, item.runner.stage
    runner.reload()
    last = runner.last
    if last is None:
        return Need(MINUS_INFINITY, 0, f"stage {item.name} has not read it yet")
    step = runner.upstream.step_of(name, runner.offsets)
    if stage.stage.window.IS_GLOBAL:
        return Need(MINUS_INFINITY, step, f"the window of stage {item.name} is all of time")
    if stage.stage.element_time is not None:
        return Need(MINUS_INFINITY, step, f"rows of any time may be in a window of stage {item.name}")
    if has_stream(last):
        time, why = _first_open(work, item), f"a window of stage {item.name} is open"
    else:
        time, why = _first_not_published(work, item, name), f"a batch has yet to publish windows of stage {item.name}"
        why += f" that start at {format_time(time)} or later" if time > MINUS_INFINITY else ""
    return Need(time, step, why)


def _first_open(work: PipelineWork, item: StageWork) -> int:
    """No window that is open, or that an element can open, starts before this."""
    runner = item.runner
    end = runner.clock.expired_end
    if end == MINUS_INFINITY:
        return end
    cells = runner.journal.cells(work.spark, None, end)
    first = None if cells is None else group(cells, (), {"first": call("min", col(WINDOW_START))}).collect()[0]["first"]
    starts = [INFINITY if end == INFINITY else runner.stage.windows.earliest_start(end)]
    return min([*starts, *([] if first is None else [int(first)])])


def _first_not_published(work: PipelineWork, item: StageWork, name: str) -> int:
    """No window that batches have not published starts before this: the first one behind those without a gap, or one
    before them, of which there are rows. Windows before the start of the schedule nobody publishes.
    """
    published = item.runner.published
    if not published:
        return MINUS_INFINITY
    windows = item.runner.stage.windows
    schedule = work.pipeline.schedule
    since = MINUS_INFINITY if schedule is None or schedule.start is None else schedule.start
    if since < published[0].first:
        before = _first_of(work, item, name, since, _end_before(item, published[0].first))
        if before is not None:
            return windows.earliest_start(before)
    end = min(published[0].last, published[0].until)
    if item.runner.strategy.is_made_whole:
        return saturating_add(end, -windows.longest)
    return end if end == INFINITY else windows.earliest_start(end)


def _end_before(item: StageWork, first: int) -> int:
    """Where the last of the windows ends that start before that time."""
    windows = item.runner.stage.windows
    if item.runner.strategy.is_made_whole or windows.longest == LONGEST:
        return first
    last = windows.greatest_start_before(first)
    return first if last is None else max(first, last[1])


def _first_of(work: PipelineWork, item: StageWork, name: str, since: int, until: int) -> int | None:
    """The earliest event time, from one time to another, of what a stage reads there; None where there is nothing.

    Of windows that have lost rows before nothing can be made any more.
    """
    whole = max(since, whole_from(item.runner))
    if until <= whole:
        return None
    if name in work.raws:
        rows = where(work.raws[name].log.location.read(work.spark), col(REASON).is_null())
        at = col(EVENT_TIME)
    else:
        rows = work.lake.table(name, "panes").read(work.spark)
        at = call("unix_micros", col("window_end")) - 1
    rows = where(rows, (at >= bigint(whole)) & (at < bigint(until)))
    first: int | None = group(rows, (), {"first": call("min", at)}).collect()[0]["first"]
    return first
