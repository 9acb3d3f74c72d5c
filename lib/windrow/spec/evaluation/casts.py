"""Casts as Spark has them with ANSI on: what cannot be read has failed.

A timestamp is microseconds since 1970, as everywhere in windrow. Of texts only those are read as times, and as numbers,
of which there is one reading: of others nobody says anything here.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from windrow.spec.evaluation.kinds import FLOATING, INTEGERS, Failed, NotEvaluated, checked, decimal_parts, is_numeric
from windrow.spec.times import SECOND, micros_of

_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def cast(value: Any, source: str, target: str) -> Any:
    """A value of one type as one of another; null stays null. Raises Failed, and NotEvaluated."""
    if value is None or source == target:
        return value
    if target in ("date", "timestamp"):
        return _to_time(value, source, target)
    if target == "boolean" and (is_numeric(source) or source == "string"):
        return _to_boolean(value)
    if target == "string":
        return _to_text(value, source)
    if is_numeric(target) and (is_numeric(source) or source in ("string", "boolean")):
        return _to_number(value, target)
    if source == "timestamp" and target == "bigint":
        return value // SECOND
    raise NotEvaluated(f"cast from {source} to {target}")


def date_of(micros: int) -> date:
    """The date of a timestamp, in UTC."""
    return moment_of(micros).date()


def moment_of(micros: int) -> datetime:
    """A timestamp as Python's. Raises NotEvaluated outside of the years that Python knows."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        raise NotEvaluated("a time outside of the years 1 to 9999") from None


def _to_boolean(value: Any) -> bool:
    if not isinstance(value, str):
        return bool(value)
    text = value.strip().lower()
    if text not in (*_TRUE, *_FALSE):
        raise Failed(f"{value!r} is no boolean")
    return text in _TRUE


def _to_text(value: Any, source: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if source in INTEGERS or decimal_parts(source):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if source == "date":
        return str(value)
    if source == "timestamp":
        text = moment_of(value).replace(tzinfo=None).isoformat(" ")
        return text.rstrip("0") if "." in text else text
    raise NotEvaluated(f"cast from {source} to string")


def _to_time(value: Any, source: str, target: str) -> Any:
    if source == "timestamp":
        return date_of(value)
    if source == "date":
        return (value.toordinal() - _EPOCH.toordinal()) * 24 * 3600 * SECOND
    if source != "string":
        raise NotEvaluated(f"cast from {source} to {target}")
    text = value.strip()
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            return day if target == "date" else _to_time(day, "date", target)
        if target == "timestamp" and _TIME.fullmatch(text):
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
            return micros_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except ValueError as error:
        raise Failed(f"{value!r} is no {target}") from error
    raise NotEvaluated(f"the text {value!r} as a {target}")


def _to_number(value: Any, target: str) -> Any:
    if isinstance(value, str):
        value = _read(value.strip(), target)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and target not in FLOATING:
        if not math.isfinite(value):
            raise Failed(f"{value} is no {target}")
        value = Decimal(repr(value)) if decimal_parts(target) else math.trunc(value)
    if isinstance(value, Decimal) and target in INTEGERS:
        value = math.trunc(value)
    return checked(value, target)


def _read(text: str, target: str) -> Any:
    if target in INTEGERS:
        if not _WHOLE.fullmatch(text):
            raise Failed(f"{text!r} is no {target}")
        return int(text)
    if _NUMBER.fullmatch(text):
        return Decimal(text) if decimal_parts(target) else float(text)
    if target in FLOATING:  # Java reads some texts here that are no numbers elsewhere
        raise NotEvaluated(f"the text {text!r} as a {target}")
    raise Failed(f"{text!r} is no {target}")
