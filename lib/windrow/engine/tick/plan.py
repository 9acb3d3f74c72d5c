"""A batch of rows as one tick: what it assigns, the transitions, and the dead letters, as frames that nobody has run.

This is the one place where a tick is put together; stream, transcripts and backfill differ in what they do with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import any_of, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.frames import apply, over, where
from windrow.engine.tick import dead_letters
from windrow.engine.tick.admission import Held, has_window_in
from windrow.engine.tick.cogroups import united
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.published import Span
from windrow.engine.tick.statistics import Survey
from windrow.engine.tick.survey import survey
from windrow.engine.tick.tick import tick
from windrow.engine.windows.registry import strategy_of
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import percentiles_of

SURVEYED = (envelope.EVENT_TIME, envelope.ARRIVAL_TIME, envelope.PARTITION, envelope.REASON)


DeadLetters = Mapping[str, list[DataFrame]]
"""Dead letters by the inputs of their rows: a frame for each branch of the plan that finds some."""


@dataclass(frozen=True)
class TickPlan:
    """What a tick writes: transitions of cells (None where no cell is asked) and dead letters.

    `counters` have all late pairs, those too that only the cells could show; those that are closed are not counted yet.
    """

    transitions: DataFrame | None
    dead: DeadLetters = field(default_factory=dict)
    counters: Counters = NOTHING


Batch = Mapping[str, tuple[DataFrame, Survey]]
"""The rows of a tick with what was found in them, by the inputs of the stage."""


def surveyed(stage: CompiledStage, parts: Mapping[str, DataFrame], held: Held) -> Batch:
    """The rows of each input, looked at."""
    return {name: (frame, survey_rows(stage.of_input(name), frame, held)) for name, frame in parts.items()}


def plan_tick(stage: CompiledStage, batch: Batch, cells: DataFrame | None, times: TickTimes, held: Held) -> TickPlan:
    """Plan a tick over rows with their envelope; a branch is planned only where the survey has found something."""
    judged, dead = judged_batch(stage, batch, cells, held)
    return TickPlan(transitions_of(stage, judged, cells, times, held), dead, counters_of(judged))


def counters_of(batch: Batch) -> Counters:
    """What the rows of all inputs count together."""
    return sum((found.counters for _, found in batch.values()), NOTHING)


def transitions_of(
    stage: CompiledStage, batch: Batch, cells: DataFrame | None, times: TickTimes, held: Held
) -> DataFrame | None:
    """The transitions that the elements of a batch make whose late pairs are counted; None where no cell is asked."""
    strategy = strategy_of(stage)
    elements: dict[str, DataFrame] = {}
    for name, (rows, found) in batch.items():
        part = stage.of_input(name)
        if strategy.has_elements(found):
            alive = pruned(part, where(rows, col(envelope.REASON).is_null()))
            elements[name] = apply(part.elements.elements(part.elements.judged(over(alive))), alive)
    whole = united(elements, stage.element_types) if elements else None
    if whole is not None:
        has_suspects = any(found.suspects > 0 for _, found in batch.values())
        whole = strategy.admit(whole, cells, held, has_suspects)
    if whole is None and cells is None:
        return None
    return tick(stage, cells, whole, times, held)


def judged_batch(stage: CompiledStage, batch: Batch, cells: DataFrame | None, held: Held) -> tuple[Batch, DeadLetters]:
    """The batch with all late pairs counted, those too that only the cells could show; and its dead letters."""
    dead: dict[str, list[DataFrame]] = {}
    judged: dict[str, tuple[DataFrame, Survey]] = {}
    for name, (rows, found) in batch.items():
        found, dead[name] = _dead(stage.of_input(name), rows, found, cells, held)
        judged[name] = rows, found
    return judged, dead


def survey_rows(stage: CompiledStage, rows: DataFrame, held: Held) -> Survey:
    """What a batch of rows holds, in one pass over the columns that the stage uses."""
    return survey(stage, judged_rows(stage, rows), held)


def judged_rows(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """The rows as the stage sees them, with only the columns that it uses."""
    used = pruned(stage, rows)
    return apply(stage.elements.judged(over(used)), used)


def judged_in_windows(stage: CompiledStage, rows: DataFrame, spans: tuple[Span, ...]) -> DataFrame | None:
    """Rows as the stage sees them, of the windows that start in the spans, those in gaps between them too.

    None without a window.
    """
    at = col(envelope.EVENT_TIME)
    times = [time for span in spans for time in [stage.windows.span(*span)] if time is not None]
    if not times:
        return None
    judged = judged_rows(stage, rows)
    inside = where(judged, any_of(at.between(bigint(first), bigint(end - 1)) for first, end in times))
    return inside if stage.windows.is_aligned else where(inside, has_window_in(stage.windows, at, spans))


def pruned(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """The columns that the stage uses, and of the envelope those that the survey looks at."""
    asserting = () if stage.assertion is None else stage.assertion.columns_read
    used = {name.lower() for name in (*stage.elements.columns_read, *asserting)}
    return rows.select(*[name for name in rows.columns if name in SURVEYED or name.lower() in used])


def active(clock: StageClock, rule: Watermark) -> tuple[int, ...]:
    """The watermarks of the source partitions that are not idle."""
    idle = clock.idle(rule)
    return tuple(w for name, w in clock.partition_watermarks(rule).items() if name not in idle)


def moved(clock: StageClock, rule: Watermark, stage: Stage) -> StageClock:
    """The clock with the watermark that the rule gives now, and those of the percentiles that the stage names."""
    generated = {percentile: clock.generated(rule, percentile) for percentile in percentiles_of(stage.trigger)}
    return clock.with_watermark(clock.generated(rule), stage.allowed_lateness).with_percentiles(generated)


def _dead(
    stage: CompiledStage, rows: DataFrame, batch: Survey, cells: DataFrame | None, held: Held
) -> tuple[Survey, list[DataFrame]]:
    dead: list[DataFrame] = []
    found = batch.counters
    meets = batch.suspects > 0 and cells is not None
    if not (found.bad_expression or found.late or meets or stage.can_close):
        return batch, dead
    judged = apply(stage.elements.judged(over(rows)), rows)
    if found.bad_expression:
        dead.append(dead_letters.failed(stage, judged))
    if found.late:
        dead.append(dead_letters.late(stage, judged, held))
    if cells is not None and meets:
        met = dead_letters.meeting_expired(stage, judged, cells, held)
        number = met.count()
        if number:
            dead.append(met)
            batch = replace(batch, counters=found + Counters(late=number))
    if stage.can_close and cells is not None and strategy_of(stage).has_elements(batch):
        dead.append(dead_letters.closed(stage, judged, cells, held))
    return batch, dead
