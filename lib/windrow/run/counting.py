"""Where rows went, counted for the audits of a backfill: those that a run has landed, and those of its windows."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from windrow.compile import envelope
from windrow.compile.sql import call, col
from windrow.engine.batch import judged_in_windows
from windrow.engine.frames import group, where
from windrow.engine.held import Held, Span
from windrow.engine.survey import survey
from windrow.run.recompute import rows_of
from windrow.run.work import StageWork
from windrow.store.raw import Raw


def landed(spark: SparkSession, raw: Raw, after: int, until: int) -> dict[str, object]:
    """How many rows the landing steps after < step <= until hold, and how many of each reason why they are dead.

    The two are counted apart, so that the sum on a report's page says something.
    """
    if after >= until:
        return {"after": after, "until": until, "read": 0, "rows": {}}
    rows = raw.rows(spark, after, until)
    return {"after": after, "until": until, "read": rows.count(), "rows": _by_reason(rows)}


def in_windows(spark: SparkSession, item: StageWork, spans: tuple[Span, ...], raw_step: int) -> dict[str, object]:
    """What became of the rows that fall into the windows which start in the spans; nothing without a window."""
    rows = rows_of(item, spans, item.runner.upstream.rows(spark, 0, raw_step))
    inside = judged_in_windows(item.runner.stage, rows, spans)
    if inside is None:
        return {}
    counts = survey(item.runner.stage, inside, Held())
    counted = ("read", "dead", "bad_expression", "filtered", "unassigned", "kept", "assigned")
    dead = _by_reason(where(inside, col(envelope.REASON).is_not_null())) if counts.dead else {}
    return {**{name: getattr(counts, name) for name in counted}, "reasons": dead}


def _by_reason(rows: DataFrame) -> dict[str, int]:
    """The number of rows by the reason why they are dead; those that live have none."""
    counts = group(rows, (envelope.REASON,), {"n": call("count", 1)}).collect()
    return {row[envelope.REASON] or "": row["n"] for row in counts}
