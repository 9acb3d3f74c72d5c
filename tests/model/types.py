"""SQL types of values, and which type comes out where two meet. Spark's rules, as far as the model needs them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from tests.model.values import single

INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
"""The integer types and their bits."""

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_MOST_DIGITS = 38
_LEAST_SCALE = 6


def decimal_parts(kind: str) -> tuple[int, int] | None:
    """(precision, scale) of a decimal type; None for any other."""
    match = _DECIMAL.fullmatch("decimal(10, 0)" if kind == "decimal" else kind)
    return (int(match[1]), int(match[2])) if match else None


def as_decimal(kind: str) -> tuple[int, int]:
    """(precision, scale) of the decimal type that holds all values of a decimal or integer type."""
    return decimal_parts(kind) or (_DIGITS[kind], 0)


def bounded(precision: int, scale: int) -> str:
    """The decimal type of that size, cut at 38 digits."""
    return f"decimal({min(precision, _MOST_DIGITS)}, {min(scale, _MOST_DIGITS)})"


def adjusted(precision: int, scale: int) -> str:
    """The decimal type of a result: where 38 digits are not enough, digits behind the point go first, down to six."""
    if precision <= _MOST_DIGITS:
        return f"decimal({precision}, {scale})"
    kept = max(_MOST_DIGITS - (precision - scale), min(scale, _LEAST_SCALE))
    return f"decimal({_MOST_DIGITS}, {kept})"


def is_numeric(kind: str) -> bool:
    return kind in INTEGERS or kind in ("float", "double") or decimal_parts(kind) is not None


def common(left: str, right: str) -> str:
    """The type of values of either type."""
    if left == right or right == "void":
        return left
    if left == "void":
        return right
    if not (is_numeric(left) and is_numeric(right)):
        raise NotImplementedError(f"{left} beside {right}")
    if {"float", "double"} & {left, right}:
        return "double"
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=lambda kind: INTEGERS[kind])
    (p1, s1), (p2, s2) = as_decimal(left), as_decimal(right)
    return bounded(max(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))


def converted(value: Any, kind: str) -> Any:
    """A number as a value of a type that holds it; other values stay as they are."""
    if value is None or isinstance(value, bool) or not is_numeric(kind):
        return value
    if kind == "float":
        return single(float(value))
    if kind == "double":
        return float(value)
    return Decimal(value) if decimal_parts(kind) else value
