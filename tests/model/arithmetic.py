"""Arithmetic as Spark does it with ANSI on: what does not fit and what is divided by zero has failed."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

from tests.model.types import INTEGERS, adjusted, as_decimal, common, converted, decimal_parts
from tests.model.values import fits, rounded, single


class EvaluationFailed(Exception):
    """An expression failed on a row: a division by zero, a cast, an overflow."""


def result_type(operator: str, left: str, right: str) -> str:
    """The type of `left operator right`."""
    if operator == "div":
        return "bigint"
    kind = common(left, right)
    if not decimal_parts(kind):
        return "double" if operator == "/" else kind
    (p1, s1), (p2, s2) = as_decimal(left), as_decimal(right)
    match operator:
        case "*":
            return adjusted(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(6, s1 + p2 + 1)
            return adjusted(p1 - s1 + s2 + scale, scale)
        case "%":
            return adjusted(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))
    return adjusted(max(p1 - s1, p2 - s2) + max(s1, s2) + 1, max(s1, s2))


def calculate(operator: str, left: Any, right: Any, left_type: str, right_type: str) -> Any:
    """The value of `left operator right`: null if either is, else of the result's type."""
    if left is None or right is None:
        return None
    if operator in ("/", "%", "div") and right == 0:
        raise EvaluationFailed("a division by zero")
    kind = result_type(operator, left_type, right_type)
    exactly = common(left_type, right_type) if operator != "/" or decimal_parts(kind) else "double"
    with localcontext(prec=200):
        return checked(_apply(operator, converted(left, exactly), converted(right, exactly)), kind)


def _apply(operator: str, left: Any, right: Any) -> Any:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "%":
            return _remainder(left, right)
    return _whole_quotient(left, right)


def _remainder(left: Any, right: Any) -> Any:
    """With the sign of the dividend."""
    return math.fmod(left, right) if isinstance(left, float) else left - right * _whole_quotient(left, right)


def _whole_quotient(left: Any, right: Any) -> Any:
    """Towards zero."""
    quotient = abs(int(left // right) if isinstance(left, Decimal) else 0)
    if not isinstance(left, Decimal):
        quotient = int(abs(left) // abs(right))
    return quotient if (left < 0) == (right < 0) else -quotient


def checked(value: Any, kind: str) -> Any:
    """A number as a value of a type: rounded to its digits; failed if it does not fit."""
    if value is None:
        return None
    if kind in INTEGERS:
        limit = 2 ** (INTEGERS[kind] - 1)
        if not -limit <= value < limit:
            raise EvaluationFailed(f"{value} is no {kind}")
        return int(value)
    parts = decimal_parts(kind)
    if parts:
        value = rounded(Decimal(value), parts[1])
        if not fits(value, *parts):
            raise EvaluationFailed(f"{value} is no {kind}")
        return value
    return single(value) if kind == "float" else float(value)
