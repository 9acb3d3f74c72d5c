"""Aggregates over the elements of a window, exactly: integers as Python integers, decimals as decimals.

Rule: docs/semantics.md#aggregates.

An aggregate is a function of (event time, value) pairs in any order; nulls are skipped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.model.types import INTEGERS, bounded, decimal_parts
from tests.model.values import NAN, fits, normal, order, rounded
from windrow.spec import aggregates as spec

Pair = tuple[int, Any]
"""An element's event time and its value for the aggregate."""


def compute(aggregate: spec.Aggregate, kind: str, pairs: Sequence[Pair]) -> Any:
    """The value of an aggregate whose expression has the type `kind`; `count(*)` gets a value for every element.

    A list is compared as a multiset, a tuple in its order.
    """
    present = [(event_time, normal(value)) for event_time, value in pairs if value is not None]
    if hasattr(aggregate, "twin"):  # one of a test's own, with its rule in plain Python
        return normal(aggregate.twin([value for _, value in sorted(present, key=_by_time)]))
    match aggregate:
        case spec.Top(count=count):
            return _top(present, count)
        case spec.Quantiles(at=at):
            return _quantiles(present, at)
        case spec.ApproxTop(count=count):
            return _most_frequent(present, count)
        case spec.Histogram(bounds=bounds):
            return _histogram(kind, present, bounds)
    return normal(_FUNCTIONS[type(aggregate)](kind, present))


def result_type(aggregate: spec.Aggregate, kind: str) -> str:
    """The SQL type of an aggregate over an expression of the type `kind`."""
    parts = decimal_parts(kind)
    if hasattr(aggregate, "TWIN_TYPE"):
        return str(aggregate.TWIN_TYPE)
    match aggregate:
        case spec.Count() | spec.CountIf() | spec.CountDistinct() | spec.ApproxCountDistinct():
            return "bigint"
        case spec.Sum():
            return bounded(parts[0] + 10, parts[1]) if parts else "bigint" if kind in INTEGERS else "double"
        case spec.Mean():
            return bounded(parts[0] + 4, parts[1] + 4) if parts else "double"
        case spec.Variance() | spec.Stddev():
            return "double"
        case spec.AnyTrue() | spec.AllTrue():
            return "boolean"
        case spec.Collect() | spec.CollectSet() | spec.Top():
            return f"array<{kind}>"
        case spec.Histogram():
            return "array<bigint>"
        case spec.Quantiles():
            return f"array<{'bigint' if kind in INTEGERS else 'double' if kind == 'float' else kind}>"
        case spec.ApproxTop():
            return f"array<struct<item: {kind}, count: bigint>>"
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


def _variance(kind: str, pairs: Sequence[Pair]) -> float | None:
    """Of a sample: the squared distances from the mean over n - 1, in fractions, so without any rounding."""
    values = [value for _, value in pairs]
    if len(values) < 2:
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return math.nan
    exact = [Fraction(value) for value in values]
    middle = sum(exact) / len(exact)
    return float(sum((value - middle) ** 2 for value in exact) / (len(exact) - 1))


def _stddev(kind: str, pairs: Sequence[Pair]) -> float | None:
    squared = _variance(kind, pairs)
    return None if squared is None else math.sqrt(squared)


def _any(kind: str, pairs: Sequence[Pair]) -> bool | None:
    return any(value for _, value in pairs) if pairs else None


def _all(kind: str, pairs: Sequence[Pair]) -> bool | None:
    return all(value for _, value in pairs) if pairs else None


def _min(kind: str, pairs: Sequence[Pair]) -> Any:
    return min((value for _, value in pairs), key=order, default=None)


def _max(kind: str, pairs: Sequence[Pair]) -> Any:
    return max((value for _, value in pairs), key=order, default=None)


def _in_time(pairs: Sequence[Pair]) -> list[Any]:
    return [value for _, value in sorted(pairs, key=_by_time)]


def _by_time(pair: Pair) -> tuple[int, Any]:
    return pair[0], order(pair[1])


def _first(kind: str, pairs: Sequence[Pair]) -> Any:
    return next(iter(_in_time(pairs)), None)


def _last(kind: str, pairs: Sequence[Pair]) -> Any:
    return next(reversed(_in_time(pairs)), None)


def _count_distinct(kind: str, pairs: Sequence[Pair]) -> int:
    return len({value for _, value in pairs})


def _collect(kind: str, pairs: Sequence[Pair]) -> list[Any]:
    return _in_time(pairs)


def _collect_set(kind: str, pairs: Sequence[Pair]) -> tuple[Any, ...]:
    return tuple(sorted({value for _, value in pairs}, key=order))


def _top(pairs: Sequence[Pair], count: int) -> tuple[Any, ...]:
    return tuple(sorted((value for _, value in pairs), key=order, reverse=True)[:count])


def _histogram(kind: str, pairs: Sequence[Pair], bounds: Sequence[int | Decimal]) -> tuple[int, ...]:
    """A value is in the bucket behind all bounds that are not larger than it; NaN is larger than any."""
    limits = [float(bound) if kind in ("float", "double") else bound for bound in bounds]
    places = [sum(order(limit) <= order(value) for limit in limits) for _, value in pairs]
    return tuple(places.count(place) for place in range(len(limits) + 1))


def _quantiles(pairs: Sequence[Pair], at: Sequence[float]) -> tuple[Any, ...] | None:
    """What the sketch gives for few values: the smallest value such that a share of `at` is not larger than it."""
    values = sorted(value for _, value in pairs if value is not NAN)
    if not values:
        return None
    return tuple(values[max(math.ceil(round(rank * len(values), 6)), 1) - 1] for rank in at)


def _most_frequent(pairs: Sequence[Pair], count: int) -> tuple[Any, ...]:
    counts = Counter(value for _, value in pairs)
    first = sorted(counts, key=lambda value: (-counts[value], order(value)))[:count]
    return tuple({"item": value, "count": counts[value]} for value in first)


_FUNCTIONS: dict[type[spec.Aggregate], Callable[[str, Sequence[Pair]], Any]] = {
    spec.Count: _count,
    spec.CountIf: _count_if,
    spec.Sum: _sum,
    spec.Mean: _mean,
    spec.Variance: _variance,
    spec.Stddev: _stddev,
    spec.Min: _min,
    spec.Max: _max,
    spec.AnyTrue: _any,
    spec.AllTrue: _all,
    spec.First: _first,
    spec.Last: _last,
    spec.CountDistinct: _count_distinct,
    spec.Collect: _collect,
    spec.CollectSet: _collect_set,
    spec.ApproxCountDistinct: _count_distinct,
}
