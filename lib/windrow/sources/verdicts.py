"""The envelope and the verdict of every row that was read: null, or the first reason why it is dead.

Rule: SEMANTICS sections 2 and 9. A row is judged against its arrival time, once and for all, when it lands.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.compile import envelope
from windrow.compile.columns import bigint
from windrow.sources.times import micros
from windrow.spec.sources import Source


def landed(source: Source, rows: DataFrame, step: int, clock: int) -> DataFrame:
    """Rows as `raw` holds them. `clock` is the arrival time of rows that have none of their own, in microseconds."""
    arrival = bigint(clock) if source.arrival_time is None else _time(source, "arrival_time")
    event_time = F.col(envelope.ARRIVAL_TIME) if source.event_time is None else _time(source, "event_time")
    partition = F.lit(None).cast("string") if source.partition is None else F.col(f"`{source.partition}`").cast("string")
    timed = rows.withColumn(envelope.ARRIVAL_TIME, arrival).withColumn(envelope.EVENT_TIME, event_time)
    judged = timed.withColumns({envelope.REASON: _reason(source), envelope.RULE: _rule(source)})
    return judged.select(
        F.lit(step).cast("bigint").alias(envelope.STEP),
        F.monotonically_increasing_id().alias(envelope.ROW),
        envelope.EVENT_TIME,
        envelope.ARRIVAL_TIME,
        partition.alias(envelope.PARTITION),
        envelope.OFFSET,
        envelope.REASON,
        envelope.RULE,
        envelope.RAW,
        *[F.col(f"`{name}`") for name in source.schema],
    )


def _time(source: Source, field: str) -> Column:
    column = getattr(source, field)
    return micros(column, source.schema[column.column])


def _verdicts(source: Source) -> list[tuple[Column, str, str]]:
    """Condition, reason and rule, in the order in which the first that holds counts."""
    verdicts = [(F.col(envelope.RAW).isNotNull(), "unreadable", f"a row of {source.schema.ddl}")]
    if source.arrival_time is not None:
        column = source.arrival_time
        rule = f"{column.column} is an arrival time ({column.format})"
        verdicts.append((F.col(envelope.ARRIVAL_TIME).isNull(), "bad_timestamp", rule))
    if source.event_time is not None:
        column = source.event_time
        rule = f"{column.column} is an event time ({column.format})"
        verdicts.append((F.col(envelope.EVENT_TIME).isNull(), "bad_timestamp", rule))
    if source.watermark.max_future is not None:
        latest = F.col(envelope.ARRIVAL_TIME) + bigint(source.watermark.max_future)
        rule = f"the event time is at most {source.watermark.max_future} us after the arrival"
        verdicts.append((F.col(envelope.EVENT_TIME) > latest, "future_timestamp", rule))
    return verdicts


def _reason(source: Source) -> Column:
    return F.coalesce(*[F.when(broken, reason) for broken, reason, _ in _verdicts(source)])


def _rule(source: Source) -> Column:
    return F.coalesce(*[F.when(broken, rule) for broken, _, rule in _verdicts(source)])
