"""The first step of a tick: which pairs of element and window are dead, and the elements that are left.

Rule: docs/semantics.md#ticks.

A branch is planned only where the statistics say that there is something for it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame

from windrow.compile.columns import AHEAD, KEY
from windrow.compile.elements import envelope
from windrow.compile.panes.event_times import ahead_of
from windrow.compile.sql.columns import col
from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import apply, over, where, with_column
from windrow.engine.tick import dead_letters
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import united
from windrow.engine.tick.counters import Counters
from windrow.engine.tick.micro_batch import DeadLetters, MicroBatch, pruned
from windrow.engine.tick.statistics import BatchStatistics
from windrow.engine.windows.registry import strategy_of


def judge(
    stage: CompiledStage, micro_batch: MicroBatch, cells: DataFrame | None, admission: Admission
) -> tuple[MicroBatch, DeadLetters]:
    """The micro-batch with all late pairs counted, those too that only the cells show; and its dead letters."""
    dead_letters: dict[str, list[DataFrame]] = {}
    judged: dict[str, tuple[DataFrame, BatchStatistics]] = {}
    for name, (rows, found) in micro_batch.items():
        found, dead_letters[name] = _judged(stage.of_input(name), rows, found, cells, admission)
        judged[name] = rows, found
    return judged, dead_letters


def may_be_dead(stage: CompiledStage, statistics: BatchStatistics) -> bool:
    """Whether a pair of a row may be dead, so that a dead letter has to hold the row as it is."""
    found = statistics.counters
    return bool(found.bad_expression or found.late or statistics.suspects or stage.can_close)


def admitted(
    stage: CompiledStage, micro_batch: MicroBatch, cells: DataFrame | None, admission: Admission, times: TickTimes
) -> DataFrame | None:
    """The elements of a judged batch that are in time, of all inputs; None where no row is in a window."""
    strategy = strategy_of(stage)
    parts: dict[str, DataFrame] = {}
    for name, (rows, found) in micro_batch.items():
        part = stage.of_input(name)
        if strategy.has_elements(found):
            alive = pruned(part, where(rows, col(envelope.REASON).is_null()))
            parts[name] = apply(part.elements.elements(part.elements.judged(over(alive))), alive)
    if not parts:
        return None
    has_suspects = any(found.suspects > 0 for _, found in micro_batch.values())
    elements = strategy.admit(united(stage, parts), cells, admission, has_suspects)
    if not stage.stage.keeps_event_times:
        return elements
    return with_column(elements, AHEAD, ahead_of(times.output_watermark))


def keys_of(stage: CompiledStage, micro_batch: MicroBatch) -> DataFrame:
    """The keys of rows that may be elements, each once."""
    keys = []
    for name, (rows, _) in micro_batch.items():
        part = stage.of_input(name)
        alive = pruned(part, where(rows, col(envelope.REASON).is_null()))
        keys.append(apply(part.elements.elements(part.elements.judged(over(alive))), alive).select(KEY))
    return reduce(DataFrame.union, keys).distinct()


def _judged(
    stage: CompiledStage, rows: DataFrame, statistics: BatchStatistics, cells: DataFrame | None, admission: Admission
) -> tuple[BatchStatistics, list[DataFrame]]:
    letters: list[DataFrame] = []
    found = statistics.counters
    meets = statistics.suspects > 0 and cells is not None
    if not may_be_dead(stage, statistics):
        return statistics, letters
    judged = apply(stage.elements.judged(over(rows)), rows)
    if found.bad_expression:
        letters.append(dead_letters.failed(stage, judged))
    if found.late:
        letters.append(dead_letters.late(stage, judged, admission))
    if cells is not None and meets:
        met = dead_letters.late_by_cells(stage, judged, cells, admission)
        number = 0 if met is None else met.count()
        if met is not None and number:
            letters.append(met)
            statistics = replace(statistics, counters=found + Counters(late=number))
    if stage.can_close and cells is not None and strategy_of(stage).has_elements(statistics):
        letters.append(dead_letters.closed(stage, judged, cells, admission))
    return statistics, letters
