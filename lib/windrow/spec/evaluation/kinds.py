"""The types of values in expressions, and which type comes out where two meet: Spark's rules, with ANSI on."""

from __future__ import annotations

import re
import struct
from decimal import Decimal, localcontext
from math import copysign, inf
from typing import Any

INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
"""The whole numbers, and their bits."""
FLOATING = ("float", "double")

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_MOST_DIGITS, _LEAST_SCALE = 38, 6


class NotEvaluated(Exception):
    """A part of an expression that only Spark can evaluate: what it says is its text."""


class Failed(Exception):
    """The expression fails on the row, so that the row is dead as `bad_expression`."""


def decimal_parts(kind: str) -> tuple[int, int] | None:
    """(precision, scale) of a decimal type; None for any other."""
    match = _DECIMAL.fullmatch("decimal(10,0)" if kind == "decimal" else kind)
    return (int(match[1]), int(match[2])) if match else None


def as_decimal(kind: str) -> tuple[int, int]:
    """(precision, scale) of the decimals that hold all values of a type of decimals or whole numbers."""
    return decimal_parts(kind) or (_DIGITS[kind], 0)


def adjusted(precision: int, scale: int) -> str:
    """The type of a result: where 38 digits are not enough, those behind the point go first, down to six."""
    if precision > _MOST_DIGITS:
        kept = max(_MOST_DIGITS - (precision - scale), min(scale, _LEAST_SCALE))
        precision, scale = _MOST_DIGITS, kept
    return f"decimal({precision},{scale})"


def is_numeric(kind: str) -> bool:
    """Whether it is a type of numbers."""
    return kind in INTEGERS or kind in FLOATING or decimal_parts(kind) is not None


def common(left: str, right: str) -> str:
    """The type of values of either type. Raises NotEvaluated for two that have none that is known here."""
    if left == right or right == "void":
        return left
    if left == "void":
        return right
    if {left, right} == {"date", "timestamp"}:
        return "timestamp"
    if not (is_numeric(left) and is_numeric(right)):
        raise NotEvaluated(f"{left} beside {right}")
    if left in FLOATING or right in FLOATING:
        return "double"
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=lambda kind: INTEGERS[kind])
    (p1, s1), (p2, s2) = as_decimal(left), as_decimal(right)
    scale = max(s1, s2)
    return f"decimal({min(max(p1 - s1, p2 - s2) + scale, _MOST_DIGITS)},{min(scale, _MOST_DIGITS)})"


def converted(value: Any, kind: str) -> Any:
    """A number as a value of a type that holds it; other values stay as they are."""
    if value is None or isinstance(value, bool) or not is_numeric(kind):
        return value
    if kind == "float":
        return single(float(value))
    if kind == "double":
        return float(value)
    return Decimal(value) if decimal_parts(kind) else value


def checked(value: Any, kind: str) -> Any:
    """A number as a value of a type: rounded to its digits. Raises Failed where it does not fit."""
    if kind in INTEGERS:
        limit = 2 ** (INTEGERS[kind] - 1)
        if not -limit <= value < limit:
            raise Failed(f"{value} is no {kind}")
        return int(value)
    parts = decimal_parts(kind)
    if parts is None:
        return single(value) if kind == "float" else float(value)
    with localcontext(prec=200, rounding="ROUND_HALF_UP"):
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-parts[1]))
    if rounded.copy_abs() >= Decimal(1).scaleb(parts[0] - parts[1]):
        raise Failed(f"{value} is no {kind}")
    return rounded


def single(value: float) -> float:
    """The nearest number of 32 bits."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return copysign(inf, value)
