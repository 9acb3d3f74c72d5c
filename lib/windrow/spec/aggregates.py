"""Aggregates: what a window computes over its elements. Rule: SEMANTICS section 7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import Kind, Spec, located, of, unknown_name
from windrow.spec.kinds import EXPRESSION


class Aggregate(Spec):
    """The base of all aggregates. `NAME` is the name in YAML; nulls are skipped unless a class says otherwise."""

    NAME: ClassVar[str]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions over an element that the aggregate needs."""
        return ()


@dataclass(frozen=True)
class Count(Aggregate):
    """The number of elements, or of those for which the expression is not null. A whole number, never null."""

    NAME = "count"
    of: Expression | None = field(default=None, metadata=of(EXPRESSION))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return () if self.of is None else (self.of,)


@dataclass(frozen=True)
class _OfExpression(Aggregate):
    of: Expression = field(metadata=of(EXPRESSION))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.of,)


class CountIf(_OfExpression):
    """The number of elements for which the condition is true. Never null."""

    NAME = "count_if"


class Sum(_OfExpression):
    """The sum: exact for integers and decimals; null over nothing, and where an integer sum does not fit a bigint."""

    NAME = "sum"


class Mean(_OfExpression):
    """The exact sum over the count; null over nothing."""

    NAME = "mean"


class Min(_OfExpression):
    """The smallest value; null over nothing."""

    NAME = "min"


class Max(_OfExpression):
    """The largest value; null over nothing."""

    NAME = "max"


class First(_OfExpression):
    """The value with the smallest event time, at equal times the smaller value; null over nothing."""

    NAME = "first"


class Last(_OfExpression):
    """The value with the largest event time, at equal times the larger value; null over nothing."""

    NAME = "last"


class CountDistinct(_OfExpression):
    """The number of different values, exactly."""

    NAME = "count_distinct"


class Collect(_OfExpression):
    """All values as a list, sorted by event time, then value."""

    NAME = "collect"


AGGREGATES: dict[str, type[Aggregate]] = {
    cls.NAME: cls for cls in (Count, CountIf, Sum, Mean, Min, Max, First, Last, CountDistinct, Collect)
}
_LATER = frozenset(
    {"any", "all", "collect_set", "variance", "stddev", "approx_count_distinct", "top", "quantiles", "histogram",
     "approx_top"}
)  # fmt: skip
_HINTS = {"avg": "mean", "average": "mean", "distinct": "count_distinct", "nunique": "count_distinct",
          "collect_list": "collect", "maximum": "max", "minimum": "min", "total": "sum", "approx_distinct":
          "approx_count_distinct", "countif": "count_if", "std": "stddev"}  # fmt: skip


def _accept(value: Any) -> Aggregate:
    if not isinstance(value, Aggregate):
        raise SpecError("", "must be an aggregate", value, "for instance Sum('distance')")
    return value


def _read(value: Any) -> Aggregate:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise SpecError("", "must be a mapping with one function", value, "for instance {sum: distance}")
    ((name, argument),) = value.items()
    if name not in AGGREGATES:
        raise unknown_name(str(name), AGGREGATES, _LATER, _HINTS, "aggregate function")
    if name == "count" and argument == "*":
        return Count()
    return located(name, lambda argument: AGGREGATES[name](of=EXPRESSION.read(argument)), argument)  # type: ignore[call-arg]


def _write(aggregate: Aggregate) -> Mapping[str, str]:
    expressions = aggregate.expressions
    return {aggregate.NAME: expressions[0].text if expressions else "*"}


AGGREGATE = Kind(_accept, _read, _write)
