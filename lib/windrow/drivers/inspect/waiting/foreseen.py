"""What a run would find that it waits for, where nothing has come since a run landed: it is seen without Spark.

Rule: docs/semantics.md#the-watermark-of-a-batch.

A run that begins then needs no job: it would land nothing, no clock would move, and the end of the last window of its
interval tells the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.compile.windows.base import WindowTimes
from windrow.compile.windows.registry import compile_windows
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.holding import slowest_of
from windrow.drivers.inspect.waiting.waiting import landed_source, newest_control
from windrow.drivers.inspect.waiting.windows import WaitingWindows
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.published import Made, Span, joined
from windrow.spec.pipelines.fingerprint import fingerprint_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import saturating_add
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import LAND, SEEN, Audits
from windrow.store.journal.control import Control, has_stream
from windrow.store.reading.generations import Generation, newest_generations
from windrow.store.reading.tables import Tables


def foreseen(tables: Tables, pipeline: Pipeline, span: Span, sources: Sequence[Arrivals]) -> list[WaitingWindows]:
    """What a run over the windows that start in a span would wait for, of the stages of which it can be known.

    These have aligned windows, no stream has made them, and they have read all that has landed of their one source.
    `sources` are those of the pipeline, looked at. Nothing is known where something may have come since a run that
    waits for its windows landed last, nor where a stage has not read yet as its file now says: a run may be refused.
    Raises NotReadable where the lake is one that only Spark reads, and SpecError for a journal of an earlier version.
    """
    lake = Lake.of(pipeline.lake)
    landed = Audits.of(lake).found_last(tables, LAND)
    if any(one.seen is None or landed.get(one.source, {}).get(SEEN) != one.seen for one in sources):
        return []
    generations = newest_generations(tables, lake.internal("generations"))
    if not all(_means_the_same(pipeline, stage, generations) for stage in pipeline.stages):
        return []
    found = [_of(tables, lake, pipeline, stage, generations[stage.name].number, span) for stage in pipeline.stages]
    return [one for one in found if one is not None]


def _means_the_same(pipeline: Pipeline, stage: Stage, generations: Mapping[str, Generation]) -> bool:
    """Whether the stage has read with the meaning that the file gives it."""
    known, numbers = generations.get(stage.name), {name: one.number for name, one in generations.items()}
    return known is not None and known.fingerprint == fingerprint_of(stage, pipeline.upstreams_of(stage), numbers)


def _of(
    tables: Tables, lake: Lake, pipeline: Pipeline, stage: Stage, generation: int, span: Span
) -> WaitingWindows | None:
    """What the run waits for of a stage; None where nothing, or where only a run can tell."""
    source = pipeline.upstreams_of(stage).get(ONLY)
    if not stage.window.has_slices or not isinstance(source, Source):
        return None
    windows = compile_windows(stage.window)
    end = _last_end(windows, span)
    control = newest_control(tables, lake, stage.name, generation)
    if end is None or control is None or has_stream(control) or not _has_read(tables, lake, source, control):
        return None
    if end <= control.clock.expired_end or Made(*span).is_within(joined(windows, control.published)):
        return None
    only = control.clock.inputs.get(ONLY)
    clock = StageClock() if only is None else only.clock
    held_by = slowest_of(source.name, stage.watermark_over(source.watermark), source.hides_partitions, clock)
    until = saturating_add(end, stage.allowed_lateness)
    return WaitingWindows(stage.name, 0, None, None, until, control.clock.watermark, held_by)


def _last_end(windows: WindowTimes, span: Span) -> int | None:
    """The end of the last window that starts in the span; None without one."""
    last = windows.greatest_start_before(span[1])
    return None if last is None or last[0] < span[0] else last[1]


def _has_read(tables: Tables, lake: Lake, source: Source, control: Control) -> bool:
    """Whether the stage has read all that has landed: its clock stands where it stands for a run."""
    return control.offsets.of(ONLY) == landed_source(tables, lake, source.name).step
