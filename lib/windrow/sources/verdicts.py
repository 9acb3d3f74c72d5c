"""The envelope and the verdict of every row that was read: null, or the first reason why it is dead.

Rule: docs/semantics.md#where-every-row-is. A row is judged against its arrival time, once and for all, when it lands.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.elements.row_rules import broken_names, is_broken
from windrow.compile.sql.columns import Column, Value, bigint, call, changing, coalesce, col, lit, null, when
from windrow.engine.frames import apply, literals, over
from windrow.sources.times import micros
from windrow.spec.quality.expectations import Expectation
from windrow.spec.sources.source import RESCUED, Source, Unknown
from windrow.spec.times import format_duration

Rules = tuple[Expectation, ...]
"""The expectations of a source's suite that judge each row."""

UNREADABLE_FILE = "unreadable_file"
"""The reason of the one row that stands for a file which could not be read."""


def landed(source: Source, rows: DataFrame, step: int, clock: int, rules: Rules = ()) -> DataFrame:
    """Rows as `raw` holds them. `clock` is the arrival time of rows that have none of their own, in microseconds.

    `rules` are the expectations of the source's suite that judge each row.
    """
    partition = call("spark_partition_id").cast("bigint")  # of no column of every connector may a value be null
    number, at = (changing(value, partition) for value in (step, clock))
    return judged(source, rows, number, call("monotonically_increasing_id"), at, {rules: None})


def judged(
    source: Source, rows: DataFrame, step: Column, row: Column, clock: Column, rules: Mapping[Rules, Column | None]
) -> DataFrame:
    """The same of rows that say themselves of which step they are, and which of its rows.

    `rules` are those that judge each row, with the condition for which rows they do; None stands for all.
    """
    latest = None if source.max_ahead is None else clock + bigint(source.max_ahead)
    arrival = clock if source.arrival_time is None else _time(source, "arrival_time")
    arrival = arrival if latest is None else when(arrival <= latest, arrival)
    event_time = col(envelope.ARRIVAL_TIME) if source.event_time is None else _time(source, "event_time")
    partition = _partition(source)
    chain = over(rows).with_columns({envelope.ARRIVAL_TIME: arrival})
    chain = chain.with_columns({envelope.EVENT_TIME: event_time, envelope.PARTITION: partition})
    types = {**(dict(rows.dtypes) if any(rules) else {}), **source.columns}  # of columns that it had once, too
    verdicts = _verdicts(source, types, rules, latest)
    reason = coalesce(*[when(broken, name) for broken, name, _ in verdicts])
    rule = coalesce(*[when(broken, words) for broken, _, words in verdicts])
    chain = chain.with_columns({envelope.REASON: reason, envelope.RULE: rule})
    chain = chain.with_columns({envelope.STEP: step, envelope.ROW: row})
    return apply(chain.only((*envelope.ENVELOPE, *source.columns)), rows)


def unread(spark: SparkSession, source: Source, failed: Mapping[str, str], step: int, clock: int) -> DataFrame:
    """One dead row for each file that could not be read, by its offset, with the reason as its text.

    It has no time but that of its arrival, and not even that where arrival times are a column: those are the clock of
    a history. Its row number is below zero, where no row that was read has one.
    """
    arrival = bigint(clock) if source.arrival_time is None else null("bigint")
    own = {name: null(kind) for name, kind in source.columns.items()}
    rows = [
        {
            envelope.STEP: bigint(step), envelope.ROW: bigint(-number), envelope.EVENT_TIME: null("bigint"),
            envelope.ARRIVAL_TIME: arrival, envelope.PARTITION: null("string"), envelope.OFFSET: lit(offset),
            envelope.REASON: lit(UNREADABLE_FILE), envelope.RULE: lit("a file that can be read"),
            envelope.RAW: lit(why), **own,
        }
        for number, (offset, why) in enumerate(failed.items(), 1)
    ]  # fmt: skip
    return literals(spark, rows)


def _time(source: Source, field: str) -> Column:
    column = getattr(source, field)
    return micros(column, source.columns[column.column])


def _partition(source: Source) -> Column:
    """The source partition of a row: the connector's own, or the value of the column that is named."""
    if source.connector.HAS_PARTITIONS:
        return col(envelope.PARTITION)
    return null("string") if source.partition is None else col(source.partition).cast("string")


def _verdicts(
    source: Source, types: Mapping[str, str], rules: Mapping[Rules, Column | None], latest: Column | None
) -> list[tuple[Column, str, Value]]:
    """Condition, reason and rule, in the order in which the first that holds counts. No arrival is behind `latest`."""
    verdicts: list[tuple[Column, str, Value]] = []
    verdicts.append((col(envelope.RAW).is_not_null(), "unreadable", f"a row of {source.schema.ddl}"))
    if source.unknown is Unknown.REJECT:
        verdicts.append((col(RESCUED).is_not_null(), "rejected", "a row with no fields but those of the schema"))
    for some, applies in rules.items():
        if some:
            broken = is_broken(some, types)
            broken = broken if applies is None else applies & broken
            verdicts.append((broken, "rejected", broken_names(some, types)))
    if source.arrival_time is not None:
        column = source.arrival_time
        if latest is not None and source.max_ahead is not None:
            rule = f"the arrival time is at most {format_duration(source.max_ahead)} after the clock"
            verdicts.append((_time(source, "arrival_time") > latest, "future_timestamp", rule))
        rule = f"{' and '.join(column.columns)} is an arrival time ({column.format})"
        verdicts.append((col(envelope.ARRIVAL_TIME).is_null(), "bad_timestamp", rule))
    if source.event_time is not None:
        column = source.event_time
        rule = f"{' and '.join(column.columns)} is an event time ({column.format})"
        verdicts.append((col(envelope.EVENT_TIME).is_null(), "bad_timestamp", rule))
    if source.max_future is not None:
        latest = col(envelope.ARRIVAL_TIME) + bigint(source.max_future)
        rule = f"the event time is at most {format_duration(source.max_future)} after the arrival"
        verdicts.append((col(envelope.EVENT_TIME) > latest, "future_timestamp", rule))
    if source.weight is not None:
        wrong = ~coalesce(call("abs", col(source.weight).cast("bigint")) == 1, False)
        verdicts.append((wrong, "bad_expression", f"{source.weight} is +1 or -1"))
    return verdicts
