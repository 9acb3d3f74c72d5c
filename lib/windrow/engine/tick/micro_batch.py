"""The rows of a tick as its stage sees them, with what was found in them before the tick."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import any_of, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, over, where
from windrow.engine.tick.admission import Admission, has_window_in
from windrow.engine.tick.collect_statistics import collect_statistics, known_statistics
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.published import Span
from windrow.engine.tick.statistics import BatchStatistics, LandedRows

STATISTICS_COLUMNS = (envelope.EVENT_TIME, envelope.ARRIVAL_TIME, envelope.PARTITION, envelope.REASON)

MicroBatch = Mapping[str, tuple[DataFrame, BatchStatistics]]
"""The rows of a tick with what was found in them, by the inputs of the stage."""

DeadLetters = Mapping[str, list[DataFrame]]
"""Dead letters by the inputs of their rows: a frame for each branch of the plan that finds some."""


def with_statistics(
    stage: CompiledStage,
    parts: Mapping[str, DataFrame],
    admission: Admission,
    landed: Mapping[str, LandedRows] | None = None,
) -> MicroBatch:
    """The rows of each input, with their statistics: by what is known since they landed, where that suffices."""
    found: dict[str, tuple[DataFrame, BatchStatistics]] = {}
    for name, frame in parts.items():
        part, rows = stage.of_input(name), (landed or {}).get(name)
        known = None if rows is None else known_statistics(part, rows, admission)
        found[name] = frame, statistics_of(part, frame, admission) if known is None else known
    return found


def counters_of(micro_batch: MicroBatch) -> Counters:
    """What the rows of all inputs count together."""
    return sum((found.counters for _, found in micro_batch.values()), NOTHING)


def statistics_of(stage: CompiledStage, rows: DataFrame, admission: Admission) -> BatchStatistics:
    """The statistics of rows, in one pass over the columns that the stage uses."""
    return collect_statistics(stage, judged_rows(stage, rows), admission)


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


def columns_used(stage: CompiledStage) -> frozenset[str]:
    """The columns of a source that a stage uses, in lower case."""
    asserting = () if stage.assertion is None else stage.assertion.columns_read
    return frozenset(name.lower() for name in (*stage.elements.columns_read, *asserting))


def pruned(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """The columns that the stage uses, and of the envelope those of `STATISTICS_COLUMNS`."""
    used = columns_used(stage)
    return rows.select(*[name for name in rows.columns if name in STATISTICS_COLUMNS or name.lower() in used])
