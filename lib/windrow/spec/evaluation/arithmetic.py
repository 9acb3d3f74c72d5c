"""Operators between two numbers, as Spark has them with ANSI on: a value that does not fit has failed."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

from windrow.spec.evaluation.kinds import (
    Failed,
    NotEvaluated,
    adjusted,
    as_decimal,
    checked,
    common,
    converted,
    decimal_parts,
    is_numeric,
)

OPERATORS = frozenset({"+", "-", "*", "/", "%", "div"})


def result_kind(operator: str, left: str, right: str) -> str:
    """The type of `left operator right`. Raises NotEvaluated where they are no numbers, such as two times."""
    kind = common(left, right)
    if kind != "void" and not is_numeric(kind):
        raise NotEvaluated(f"{left} {operator} {right}")
    if operator == "div":
        return "bigint"
    if decimal_parts(kind) is None:
        return "double" if operator == "/" and kind != "void" else kind
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


def calculate(operator: str, left: Any, right: Any, kinds: tuple[str, str]) -> Any:
    """The value of `left operator right`, whose types are `kinds`: null if either is. Raises Failed."""
    if left is None or right is None:
        return None
    if operator in ("/", "%", "div") and right == 0:
        raise Failed("a division by zero")
    kind, both = result_kind(operator, *kinds), common(*kinds)
    exactly = "double" if operator == "/" and decimal_parts(kind) is None else both
    one, other = converted(left, exactly), converted(right, exactly)
    with localcontext(prec=200):
        return checked(_applied(operator, one, other), kind)


def _applied(operator: str, left: Any, right: Any) -> Any:
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
            return math.fmod(left, right) if isinstance(left, float) else left - right * _towards_zero(left, right)
    return _towards_zero(left, right)


def _towards_zero(left: Any, right: Any) -> int:
    if isinstance(left, Decimal):
        quotient = abs(int(left / right)) if left % right else abs(int(left // right))
    else:
        quotient = int(abs(left) // abs(right))
    return quotient if (left < 0) == (right < 0) else -quotient
