"""Counts, sums and means, exact whatever the grouping. Rule: docs/semantics.md#aggregates.

A sum of bigints is kept as two bigint limbs (high and low 32 bits), which cannot overflow before 2^31 elements and is
carried whenever a state is written; it costs a third of what decimal(38) does.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import DecimalType, DoubleType, LongType

from windrow.compile.aggregates.kinds import INTEGERS
from windrow.compile.aggregates.parts import (
    Argument,
    CompiledAggregate,
    Part,
    Values,
    plain,
    total,
)
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, added, bigint, call, coalesce, when

_MOST_BYTES = 2**62 - 1


def total_size(size: Column) -> CompiledAggregate:
    """The bytes of elements whose sizes are a bigint column that is not negative; at most 2^62 - 1."""

    def extract(of: Values) -> Column:
        return sql.least(coalesce(of("bytes"), bigint(0)), bigint(_MOST_BYTES)).cast("bigint")

    return CompiledAggregate({"bytes": decimal_sum(size.cast("decimal(20,0)"), "decimal(38,0)")}, extract)


_SUM_DIGITS, _MEAN_DIGITS = 27, 24
"""A sum has ten digits more than what is summed, and Spark adds two decimals exactly up to 37; what it divides by a
count has four digits more behind the point only up to 34."""


def count(argument: Argument) -> CompiledAggregate:
    """The number of elements on which the argument is not null."""
    return CompiledAggregate({"n": argument.number}, lambda of: coalesce(of("n"), bigint(0)))


def count_if(argument: Argument) -> CompiledAggregate:
    """The number of elements on which the condition is true."""
    part = Part(argument.counted(argument.column), total, added)
    return CompiledAggregate({"n": part}, lambda of: coalesce(of("n"), bigint(0)))


_LIMB = 2**32


def limbs(wide: Column, argument: Argument) -> Mapping[str, Part]:
    """The exact sum of a bigint that is made of the argument, as `high` and `low`."""
    return {
        "high": Part(total(argument.signed(call("shiftright", wide, 32))), total, added),
        "low": Part(total(argument.signed(low(wide))), total, added),
    }


def low(wide: Column) -> Column:
    """The lower 32 bits of a bigint, as a number that is not negative."""
    return Column(f"({wide.text} & {bigint(_LIMB - 1).text})")


def whole(of: Values) -> Column:
    """The exact sum of two limbs as decimal(38, 0)."""
    high, low = of("high").cast("decimal(20,0)"), of("low").cast("decimal(20,0)")
    return (high * bigint(_LIMB).cast("decimal(10,0)") + low).cast("decimal(38,0)")


def carried(of: Values) -> Mapping[str, Column]:
    """The limbs with a `low` below 2^32."""
    return {
        "high": of("high") + call("shiftright", of("low"), 32),
        "low": low(of("low")),
    }


def _as_bigint(of: Values) -> Column:
    """The exact sum of two limbs, null where it does not fit: bigints alone, as decimals are an object for each row."""
    high, low = carried(of).values()
    return when(high.between(bigint(-(_LIMB // 2)), bigint(_LIMB // 2 - 1)), call("shiftleft", high, 32) + low)


def sum_of(argument: Argument) -> CompiledAggregate:
    """The sum; integers give a bigint, null where it does not fit."""
    argument.require_number(_SUM_DIGITS)
    if isinstance(argument.kind, LongType):
        parts = limbs(argument.column, argument)
        return _null_for_nothing(argument, CompiledAggregate(parts, _as_bigint, carried))
    return _null_for_nothing(argument, CompiledAggregate({"sum": _plain_sum(argument)}, lambda of: of("sum")))


def _null_for_nothing(argument: Argument, summed: CompiledAggregate) -> CompiledAggregate:
    """A sum of values that were all taken back is null, not 0."""
    if argument.weight is None:
        return summed
    parts = {**summed.parts, "n": argument.number}
    return CompiledAggregate(parts, lambda of: when(of("n") > 0, summed.extract(of)), summed.carry)


def _plain_sum(argument: Argument) -> Part:
    column, kind = argument.column, argument.kind
    if isinstance(kind, INTEGERS):
        return Part(total(argument.signed(column.cast("bigint"))), total, added)
    if isinstance(kind, DecimalType):
        return decimal_sum(argument.signed(column), f"decimal({kind.precision + 10},{kind.scale})")
    return Part(total(plain(column.cast("double"), DoubleType())), total, added)


def decimal_sum(column: Column, wide: str) -> Part:
    """The exact sum of decimals as a decimal of that type, which has room for it."""
    return Part(
        total(column).cast(wide),
        lambda column: total(column).cast(wide),
        lambda left, right: added(left, right).cast(wide),
    )


def mean(argument: Argument) -> CompiledAggregate:
    """The exact sum over the count."""
    argument.require_number(_MEAN_DIGITS)
    kind, n = argument.kind, argument.number
    if isinstance(kind, LongType):
        parts = {**limbs(argument.column, argument), "n": n}
        return CompiledAggregate(parts, lambda of: _over(whole(of).cast("double"), of), carried)
    parts = {"sum": _plain_sum(argument), "n": n}
    if isinstance(kind, DecimalType):
        type_of_avg = f"decimal({kind.precision + 4},{kind.scale + 4})"
        return CompiledAggregate(parts, lambda of: _over(of("sum"), of).cast(type_of_avg))
    return CompiledAggregate(parts, lambda of: _over(of("sum"), of))


def _over(total: Column, of: Values) -> Column:
    """The total over n; null where no values are left."""
    return when(of("n") > 0, total / of("n"))
