"""The rows of a tick as its stage sees them, with what was found in them before the tick."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import any_of, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, over, where
from windrow.engine.tick.admission import Held, has_window_in
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.published import Span
from windrow.engine.tick.statistics import Survey
from windrow.engine.tick.survey import survey

SURVEYED = (envelope.EVENT_TIME, envelope.ARRIVAL_TIME, envelope.PARTITION, envelope.REASON)

Batch = Mapping[str, tuple[DataFrame, Survey]]
"""The rows of a tick with what was found in them, by the inputs of the stage."""

DeadLetters = Mapping[str, list[DataFrame]]
"""Dead letters by the inputs of their rows: a frame for each branch of the plan that finds some."""


def surveyed(stage: CompiledStage, parts: Mapping[str, DataFrame], held: Held) -> Batch:
    """The rows of each input, looked at."""
    return {name: (frame, survey_rows(stage.of_input(name), frame, held)) for name, frame in parts.items()}


def counters_of(batch: Batch) -> Counters:
    """What the rows of all inputs count together."""
    return sum((found.counters for _, found in batch.values()), NOTHING)


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
