"""Times in columns as microseconds, in any session time zone.

Rules: docs/semantics.md#event-times-and-clocks, docs/pipeline-files.md#time-columns.
"""

from __future__ import annotations

from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, lit, when
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat, TimePattern
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME

_DATE_TIME = r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?"
_OFFSET = r"(Z|[+-]\d{2}(?::?\d{2})?)"


def micros(column: TimeColumn, kind: str) -> Column:
    """The column as bigint microseconds; null where it cannot be read or lies outside the years 1 to 9999."""
    first, *rest = map(col, column.columns)
    value = call("concat", first, " ", *rest) if rest else first
    match column.format:
        case TimePattern():
            read = _written(value, column.format, column.zone)
        case TimeFormat.ISO8601:
            read = _iso(value, column.zone)
        case TimeFormat.TIMESTAMP:
            read = _timestamp(value, kind, column.zone)
        case _:
            read = _whole(value, column.format) if kind in _WHOLE else _number(value, column.format)
    return when(read.between(bigint(EARLIEST_EVENT_TIME), bigint(LATEST_EVENT_TIME)), read)


def _iso(text: Column, zone: str | None) -> Column:
    """An ISO 8601 text: with an offset as it says, without one in the zone that is stated, else null."""
    with_offset = when(
        text.rlike(_DATE_TIME + _OFFSET + "$"), call("regexp_replace", text, r"([+-]\d{2}):?(\d{2})$", "$1:$2")
    )
    instant = call("unix_micros", with_offset.try_cast("timestamp"))
    if zone is None:
        return instant
    local = when(text.rlike(_DATE_TIME + "$"), text).try_cast("timestamp_ntz")
    return coalesce(instant, _local(local, zone))


def _written(text: Column, pattern: TimePattern, zone: str | None) -> Column:
    """A text that is written as a pattern says. Spark's own zone never counts: without an offset one of zero is put
    behind both, and what is read is then the time in `zone`.
    """
    if zone is None:
        return call("unix_micros", call("try_to_timestamp", text, str(pattern)))
    as_if_utc = call("try_to_timestamp", call("concat", text, " Z"), f"{pattern} X")
    return call("unix_micros", call("to_utc_timestamp", as_if_utc, zone))


def _local(local: Column, zone: str) -> Column:
    as_if_utc = Column(f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00', {local.text})")
    return call("unix_micros", call("to_utc_timestamp", call("timestamp_micros", as_if_utc), zone))


def _timestamp(value: Column, kind: str, zone: str | None) -> Column:
    if kind == "timestamp":
        return call("unix_micros", value)
    return _local(value.cast("timestamp_ntz"), zone or "UTC")


_MICROS_PER_UNIT = {
    TimeFormat.UNIX_S: "1000000", TimeFormat.UNIX_MS: "1000", TimeFormat.UNIX_US: "1", TimeFormat.UNIX_NS: "0.001",
}  # fmt: skip


_WHOLE = ("tinyint", "smallint", "int", "bigint")


def _whole(value: Column, unit: TimeFormat) -> Column:
    """The same of a whole number: decimals take several times as long."""
    if unit is TimeFormat.UNIX_NS:
        number = Column(f"({value.text} DIV 1000L)")
        return number - when((value < 0) & (Column(f"({value.text} % 1000L)") != 0), 1, 0)
    return call("try_multiply", value.cast("bigint"), bigint(int(_MICROS_PER_UNIT[unit])))


def _number(value: Column, unit: TimeFormat) -> Column:
    """A number of that unit, with decimals; floor to whole microseconds."""
    exact = value.try_cast("decimal(30,9)") * lit(_MICROS_PER_UNIT[unit]).cast("decimal(10,3)")
    return call("floor", exact).try_cast("bigint")
