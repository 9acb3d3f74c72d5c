"""What a source does, in words. Rule: SEMANTICS sections 8 and 9."""

from __future__ import annotations

from windrow.spec.sources import FileFormat, Source, TimeColumn, TimeFormat
from windrow.spec.watermarks import Watermark
from windrow.view.text import Section
from windrow.view.times import length, many

_FORMATS = {FileFormat.JSON: "JSON lines", FileFormat.CSV: "CSV", FileFormat.PARQUET: "Parquet"}
_UNITS = {
    TimeFormat.TIMESTAMP: "a timestamp",
    TimeFormat.ISO8601: "ISO 8601",
    TimeFormat.UNIX_S: "seconds since 1970",
    TimeFormat.UNIX_MS: "milliseconds since 1970",
    TimeFormat.UNIX_US: "microseconds since 1970",
    TimeFormat.UNIX_NS: "nanoseconds since 1970",
}


def source_section(source: Source, lake: str) -> Section:
    """What is read, which times the rows have, how the watermark is made, and where the rows go."""
    return Section(
        f"Source {source.name}",
        [
            ("reads", [_reads(source)]),
            ("columns", [source.schema.ddl.replace("`", "")]),
            ("event time", _event_time(source)),
            ("arrival time", [_arrival_time(source)]),
            ("watermark", _watermark(source)),
            ("writes", _writes(source, lake)),
        ],
    )


def _reads(source: Source) -> str:
    files = source.files
    batch = many(files.max_files_per_batch, "file")
    header = ", without a header" if files.format is FileFormat.CSV and not files.header else ""
    return f"{_FORMATS[files.format]} in {files.path}{header}; a landing batch takes at most {batch}, the rest waits"


def _event_time(source: Source) -> list[str]:
    if source.event_time is None:
        return ["the arrival time"]
    return [f"{_column(source.event_time)}; a row without one is a dead letter bad_timestamp"]


def _arrival_time(source: Source) -> str:
    if source.arrival_time is None:
        return "the clock when the row lands"
    return f"{_column(source.arrival_time)}: a history is replayed as it arrived"


def _column(column: TimeColumn) -> str:
    zone = f"; {column.zone} where a time has no offset of its own" if column.zone is not None else ""
    return f"{column.column} ({_UNITS[column.format]}{zone})"


def _watermark(source: Source) -> list[str]:
    rule = source.watermark
    lines = [f"{_rule(rule)}{_partitions(source)}"]
    if rule.idle_timeout is not None:
        whose = "a source partition that sends nothing" if source.partition is not None else "when nothing comes"
        then = "holds it back no more" if source.partition is not None else "the windows that have begun are completed"
        lines.append(f"{whose} for {length(rule.idle_timeout)}{'' if source.partition else ','} {then}")
    if rule.max_future is not None:
        ahead = f"more than {length(rule.max_future)} ahead of its arrival"
        lines.append(f"a row {ahead} is a dead letter future_timestamp and moves no watermark")
    return lines


def _rule(rule: Watermark) -> str:
    if rule.processing_time:
        return "the clock itself"
    if rule.fixed_lag is not None:
        return f"{length(rule.fixed_lag)} behind the clock"
    return f"{length(rule.bounded_delay or 0)} behind the greatest event time that was seen"


def _partitions(source: Source) -> str:
    return "" if source.partition is None else f", the least over the values of {source.partition} (source partitions)"


def _writes(source: Source, lake: str) -> list[str]:
    return [
        f"{lake}/{source.name}/",
        "  raw: every row that was read, with its times and, where it is dead, the reason",
        "  dead_letters: the rows of raw that are dead",
        "  landings: one row a landing batch",
        "  dead_letters: the rows that are dead, for people",
        "  landings: one row a landing batch",
    ]
