"""Where rows went, counted for the audits of a backfill: those that a run has landed, and those of its windows."""

from __future__ import annotations

from collections import Counter

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import call, col
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.windows.recomputed import rows_of
from windrow.engine.frames import group, where
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.collect_statistics import collect_statistics
from windrow.engine.tick.inputs import parted
from windrow.engine.tick.micro_batch import judged_in_windows
from windrow.engine.tick.published import Span
from windrow.engine.tick.statistics import BatchStatistics, summed
from windrow.store.upstream.offsets import Offsets
from windrow.store.upstream.raw import Raw


def landed(spark: SparkSession, raw: Raw, after: int, until: int) -> dict[str, object]:
    """How many rows the landing steps after < step <= until hold, and how many of each reason why they are dead.

    The two are counted apart, so that the sum on a report's page says something.
    """
    if after >= until:
        return {"after": after, "until": until, "read": 0, "rows": {}}
    rows = raw.rows(spark, after, until)
    return {"after": after, "until": until, "read": rows.count(), "rows": _by_reason(rows)}


def in_windows(spark: SparkSession, item: StageWork, spans: tuple[Span, ...], until: Offsets) -> dict[str, object]:
    """What became of the rows, up to there, of the windows which start in the spans; nothing without a window."""
    rows = rows_of(item, spans, item.runner.upstream.rows(spark, until))
    statistics: list[BatchStatistics] = []
    reasons: Counter[str] = Counter()
    for name, frame in parted(item.runner.stage, rows).items():
        part = item.runner.stage.of_input(name)
        inside = judged_in_windows(part, frame, spans)
        if inside is None:
            return {}
        statistics.append(collect_statistics(part, inside, Admission()))
        if statistics[-1].counters.dead_rows:
            reasons.update(_by_reason(where(inside, col(envelope.REASON).is_not_null())))
    return {**summed(statistics).counters.known_at_commit, "reasons": dict(reasons)}


def _by_reason(rows: DataFrame) -> dict[str, int]:
    """The number of rows by the reason why they are dead; those that live have none."""
    counts = group(rows, (envelope.REASON,), {"n": call("count", 1)}).collect()
    return {row[envelope.REASON] or "": row["n"] for row in counts}
