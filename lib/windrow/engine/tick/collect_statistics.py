"""The small aggregate in front of a tick: one pass over pruned columns, one row for each source partition."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

from windrow.compile.elements import envelope
from windrow.compile.elements.elements import FAILED, KEPT
from windrow.compile.sql.columns import Column, Value, bigint, call, coalesce, col, lit, null, when
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import group
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import KNOWN_AT_COMMIT, Counters
from windrow.engine.tick.statistics import BatchStatistics, LandedRows
from windrow.engine.windows.registry import strategy_of
from windrow.spec.times import MINUS_INFINITY


def collect_statistics(stage: CompiledStage, judged: DataFrame, admission: Admission) -> BatchStatistics:
    """The statistics of judged rows (`CompiledElements.judged`), each counted in exactly one place.

    Rule: docs/semantics.md#where-every-row-is.
    """
    return _summed(stage, counted(stage, judged, admission).collect())


def known_statistics(stage: CompiledStage, landed: LandedRows, admission: Admission) -> BatchStatistics | None:
    """The statistics of rows that are all elements, each in so many windows, and none late, but for dead ones.

    None where others may be.

    A stage that looks at its rows (a condition, an expression that may fail, an event time of its own) has to count.
    """
    elements, windows = stage.elements, stage.windows
    looks = elements.stage.where is not None or elements.stage.explode or elements.stage.element_time is not None
    if looks or elements.can_fail or stage.assertion is not None or admission.by_backfill:
        return None
    number = windows.windows_of_each(landed.earliest, admission.expired_end)
    if number is None:
        return None
    return BatchStatistics(
        counters=Counters(
            read=landed.rows + landed.dead, dead_rows=landed.dead, kept=landed.rows, assigned=number * landed.rows
        ),
        earliest=landed.earliest,
        latest=landed.latest,
        latest_end=windows.greatest_end(landed.latest),
        greatest_arrival=landed.greatest_arrival,
        greatest=landed.greatest,
        arrivals=landed.arrivals,
    )


def statistics_by(stage: CompiledStage, judged: DataFrame, column: str) -> dict[int | None, BatchStatistics]:
    """The statistics of judged rows, none of which is late, for each value of a column of whole numbers."""
    found: dict[int | None, list[Row]] = {}
    for row in counted(stage, judged, Admission(), (column,)).collect():
        found.setdefault(row[column], []).append(row)
    return {value: _summed(stage, rows) for value, rows in found.items()}


def counted(stage: CompiledStage, judged: DataFrame, admission: Admission, by: tuple[str, ...] = ()) -> DataFrame:
    """The statistics of judged rows, by source partition, and by these columns."""
    at = col(envelope.EVENT_TIME)
    alive = col(envelope.REASON).is_null()
    works = alive & ~col(FAILED)
    kept = works & col(KEPT)
    windows = stage.windows.assigned(at)
    assigned = kept & (windows > 0)
    asserted = stage.assertion
    return group(
        judged,
        (*by, envelope.PARTITION),
        {
            "read": call("count", 1),
            "dead_rows": _number(~alive),
            "bad_expression": _number(alive & col(FAILED)),
            "bad_gap": _number(alive & col(FAILED) & (stage.elements.why == lit("bad_gap"))),
            "filtered": _number(works & ~col(KEPT)),
            "unassigned": _number(kept & (windows == 0)),
            "kept": _number(kept),
            "assigned": _number(assigned, windows),
            "late": _number(assigned, admission.late(stage.windows, at)),
            "suspects": _number(assigned & strategy_of(stage).suspect(at, admission)),
            "earliest": call("min", when(assigned, at)),
            "latest": call("max", when(assigned, at)),
            "greatest": call("max", when(works, stage.elements.source_time)),
            "asserted": null("bigint") if asserted is None else call("max", when(works, asserted.column)),
            "greatest_arrival": call("max", col(envelope.ARRIVAL_TIME)),
            "arrival": call("max", when(works, col(envelope.ARRIVAL_TIME))),
            **_latest_end(stage, assigned, at),
        },
    )


def _latest_end(stage: CompiledStage, assigned: Column, event_time: Column) -> dict[str, Column]:
    """The greatest end of a window, where the latest element need not have it."""
    if stage.windows.is_aligned:
        return {}
    return {"latest_end": call("max", when(assigned, stage.windows.last_end(event_time)))}


def _number(condition: Column, what: Value = 1) -> Column:
    return coalesce(call("sum", when(condition, what)), bigint(0))


def _summed(stage: CompiledStage, rows: list[Row]) -> BatchStatistics:
    latest = _greatest(rows, "latest")
    aligned_end = stage.windows.greatest_end(latest) if stage.windows.is_aligned and latest is not None else None
    arrival = _greatest(rows, "greatest_arrival")
    return BatchStatistics(
        counters=Counters(**{name: sum(row[name] for row in rows) for name in KNOWN_AT_COMMIT}),
        suspects=sum(row["suspects"] for row in rows),
        earliest=min((row["earliest"] for row in rows if row["earliest"] is not None), default=None),
        latest=latest,
        latest_end=aligned_end if stage.windows.is_aligned else _greatest(rows, "latest_end"),
        greatest_arrival=MINUS_INFINITY if arrival is None else arrival,
        asserted={row[envelope.PARTITION]: row["asserted"] for row in rows if row["asserted"] is not None},
        greatest={row[envelope.PARTITION]: row["greatest"] for row in rows if row["greatest"] is not None},
        arrivals={row[envelope.PARTITION]: row["arrival"] for row in rows if row["arrival"] is not None},
    )


def _greatest(rows: list[Row], name: str) -> int | None:
    return max((row[name] for row in rows if row[name] is not None), default=None)
