"""Casts as Spark does them with ANSI on: what cannot be read has failed."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.model.arithmetic import EvaluationFailed, checked
from tests.model.types import INTEGERS, decimal_parts, is_numeric

_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")
_WHOLE = re.compile(r"[+-]?\d+")
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}


def cast(value: Any, source: str, target: str) -> Any:
    """The value as one of the type `target`; null stays null."""
    if value is None or source == target:
        return value
    if target == "boolean":
        return _to_boolean(value)
    if target == "string":
        return _to_text(value, source)
    if is_numeric(target) and not isinstance(value, date):
        return _to_number(value, target)
    if isinstance(value, str) and target in ("date", "timestamp"):
        return _to_moment(value.strip(), target)
    raise NotImplementedError(f"a cast from {source} to {target}")


def _to_boolean(value: Any) -> bool:
    if not isinstance(value, str):
        return bool(value)
    text = value.strip().lower()
    if text not in (*_TRUE, *_FALSE):
        raise EvaluationFailed(f"{value!r} is no boolean")
    return text in _TRUE


def _to_text(value: Any, source: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if source in INTEGERS or decimal_parts(source):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    raise NotImplementedError(f"a cast from {source} to string")


def _to_moment(text: str, target: str) -> date:
    """Only whole dates, and times in ISO 8601, which are in UTC where they have no offset."""
    try:
        if target == "date":
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise EvaluationFailed(f"{text!r} is no {target}") from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _to_number(value: Any, target: str) -> Any:
    if isinstance(value, str):
        value = _read_number(value.strip(), target)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and target not in ("float", "double"):
        if not math.isfinite(value):
            raise EvaluationFailed(f"{value} is no {target}")
        value = Decimal(repr(value)) if decimal_parts(target) else math.trunc(value)
    if isinstance(value, Decimal) and target in INTEGERS:
        value = math.trunc(value)
    return checked(value, target)


def _read_number(text: str, target: str) -> Any:
    if target in INTEGERS:
        if not _WHOLE.fullmatch(text):
            raise EvaluationFailed(f"{text!r} is no {target}")
        return int(text)
    sign = -1 if text.startswith("-") else 1
    special = _SPECIAL.get(text.lstrip("+-").lower())
    if special is not None and target in ("float", "double"):
        return sign * special
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise EvaluationFailed(f"{text!r} is no {target}") from error
    return number if decimal_parts(target) else float(number)
