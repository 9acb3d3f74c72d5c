"""Estimates from sketches of bounded size, by Spark's own functions. Rule: docs/semantics.md#aggregates.

A sketch is a binary part of the cell's state, and is merged from tick to tick. It cannot be undone, and how it is
merged shows in the last digits of its estimate, so backfill and reconcile do not compare it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    StringType,
    TimestampType,
)

from windrow.compile.aggregates.kinds import INTEGERS
from windrow.compile.aggregates.parts import Argument, CompiledAggregate, Part, flattened
from windrow.compile.aggregates.units import UNIT_DIGITS, from_units, units
from windrow.compile.aggregates.value_counts import summed
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, call, coalesce, when

_SIMPLE = INTEGERS | BooleanType | DateType | DecimalType | DoubleType | FloatType | StringType | TimestampType


def approx_count_distinct(argument: Argument) -> CompiledAggregate:
    """The number of different values by a HyperLogLog sketch of 4,096 buckets."""
    part = Part(
        call("hll_sketch_agg", _hashable(argument)),
        lambda column: call("hll_union_agg", column),
        lambda left, right: coalesce(call("hll_union", left, right), left, right),
    )
    return CompiledAggregate({"sketch": part}, lambda of: coalesce(call("hll_sketch_estimate", of("sketch")), 0))


def _hashable(argument: Argument) -> Column:
    """The value as one of the types that the sketch takes, different where the values are, and never an empty one.

    The sketch skips empty texts, which are values as any other.
    """
    match argument.kind:
        case StringType():
            return call("concat", "-", argument.column)
        case BinaryType():
            return call("concat", Column("X'00'"), argument.column)
        case TimestampType():
            return call("unix_micros", argument.column)
        case kind if isinstance(kind, INTEGERS):
            return argument.column.cast("bigint")
        case kind if isinstance(kind, _SIMPLE):
            return argument.plain.cast("string")
    raise argument.refused("takes numbers, texts, times and booleans", "cast(... as string)")


def quantiles(argument: Argument, at: Sequence[float]) -> CompiledAggregate:
    """The values at those ranks by a KLL sketch; NaN is skipped."""
    column, family, back = _measured(argument)

    def sketch(function: str, *columns: Column) -> Column:
        return call(f"kll_{function}_{family}", *columns)

    ranks = sql.array(*[float(rank) for rank in at])
    part = Part(
        when(call("count", column) > 0, sketch("sketch_agg", column)),
        lambda column: when(call("count", column) > 0, sketch("merge_agg", column)),
        lambda left, right: coalesce(sketch("sketch_merge", left, right), left, right),
    )
    values = "value"
    return CompiledAggregate(
        {"sketch": part},
        lambda of: Column(
            f"transform({sketch('sketch_get_quantile', of('sketch'), ranks).text}, "
            f"{values} -> {back(Column(values)).text})"
        ),
    )


def _measured(argument: Argument) -> tuple[Column, str, Callable[[Column], Column]]:
    """The value as a number that the sketch takes, which kind of sketch, and the way back."""
    kind = argument.kind
    match kind:
        case FloatType() | DoubleType():
            value = argument.plain.cast("double")
            return when(~call("isnan", value), value), "double", lambda value: value
        case TimestampType():
            return call("unix_micros", argument.column), "bigint", lambda value: call("timestamp_micros", value)
    argument.require_number(UNIT_DIGITS)
    return units(argument.column, kind), "bigint", lambda value: from_units(value, kind)


def approx_top(argument: Argument, count: int) -> CompiledAggregate:
    """The most frequent values with their counts, the most frequent first, at equal counts the smaller first.

    What a tick adds is a sketch's estimate. What is kept are the most frequent items of all ticks: Spark can combine
    two of its sketches only as rows of a group.
    """
    _require_simple(argument.kind, argument)
    kept = max(10 * count, 200)

    def cut(items: Column) -> Column:
        return call("slice", _most_frequent(items), 1, kept)

    prepared = Column(
        f"approx_top_k({argument.plain.text}, {kept}, {_TRACKED}) FILTER (WHERE {argument.column.is_not_null().text})"
    )
    part = Part(
        call("transform", prepared, Column("item -> named_struct('value', item.item, 'n', item.count)")),
        lambda column: cut(summed(flattened(column))),
        lambda left, right: coalesce(cut(summed(call("concat", left, right))), left, right),
    )
    shown = "item -> named_struct('item', item.value, 'count', item.n)"
    return CompiledAggregate(
        {"items": part},
        lambda of: coalesce(
            call("transform", call("slice", _most_frequent(of("items")), 1, count), Column(shown)), sql.array()
        ),
    )


_TRACKED = 10_000
"""The values that the sketch of a tick follows: with fewer than that, its counts are exact."""


def _most_frequent(items: Column) -> Column:
    """Items sorted by count, the largest first, then by value."""
    order = "(one, other) -> CASE WHEN one.n > other.n THEN -1 WHEN one.n < other.n THEN 1 " \
        "WHEN one.value < other.value THEN -1 WHEN one.value > other.value THEN 1 ELSE 0 END"  # fmt: skip
    return call("array_sort", items, Column(order))


def _require_simple(kind: DataType, argument: Argument) -> None:
    if not isinstance(kind, _SIMPLE):
        raise argument.refused("takes numbers, texts, times and booleans", "cast(... as string)")
