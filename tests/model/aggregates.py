"""Aggregates over the elements of a window, exactly: integers as Python integers, decimals as decimals.

SEMANTICS section 7. An aggregate is a function of (event time, value) pairs in any order; nulls are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.model.types import INTEGERS, bounded, decimal_parts
from tests.model.values import fits, normal, order, rounded
from windrow.spec import aggregates as spec

Pair = tuple[int, Any]
"""An element's event time and its value for the aggregate."""


def compute(aggregate: spec.Aggregate, kind: str, pairs: Sequence[Pair]) -> Any:
    """The value of an aggregate whose expression has the type `kind`; `count(*)` gets a value for every element."""
    present = [(event_time, normal(value)) for event_time, value in pairs if value is not None]
    return normal(_FUNCTIONS[type(aggregate)](kind, present))


def result_type(aggregate: spec.Aggregate, kind: str) -> str:
    """The SQL type of an aggregate over an expression of the type `kind`."""
    parts = decimal_parts(kind)
    match aggregate:
        case spec.Count() | spec.CountIf() | spec.CountDistinct():
            return "bigint"
        case spec.Sum():
            return bounded(parts[0] + 10, parts[1]) if parts else "bigint" if kind in INTEGERS else "double"
        case spec.Mean():
            return bounded(parts[0] + 4, parts[1] + 4) if parts else "double"
        case spec.Collect():
            return f"array<{kind}>"
    return kind


def _count(kind: str, pairs: Sequence[Pair]) -> int:
    return len(pairs)


def _count_if(kind: str, pairs: Sequence[Pair]) -> int:
    return sum(value is True for _, value in pairs)


def _sum(kind: str, pairs: Sequence[Pair]) -> Any:
    total = exact_sum(kind, [value for _, value in pairs])
    if kind in INTEGERS and total is not None and not -(2**63) <= total < 2**63:
        return None
    parts = decimal_parts(result_type(spec.Sum("x"), kind))
    return None if parts and total is not None and not fits(total, *parts) else total


def _mean(kind: str, pairs: Sequence[Pair]) -> Any:
    total = exact_sum(kind, [value for _, value in pairs])
    if total is None:
        return None
    if isinstance(total, float):
        return total / len(pairs)
    parts = decimal_parts(result_type(spec.Mean("x"), kind))
    if not parts:
        return float(Fraction(total, len(pairs)))
    with localcontext(prec=200):
        return rounded(total / len(pairs), parts[1])


def exact_sum(kind: str, values: Sequence[Any]) -> Any:
    """The sum without any rounding but that of floating-point numbers; null over nothing."""
    if not values:
        return None
    if kind in INTEGERS:
        return sum(values)
    if decimal_parts(kind):
        with localcontext(prec=200):
            return sum(values, Decimal(0))
    if kind not in ("float", "double"):
        raise NotImplementedError(f"a sum of {kind}")
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # an infinity on the way, or infinities that cancel out
        return sum(values)


def _min(kind: str, pairs: Sequence[Pair]) -> Any:
    return min((value for _, value in pairs), key=order, default=None)


def _max(kind: str, pairs: Sequence[Pair]) -> Any:
    return max((value for _, value in pairs), key=order, default=None)


def _in_time(pairs: Sequence[Pair]) -> list[Any]:
    return [value for _, value in sorted(pairs, key=lambda pair: (pair[0], order(pair[1])))]


def _first(kind: str, pairs: Sequence[Pair]) -> Any:
    return next(iter(_in_time(pairs)), None)


def _last(kind: str, pairs: Sequence[Pair]) -> Any:
    return next(reversed(_in_time(pairs)), None)


def _count_distinct(kind: str, pairs: Sequence[Pair]) -> int:
    return len({value for _, value in pairs})


def _collect(kind: str, pairs: Sequence[Pair]) -> list[Any]:
    return _in_time(pairs)


_FUNCTIONS: dict[type[spec.Aggregate], Callable[[str, Sequence[Pair]], Any]] = {
    spec.Count: _count,
    spec.CountIf: _count_if,
    spec.Sum: _sum,
    spec.Mean: _mean,
    spec.Min: _min,
    spec.Max: _max,
    spec.First: _first,
    spec.Last: _last,
    spec.CountDistinct: _count_distinct,
    spec.Collect: _collect,
}
