"""Aggregates over elements that can be taken back: values and how often each is there. Rule: docs/semantics.md#weights.

The state is an array of (value, n), sorted by value; n is negative where more was taken back than there was, which can
only be seen until the missing elements come.
"""

from __future__ import annotations

from pyspark.sql.types import DoubleType

from windrow.compile.aggregates.parts import Argument, CompiledAggregate, Part, Values, flattened, plain
from windrow.compile.aggregates.stamps import stamped
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, call, coalesce, lit, when


def summed(items: Column) -> Column:
    """Items with the same value as one, whose n is their sum; those of n = 0 are left out. Sorted by value.

    Equal values are neighbours once the items are sorted: a run of them is a slice, so that the work is linear.
    """
    run = (
        "named_struct('value', s[a].value, "
        "'n', aggregate(slice(s, a + 1, b - a + 1), 0L, (total, item) -> total + item.n))"
    )
    indexes = "sequence(0, size(s) - 1)"
    starts = f"filter({indexes}, i -> i = 0 OR NOT (s[i].value <=> s[i - 1].value))"
    ends = f"filter({indexes}, i -> i = size(s) - 1 OR NOT (s[i].value <=> s[i + 1].value))"
    runs = f"filter(zip_with({starts}, {ends}, (a, b) -> {run}), item -> item.n <> 0L)"
    whole = f"CASE WHEN size(s) > 0 THEN {runs} ELSE s END"
    return Column(f"element_at(transform(array(sort_array({items.text})), s -> {whole}), 1)")


def _counts(argument: Argument, value: Column) -> dict[str, Part]:
    assert argument.weight is not None
    item = when(argument.column.is_not_null(), sql.struct(value=value, n=argument.weight.cast("bigint")))
    part = Part(
        summed(call("collect_list", item)),
        lambda column: summed(flattened(column)),
        lambda left, right: coalesce(summed(call("concat", left, right)), left, right),
    )
    return {"counts": part}


def _there(of: Values) -> Column:
    """The items that are there, sorted by value."""
    return call("filter", of("counts"), Column("item -> item.n > 0L"))


def _repeated(of: Values) -> Column:
    """Every value as often as it is there, sorted; null where there was no element."""
    repeat = Column("item -> array_repeat(item.value, CAST(item.n AS INT))")
    return call("flatten", call("transform", _there(of), repeat))


def _edge(of: Values, index: int) -> Column:
    return call("try_element_at", _there(of), index).field("value")


def smallest(argument: Argument) -> CompiledAggregate:
    """The smallest value that is there."""
    argument.require_ordered()
    return CompiledAggregate(_counts(argument, argument.plain), lambda of: _edge(of, 1))


def largest(argument: Argument) -> CompiledAggregate:
    """The largest value that is there."""
    argument.require_ordered()
    return CompiledAggregate(_counts(argument, argument.plain), lambda of: _edge(of, -1))


def first(argument: Argument) -> CompiledAggregate:
    """The value that is there at the smallest event time."""
    argument.require_ordered()
    return CompiledAggregate(_counts(argument, stamped(argument)), lambda of: _edge(of, 1).field("value"))


def last(argument: Argument) -> CompiledAggregate:
    """The value that is there at the largest event time."""
    argument.require_ordered()
    return CompiledAggregate(_counts(argument, stamped(argument)), lambda of: _edge(of, -1).field("value"))


def count_distinct(argument: Argument) -> CompiledAggregate:
    """The number of different values that are there."""
    argument.require_ordered()
    parts = _counts(argument, argument.plain)
    return CompiledAggregate(parts, lambda of: sql.greatest(call("size", _there(of)), 0).cast("bigint"))


def collect_set(argument: Argument) -> CompiledAggregate:
    """The different values that are there, sorted."""
    argument.require_ordered()
    parts = _counts(argument, argument.plain)
    return CompiledAggregate(parts, lambda of: coalesce(_there(of).field("value"), sql.array()))


def kept_values(argument: Argument) -> CompiledAggregate:
    """All values that are there, by event time, then by value."""
    argument.require_ordered()
    parts = _counts(argument, stamped(argument))
    return CompiledAggregate(parts, lambda of: coalesce(_repeated(of).field("value"), sql.array()))


def top(argument: Argument, count: int) -> CompiledAggregate:
    """The largest values that are there, the largest first; all are kept, for what is taken back may uncover them."""
    argument.require_ordered()

    def extract(of: Values) -> Column:
        return coalesce(call("slice", call("reverse", _repeated(of)), 1, count), sql.array())

    return CompiledAggregate(_counts(argument, argument.plain), extract)


# ---------------------------------------------------------------- floating-point numbers


def _numbers(argument: Argument) -> dict[str, Part]:
    """Doubles are kept too: what was rounded away, or became infinite, could not be taken back from a sum."""
    return _counts(argument, plain(argument.column.cast("double"), DoubleType()))


def _total_of(of: Values, term: str) -> Column:
    add = Column(f"(total, item) -> total + ({term}) * CAST(item.n AS DOUBLE)")
    return call("aggregate", _there(of), lit(0.0), add)


def _number(of: Values) -> Column:
    return call("aggregate", _there(of), Column("0L"), Column("(total, item) -> total + item.n"))


def sum_of(argument: Argument) -> CompiledAggregate:
    """The sum of the numbers that are there."""
    return CompiledAggregate(_numbers(argument), lambda of: when(_number(of) > 0, _total_of(of, "item.value")))


def mean(argument: Argument) -> CompiledAggregate:
    """The sum over the count."""
    return CompiledAggregate(_numbers(argument), _mean)


def _mean(of: Values) -> Column:
    return when(_number(of) > 0, _total_of(of, "item.value") / _number(of).cast("double"))


def variance(argument: Argument) -> CompiledAggregate:
    """The squared distances from the mean, over n - 1."""

    def extract(of: Values) -> Column:
        squares = _total_of(of, "(item.value - m) * (item.value - m)")
        spread = call("element_at", Column(f"transform(array({_mean(of).text}), m -> {squares.text})"), 1)
        return when(_number(of) > 1, spread / (_number(of) - 1).cast("double"))

    return CompiledAggregate(_numbers(argument), extract)


def stddev(argument: Argument) -> CompiledAggregate:
    """The square root of the variance."""
    squared = variance(argument)
    return CompiledAggregate(squared.parts, lambda of: call("sqrt", squared.extract(of)))
