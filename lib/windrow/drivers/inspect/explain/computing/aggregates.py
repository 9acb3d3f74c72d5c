"""Aggregates over the elements of one window, in plain Python and without rounding on the way.

Rule: docs/semantics.md#aggregates.

They are computed a second time here, from the rows, to be compared with what the engine has shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from windrow.spec import aggregates as spec
from windrow.spec.evaluation.evaluate import order
from windrow.spec.evaluation.kinds import INTEGERS, Failed, NotEvaluated, checked, decimal_parts

Pair = tuple[int, Any]
"""An element's event time and its value for the aggregate; 1 for one that has no argument."""


def computed(aggregate: spec.Aggregate, kind: str, pairs: Sequence[Pair]) -> Any:
    """The value of an aggregate over elements whose values have the type `kind`.

    Raises NotEvaluated for a sketch, which depends on how it was merged, and for a class of the user's own.
    """
    found = FUNCTIONS.get(type(aggregate))
    if found is None:
        raise NotEvaluated(f"the aggregate {aggregate.NAME}")
    return found(aggregate, kind, [(time, value) for time, value in pairs if value is not None])


def _sum(aggregate: Any, kind: str, pairs: Sequence[Pair]) -> Any:
    total = _exact_sum(kind, pairs)
    parts = decimal_parts(kind)
    fits = f"decimal({min(parts[0] + 10, 38)},{parts[1]})" if parts else "bigint" if kind in INTEGERS else "double"
    try:
        return None if total is None else checked(total, fits)
    except Failed:
        return None


def _mean(aggregate: Any, kind: str, pairs: Sequence[Pair]) -> Any:
    total, parts = _exact_sum(kind, pairs), decimal_parts(kind)
    if total is None:
        return None
    if isinstance(total, float):
        return total / len(pairs)
    if parts is None:
        return float(Fraction(total, len(pairs)))
    with localcontext(prec=200):
        return checked(total / len(pairs), f"decimal({min(parts[0] + 4, 38)},{parts[1] + 4})")


def _exact_sum(kind: str, pairs: Sequence[Pair]) -> Any:
    values = [value for _, value in pairs]
    if not values:
        return None
    if kind in INTEGERS:
        return sum(values)
    if decimal_parts(kind):
        with localcontext(prec=200):
            return sum(values, Decimal(0))
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # infinities
        return sum(values)


def _variance(aggregate: Any, kind: str, pairs: Sequence[Pair]) -> float | None:
    values = [value for _, value in pairs]
    if len(values) < 2:
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return math.nan
    exact = [Fraction(value) for value in values]
    middle = sum(exact, Fraction(0)) / len(exact)
    return float(sum(((value - middle) ** 2 for value in exact), Fraction(0)) / (len(exact) - 1))


def _stddev(aggregate: Any, kind: str, pairs: Sequence[Pair]) -> float | None:
    squared = _variance(aggregate, kind, pairs)
    return None if squared is None else math.sqrt(squared)


def _best(choose: Callable[..., Any]) -> Function:
    return lambda aggregate, kind, pairs: choose((value for _, value in pairs), key=order, default=None)


def _truth(holds: Callable[..., bool]) -> Function:
    return lambda aggregate, kind, pairs: holds(value for _, value in pairs) if pairs else None


def _in_time(pairs: Sequence[Pair]) -> list[Any]:
    return [value for _, value in sorted(pairs, key=lambda pair: (pair[0], order(pair[1])))]


def _different(pairs: Sequence[Pair]) -> list[Any]:
    return sorted(_counts(pairs), key=order)


def _counts(pairs: Sequence[Pair]) -> Counter[Any]:
    return Counter(math.nan if value != value else value for _, value in pairs)


def _top(aggregate: spec.Top, kind: str, pairs: Sequence[Pair]) -> list[Any]:
    return sorted((value for _, value in pairs), key=order, reverse=True)[: aggregate.count]


def _histogram(aggregate: spec.Histogram, kind: str, pairs: Sequence[Pair]) -> list[int]:
    limits = [float(bound) if kind in ("float", "double") else bound for bound in aggregate.bounds]
    places = Counter(sum(order(limit) <= order(value) for limit in limits) for _, value in pairs)
    return [places[place] for place in range(len(limits) + 1)]


Function = Callable[[Any, str, Sequence[Pair]], Any]
FUNCTIONS: dict[type[spec.Aggregate], Function] = {
    spec.Count: lambda aggregate, kind, pairs: len(pairs),
    spec.CountIf: lambda aggregate, kind, pairs: sum(value is True for _, value in pairs),
    spec.Sum: _sum,
    spec.Mean: _mean,
    spec.Variance: _variance,
    spec.Stddev: _stddev,
    spec.Min: _best(min),
    spec.Max: _best(max),
    spec.AnyTrue: _truth(any),
    spec.AllTrue: _truth(all),
    spec.First: lambda aggregate, kind, pairs: next(iter(_in_time(pairs)), None),
    spec.Last: lambda aggregate, kind, pairs: next(reversed(_in_time(pairs)), None),
    spec.CountDistinct: lambda aggregate, kind, pairs: len(_counts(pairs)),
    spec.Collect: lambda aggregate, kind, pairs: _in_time(pairs),
    spec.CollectSet: lambda aggregate, kind, pairs: _different(pairs),
    spec.Top: _top,
    spec.Histogram: _histogram,
}
"""The aggregates whose value is the same however elements came together."""


def equal(one: Any, other: Any) -> bool:
    """Whether a value is what was shown: floating-point numbers within 1e-9, relative."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, float) and isinstance(other, int | float | Decimal):
        return (one != one and other != other) or math.isclose(one, float(other), rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)
