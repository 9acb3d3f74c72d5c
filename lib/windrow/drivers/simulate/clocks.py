"""The clocks of every tick of a history, as a stream would have had them: by the functions that move those of a stage.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa  # type: ignore[import-untyped]

from windrow.compile.cells.own_ticks import OwnTicks
from windrow.engine.clocks.clock import StageClock, TickTimes, of_triggers
from windrow.engine.clocks.inputs import InputTime, met, seen
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage

_NOTHING = BatchStatistics()


@dataclass(frozen=True)
class Arrived:
    """A tick of a history: its number from 1, processing time, and what is known of the rows that arrived for it."""

    tick: int
    now: int
    statistics: BatchStatistics = _NOTHING


def times_of(stage: Stage, rule: Watermark, ticks: Iterable[Arrived]) -> Iterator[TickTimes]:
    """The clocks of each tick of a stage over one source, before and after. `rule` is that of the source."""
    clock, rule = StageClock(), stage.watermark_over(rule)
    for one in ticks:
        before, found = clock, one.statistics
        clock = clock.seen({}, one.now, found.latest_end)
        clock = seen(clock, clock.now, {ONLY: found})
        clock = met(clock, clock.now, {ONLY: InputTime(_NOTHING, rule)}, stage)
        yield TickTimes(one.tick, before, clock)


def clock_table(own: OwnTicks, times: Sequence[TickTimes]) -> pa.Table:
    """The ticks with their clocks: `tick`, `expired_before`, and the columns that a step of the cells reads."""
    stage = own.cells.stage
    columns: dict[str, list[int]] = {"tick": [], "expired_before": []}
    for one in times:
        row = {"tick": one.tick, "expired_before": one.before.expired_end}
        for name, value in {**row, **own.clock_columns(of_triggers(stage, one))}.items():
            columns.setdefault(name, []).append(value)
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
