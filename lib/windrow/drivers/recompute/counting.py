"""Where rows went, counted for the audits of a backfill: those that a run has landed, and those of its windows."""

from __future__ import annotations

from collections import Counter
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.sql.columns import call, col
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.windows.recomputed import rows_of
from windrow.engine.frames import group, select, where
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.collect_statistics import collect_statistics
from windrow.engine.tick.inputs import parted
from windrow.engine.tick.micro_batch import judged_in_windows
from windrow.engine.tick.published import Span
from windrow.engine.tick.statistics import BatchStatistics, summed
from windrow.spec.quality.broken_rows import MOST
from windrow.store.upstream.offsets import Offsets
from windrow.store.upstream.raw import Raw

REJECTED = "rejected"
"""The reason of rows that a row rule has rejected, or that have fields of their own where none may."""


def landed(spark: SparkSession, raw: Raw, after: int, until: int) -> dict[str, object]:
    """How many rows the landing steps after < step <= until hold, and how many of each reason why they are dead.

    The two are counted apart, so that the sum on a report's page says something. Of the rejected ones also, how many
    of each rule and file, where they are most.
    """
    if after >= until:
        return {"after": after, "until": until, "read": 0, "rows": {}}
    rows = raw.rows(spark, after, until)
    found = {"after": after, "until": until, "read": rows.count(), "rows": (by_reason := _by_reason(rows))}
    return {**found, "rejected": _rejected(raw.dead(spark, after, until)) if REJECTED in by_reason else []}


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


def _rejected(dead: DataFrame) -> list[dict[str, object]]:
    """The rules that rejected most rows, by file."""
    rows = where(dead, col(envelope.REASON) == REJECTED)
    rows = select(rows, {"rule": col(envelope.RULE), "file": envelope.file_of()})
    most = group(rows, ("rule", "file"), {"rows": call("count", 1)}).orderBy("rows", ascending=False).limit(MOST)
    return [{**row.asDict(), "file": row["file"] and unquote(row["file"])} for row in most.collect()]
