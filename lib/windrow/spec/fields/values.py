"""Values of columns as users write them in YAML, read as Python values of their column's type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME, parse_decimal, parse_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_DECIMAL = re.compile(r"decimal(?:\((\d+)(?:,\s*(\d+))?\))?")


def read_value(kind: str, value: Any) -> Any:
    """The value of a column of the type `kind` (in Spark's spelling); null is always one. Errors: SpecError.

    Whole numbers are `int`, `float` and `double` are `float`, decimals `Decimal`, a timestamp is a `datetime` in UTC
    (without a zone for `timestamp_ntz`), a date is a `date`, binary the bytes of a text in UTF-8.
    """
    if value is None:
        return None
    if kind in _BITS:
        return _whole_number(kind, value)
    if kind.startswith("decimal"):
        return _decimal(kind, value)
    if kind.startswith(("array", "map", "struct")):
        return _nested(kind, value)
    return _READERS[kind](value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise SpecError("", "must be a text", value)
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise SpecError("", "must be a number", value)
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SpecError("", "must be true or false", value)
    return value


def _whole_number(kind: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SpecError("", "must be a whole number", value)
    limit = 2 ** (_BITS[kind] - 1)
    if not -limit <= value < limit:
        raise SpecError("", f"does not fit a {kind}", value)
    return value


def _decimal(kind: str, value: Any) -> Decimal:
    match = _DECIMAL.fullmatch(kind)
    if match is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SpecError("", f"must be a {kind}", value)
    precision, scale = int(match[1] or 10), int(match[2] or 0)
    number = parse_decimal(value)
    if not number.is_finite() or _digits(number)[0] > precision - scale:
        raise SpecError("", f"does not fit a {kind}", value)
    if _digits(number)[1] > scale:
        raise SpecError("", f"has more digits than a {kind}", value)
    return number


def _digits(number: Decimal) -> tuple[int, int]:
    """How many digits stand in front of the point and behind it, zeros at both ends left aside.

    By hand, because arithmetic would round to the 28 digits of the context.
    """
    _, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    significant = written.rstrip("0")
    power = int(exponent) + len(written) - len(significant)
    return max(len(significant) + power, 0), max(-power, 0) if significant else 0


def _timestamp(value: Any) -> datetime:
    micros = parse_time(value)
    if not EARLIEST_EVENT_TIME <= micros <= LATEST_EVENT_TIME:
        raise SpecError("", "must be in the years 1 to 9999", value)
    return _EPOCH + timedelta(microseconds=micros)


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(_text(value))
    except ValueError as error:
        raise SpecError("", "must be a date", value, "for instance 2000-01-01") from error


def _nested(kind: str, value: Any) -> Any:
    is_array = kind.startswith("array")
    if not isinstance(value, list if is_array else Mapping):
        raise SpecError("", "must be a list" if is_array else "must be a mapping", value)
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "boolean": _flag,
    "float": _number,
    "double": _number,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": lambda value: _timestamp(value).replace(tzinfo=None),
    "binary": lambda value: bytes(_text(value), "utf-8"),
}
