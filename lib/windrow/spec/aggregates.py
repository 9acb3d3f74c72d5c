"""Aggregates: what a window computes over its elements. Rule: docs/semantics.md#aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any, ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.expressions.plain import plain as in_words
from windrow.spec.fields import forms
from windrow.spec.fields.forms import Definitions, Json
from windrow.spec.fields.kinds import EXPRESSION, NUMBER, SHARE, list_of, mapping_of, whole_between
from windrow.spec.fields.reading import Kind, Spec, located, unknown_name
from windrow.spec.fields.typed import Converted, ExpressionLike, converted, plain, specification
from windrow.spec.words import many


class Aggregate(Spec):
    """The base of all aggregates. `NAME` is the name in YAML; nulls are skipped unless a class says otherwise."""

    NAME: ClassVar[str]
    IS_SKETCH: ClassVar[bool] = False
    """Whether the value is an estimate that depends on how elements came together, and so is not compared."""
    CAN_BE_UNDONE: ClassVar[bool] = True
    """Whether an element can be taken back, so that a stage over a weighted source may have the aggregate."""
    COMBINED_BY: ClassVar[str | None] = None
    """The SQL aggregate that makes one value of those of sets that share no element; None where there is none."""
    NOT_COMBINED: ClassVar[str] = "the values of several rows do not give that of all their elements"
    """Why there is none."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions over an element that the aggregate needs."""
        return ()

    def words(self) -> str:
        """What it computes, as `windrow plan` says it: by default its name, its expressions and its other fields."""
        of = ", ".join(map(in_words, self.expressions))
        more = ", ".join(f"{name} {value}" for name, value in self.to_mapping().items() if name != "of")
        return f"{self.NAME} of {of}{f' ({more})' if more else ''}"


@specification
class Count(Aggregate):
    """The number of elements, or of those for which the expression is not null. A whole number, never null."""

    NAME = "count"
    COMBINED_BY = "sum"
    of: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return () if self.of is None else (self.of,)

    def words(self) -> str:
        return (
            f"the number of elements{'' if self.of is None else f' where {in_words(self.expressions[0])} is not null'}"
        )


@specification
class OfExpression(Aggregate):
    """The base of aggregates over one expression. `WORDS` are its words in `windrow plan`, with `{}` for that."""

    WORDS: ClassVar[str | None] = None
    of: Converted[Expression, ExpressionLike] = converted(EXPRESSION)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.of,)

    def words(self) -> str:
        return super().words() if self.WORDS is None else self.WORDS.format(in_words(self.expressions[0]))


class CountIf(OfExpression):
    """The number of elements for which the condition is true. Never null."""

    NAME = "count_if"
    COMBINED_BY = "sum"
    WORDS = "the number of elements where {}"


class Sum(OfExpression):
    """The sum: exact for integers and decimals; null over nothing, and where an integer sum does not fit a bigint."""

    NAME = "sum"
    COMBINED_BY = "sum"
    WORDS = "the sum of {}"


class Mean(OfExpression):
    """The exact sum over the count; null over nothing."""

    NAME = "mean"
    NOT_COMBINED = "the mean over several rows is sum(mean * number of values) / sum(number of values)"
    WORDS = "the mean of {}"


class Variance(OfExpression):
    """The variance of a sample (Spark's `var_samp`): the squared distances from the mean over n - 1.

    A double; null for fewer than two values. Made from exact sums for integers and decimals.
    """

    NAME = "variance"
    WORDS = "the variance of {} (of a sample)"


class Stddev(OfExpression):
    """The standard deviation of a sample (Spark's `stddev_samp`): the square root of the variance."""

    NAME = "stddev"
    WORDS = "the standard deviation of {} (of a sample)"


class Min(OfExpression):
    """The smallest value; null over nothing."""

    NAME = "min"
    COMBINED_BY = "min"
    WORDS = "the smallest {}"


class Max(OfExpression):
    """The largest value; null over nothing."""

    NAME = "max"
    COMBINED_BY = "max"
    WORDS = "the largest {}"


class AnyTrue(OfExpression):
    """Whether the condition is true on some element; null over nothing."""

    NAME = "any"
    COMBINED_BY = "bool_or"
    WORDS = "whether {} for any element"


class AllTrue(OfExpression):
    """Whether the condition is false on no element; null over nothing."""

    NAME = "all"
    COMBINED_BY = "bool_and"
    WORDS = "whether {} for all elements"


class First(OfExpression):
    """The value with the smallest event time, at equal times the smaller value; null over nothing."""

    NAME = "first"
    WORDS = "{} at the smallest event time"


class Last(OfExpression):
    """The value with the largest event time, at equal times the larger value; null over nothing."""

    NAME = "last"
    WORDS = "{} at the largest event time"


class CountDistinct(OfExpression):
    """The number of different values, exactly."""

    NAME = "count_distinct"
    WORDS = "the number of different values of {}"


class Collect(OfExpression):
    """All values as a list, sorted by event time, then value."""

    NAME = "collect"
    WORDS = "all values of {}, by event time"


class CollectSet(OfExpression):
    """The different values as a sorted list."""

    NAME = "collect_set"
    WORDS = "the different values of {}, sorted"


MOST_KEPT = 10_000
"""How many values `top` may keep."""
MOST_BOUNDS = 1_000
"""How many bounds a histogram may have."""


@specification
class Top(OfExpression):
    """The `count` largest values as a list, the largest first; equal values count each. Empty over nothing."""

    NAME = "top"
    count: int = plain(whole_between(1, MOST_KEPT))

    def words(self) -> str:
        return f"the {many(self.count, 'largest value')} of {in_words(self.expressions[0])}"


@specification
class Histogram(OfExpression):
    """The numbers of values in the buckets between bounds, as a list with one item more than there are bounds.

    The first bucket is what is below the first bound. A value that is equal to a bound is in the bucket above it; the
    last bucket is the last bound and all above it, NaN too. Never null.
    """

    NAME = "histogram"
    bounds: Converted[tuple[int | Decimal, ...], Iterable[float | Decimal | str]] = converted(list_of(NUMBER))

    def validate(self) -> None:
        if not 1 <= len(self.bounds) <= MOST_BOUNDS:
            raise SpecError("bounds", f"must have 1 to {MOST_BOUNDS} numbers", len(self.bounds))
        for index, (one, other) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
            if one >= other:
                raise SpecError(f"bounds[{index + 1}]", "must be larger than the bound before it", str(other))

    def words(self) -> str:
        buckets = ", ".join(f"from {bound}" for bound in self.bounds)
        return f"the numbers of values of {in_words(self.expressions[0])}: below {self.bounds[0]}, {buckets}"


class ApproxCountDistinct(OfExpression):
    """The number of different values, estimated by a HyperLogLog sketch: within 3 percent most of the time."""

    NAME = "approx_count_distinct"
    WORDS = "about the number of different values of {} (a sketch)"
    IS_SKETCH = True
    CAN_BE_UNDONE = False


@specification
class Quantiles(OfExpression):
    """The values at ranks from 0 to 1, estimated by a KLL sketch: a rank is within 0.02 most of the time.

    A value of the data: the smallest such that at least that share of the values is not larger. Null over nothing.
    """

    NAME = "quantiles"
    IS_SKETCH = True
    CAN_BE_UNDONE = False
    at: Converted[tuple[float, ...], Iterable[float | Decimal]] = converted(list_of(SHARE))

    def validate(self) -> None:
        if not self.at:
            raise SpecError("at", "must have a rank", None, "for instance [0.5, 0.99]")

    def words(self) -> str:
        ranks = f"{many(len(self.at), 'rank')} {', '.join(map(str, self.at))}"
        return f"about the values of {in_words(self.expressions[0])} at the {ranks} (a sketch)"


MOST_FREQUENT = 1_000
"""How many values `approx_top` may give."""


@specification
class ApproxTop(OfExpression):
    """The `count` most frequent values as a list of structs (item, count), the most frequent first.

    Counts are estimates that are never too large by much; with few different values they are exact.
    """

    NAME = "approx_top"
    IS_SKETCH = True
    CAN_BE_UNDONE = False
    count: int = plain(whole_between(1, MOST_FREQUENT))

    def words(self) -> str:
        most = many(self.count, "most frequent value")
        return f"about the {most} of {in_words(self.expressions[0])}, with their numbers (a sketch)"


@specification
class TotalSize(Aggregate):
    """The bytes of all elements, by the `size` of their source; for triggers only, no file can name it."""

    NAME = "total_size"


AGGREGATES: dict[str, type[Aggregate]] = {
    cls.NAME: cls
    for cls in (
        Count, CountIf, Sum, Mean, Variance, Stddev, Min, Max, AnyTrue, AllTrue, First, Last, CountDistinct, Collect,
        CollectSet, Top, Histogram, ApproxCountDistinct, Quantiles, ApproxTop,
    )
}  # fmt: skip
CONDITIONAL = (CountIf, AnyTrue, AllTrue)
"""The aggregates whose expression must be a condition."""
_LATER: frozenset[str] = frozenset()
_HINTS = {
    "avg": "mean", "average": "mean", "total": "sum", "countif": "count_if", "maximum": "max", "minimum": "min",
    "std": "stddev", "stddev_samp": "stddev", "var_samp": "variance", "some": "any", "bool_or": "any", "every": "all",
    "bool_and": "all", "distinct": "count_distinct", "nunique": "count_distinct", "collect_list": "collect",
    "approx_distinct": "approx_count_distinct", "percentile": "quantiles", "approx_percentile": "quantiles",
    "percentile_approx": "quantiles", "approx_top_k": "approx_top",
}  # fmt: skip


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
    return located(name, lambda argument: _of(AGGREGATES[name], argument), argument)


def _of(cls: type[Aggregate], argument: Any) -> Aggregate:
    """The aggregate over an expression; one that has more fields, or none, is written as a mapping of them."""
    if isinstance(argument, Mapping):
        return cls.from_mapping(argument)
    needed = [field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING]  # type: ignore[arg-type]
    if "of" not in _names(cls) or needed not in ([], ["of"]):
        raise SpecError("", "must be a mapping", argument, f"its fields are {', '.join(_names(cls))}")
    return cls(of=EXPRESSION.read(argument))  # type: ignore[call-arg]


def _names(cls: type[Aggregate]) -> list[str]:
    return [field.name for field in fields(cls)]  # type: ignore[arg-type]


def _write(aggregate: Aggregate) -> Mapping[str, Any]:
    if aggregate == Count():
        return {aggregate.NAME: "*"}
    written = aggregate.to_mapping()
    return {aggregate.NAME: written["of"] if list(written) == ["of"] else written}


def _form(definitions: Definitions) -> Json:
    """An aggregate under its name: an expression, or a mapping of its fields."""
    body = forms.any_of(forms.EXPRESSION_FORM, forms.fixed(type="object"))
    return forms.any_of(*[forms.single(name, body) for name in AGGREGATES])(definitions)


AGGREGATE: Kind[Aggregate, Aggregate] = Kind(_accept, _read, _write, forms.named("Aggregate", _form))
AGGREGATES_BY_NAME = mapping_of(AGGREGATE)
