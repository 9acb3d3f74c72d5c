"""What a source does, in words. Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks."""

from __future__ import annotations

from windrow.spec.expressions.plain import plain
from windrow.spec.sources.source import Source, Unknown
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat, TimePattern
from windrow.spec.sources.watermarks import Watermark
from windrow.view.plan.tables import WRITES, tables_of_source, writes
from windrow.view.text.sections import Section
from windrow.view.text.times import length

_UNITS = {
    TimeFormat.TIMESTAMP: "a timestamp",
    TimeFormat.ISO8601: "ISO 8601",
    TimeFormat.UNIX_S: "seconds since 1970",
    TimeFormat.UNIX_MS: "milliseconds since 1970",
    TimeFormat.UNIX_US: "microseconds since 1970",
    TimeFormat.UNIX_NS: "nanoseconds since 1970",
}


def source_section(source: Source, lake: str | None) -> Section:
    """What is read, which times the rows have, how the watermark is made, and where the rows go.

    A source by itself has no lake.
    """
    return Section(
        f"Source {source.name}",
        [
            ("reads", [source.connector.words()]),
            ("columns", _columns(source)),
            ("event time", _event_time(source)),
            ("arrival time", [_arrival_time(source)]),
            ("weight", _weight(source)),
            ("watermark", _watermark(source)),
            ("size", [] if source.size is None else [f"{plain(source.size)} bytes a row, for triggers on bytes"]),
            (WRITES, writes(source.name, lake, tables_of_source(source))),
        ],
    )


def _columns(source: Source) -> list[str]:
    lines = [source.schema.ddl.replace("`", "")]
    own = ", ".join(f"{name} {kind}" for name, kind in source.connector.beside.items())
    lines += [f"and beside them {own}"] if own else []
    lines += [f"a field {name} is {column}" for name, column in source.rename.items()]
    lines += [f"{name} is {_value(value)} where a row has no value" for name, value in source.defaults.items()]
    if source.unknown is Unknown.REJECT:
        lines.append("a row with a field that is none of them is a dead letter rejected")
    elif source.connector.has_json:
        lines.append("fields that are none of them are kept, as JSON in _rescued")
    return lines


def _value(value: object) -> str:
    """A value as YAML writes it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _event_time(source: Source) -> list[str]:
    if source.event_time is None:
        return ["the arrival time"]
    return [f"{_column(source.event_time)}; a row without one is a dead letter bad_timestamp"]


def _arrival_time(source: Source) -> str:
    if source.arrival_time is None:
        return "the clock when the row lands"
    return f"{_column(source.arrival_time)}: a history is replayed as it arrived"


def _weight(source: Source) -> list[str]:
    if source.weight is None:
        return []
    return [f"{source.weight}: +1, or -1 for a row that takes one back; any other is a dead letter bad_expression"]


def _column(column: TimeColumn) -> str:
    names = " and ".join(column.columns)
    if isinstance(column.format, TimePattern):
        return f"{names} (written as {column.format}{'' if column.zone is None else f', in {column.zone}'})"
    zone = f"; {column.zone} where a time has no offset of its own" if column.zone is not None else ""
    return f"{names} ({_UNITS[column.format]}{zone})"


def _watermark(source: Source) -> list[str]:
    rule = source.watermark
    lines = [f"{_rule(rule)}{_partitions(source)}"]
    if rule.idle_timeout is not None:
        parts = source.partition is not None or source.connector.HAS_PARTITIONS
        whose = "a source partition that sends nothing" if parts else "when nothing comes"
        then = "holds it back no more" if parts else "the windows that have begun are completed"
        lines.append(f"{whose} for {length(rule.idle_timeout)}{'' if parts else ','} {then}")
    return lines + _future(source)


def _future(source: Source) -> list[str]:
    """How far ahead of its arrival a row may be, and who says so."""
    if source.max_future is not None:
        ahead = f"more than {length(source.max_future)} ahead of its arrival"
        default = " (the default of max_future)" if source.watermark.max_future is None else ""
        return [f"a row {ahead} is a dead letter future_timestamp and moves no watermark{default}"]
    if source.event_time is None:
        return []
    return ["a row may be any time ahead of its arrival, and then moves the watermark there (max_future: none)"]


def _rule(rule: Watermark) -> str:
    if rule.processing_time:
        return "the clock itself"
    if rule.punctuated is not None:
        return f"the greatest that rows assert: {rule.punctuated.text}"
    if rule.fixed_lag is not None:
        return f"{length(rule.fixed_lag)} behind the clock"
    return f"{length(rule.bounded_delay or 0)} behind the greatest event time that was seen"


def _partitions(source: Source) -> str:
    if source.connector.HAS_PARTITIONS:
        return ", the least over the topic's partitions (source partitions)"
    return "" if source.partition is None else f", the least over the values of {source.partition} (source partitions)"
