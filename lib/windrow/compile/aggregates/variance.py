"""The variance and standard deviation of a sample, as Spark's `var_samp` and `stddev_samp`.

Rule: docs/semantics.md#aggregates.

Over whole numbers what is kept is exact: n, the sum, and the sum of squares, so that the result is the same bits
whatever the grouping. With n s the sum of squares and t the sum, the variance is (n s - t^2) / (n (n - 1)); the
numerator is computed without any rounding, for it may be small where both terms are large. A decimal of at most 18
digits is the whole number of its smallest units. Floating-point numbers are kept as n, mean and squared distance from
it, which are joined by the formula of Chan, Golub and LeVeque.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import ByteType, DataType, DecimalType, DoubleType, FloatType, IntegerType, ShortType

from windrow.compile.aggregates.numbers import carried, decimal_sum, limbs, low, whole
from windrow.compile.aggregates.parts import Argument, CompiledAggregate, Part, Values, plain
from windrow.compile.aggregates.units import UNIT_DIGITS, units
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, coalesce, lit, when

_NARROW_DIGITS = 9
"""The digits of a decimal whose smallest units fit 32 bits."""
_MOST = 2**31
"""Up to this many elements every product below fits into 38 digits; over it the result is null."""


def variance(argument: Argument) -> CompiledAggregate:
    """The mean of the squared distances from the mean, over n - 1; null for fewer than two values."""
    argument.require_number(UNIT_DIGITS)
    kind = argument.kind
    if isinstance(kind, FloatType | DoubleType):
        return _of_floats(argument)
    scale = kind.scale if isinstance(kind, DecimalType) else 0
    whole_number, narrow = units(argument.column, kind), _is_narrow(kind)
    made, spread = (_narrow, _narrow_spread) if narrow else (_wide, _wide_spread)

    def extract(of: Values) -> Column:
        pairs = of("n").cast("double") * (of("n") - 1).cast("double") * lit(10.0 ** (2 * scale))
        return when((of("n") > 1) & (of("n") <= bigint(_MOST)), spread(of) / pairs)

    parts = {**made(whole_number, argument), "n": argument.number}
    return CompiledAggregate(parts, extract, _narrow_carried if narrow else carried)


def stddev(argument: Argument) -> CompiledAggregate:
    """The square root of the variance."""
    squared = variance(argument)
    return CompiledAggregate(squared.parts, lambda of: call("sqrt", squared.extract(of)), squared.carry)


def _is_narrow(kind: DataType) -> bool:
    """Whether the numbers, as whole numbers, have 32 bits."""
    if isinstance(kind, DecimalType):
        return bool(kind.precision <= _NARROW_DIGITS)
    return isinstance(kind, ByteType | ShortType | IntegerType)


def _narrow(number: Column, argument: Argument) -> Mapping[str, Part]:
    squares = limbs(number * number, argument)
    return {**limbs(number, argument), **{f"squares_{name}": part for name, part in squares.items()}}


def _squares(of: Values) -> Values:
    return lambda part: of(f"squares_{part}")


def _narrow_carried(of: Values) -> Mapping[str, Column]:
    return {**carried(of), **{f"squares_{name}": column for name, column in carried(_squares(of)).items()}}


def _narrow_spread(of: Values) -> Column:
    return _less_square(of, whole(_squares(of)), whole(of), whole(of)).cast("double")


def _wide(number: Column, argument: Argument) -> Mapping[str, Part]:
    """The sum's limbs h and l, and the sums of h h, h l and l l."""
    high = call("shiftright", number, 32)
    lower = low(number).cast("decimal(10,0)")
    products = {
        "high_high": (high * high).cast("decimal(20,0)"),
        "high_low": (high * low(number)).cast("decimal(20,0)"),
        "low_low": (lower * lower).cast("decimal(20,0)"),
    }
    sums = {name: decimal_sum(argument.signed(column), "decimal(30,0)") for name, column in products.items()}
    return {**limbs(number, argument), **sums}


def _wide_spread(of: Values) -> Column:
    """The numerator from its three limbs of 2^64, 2^33 and 1: carried, so that what is added up is never negative."""
    high, lower = of("high").cast("decimal(20,0)"), of("low").cast("decimal(20,0)")
    ones = _less_square(of, of("low_low"), lower, lower)
    middle = _less_square(of, of("high_low"), high, lower)
    top = _less_square(of, of("high_high"), high, high)
    rest, middle = _split(ones, middle, 2**33)
    middle, top = _split(middle, top, 2**31)
    below = middle.cast("double") * lit(2.0**33) + rest.cast("double")
    return top.cast("double") * lit(2.0**64) + below


def _less_square(of: Values, products: Column, left: Column, right: Column) -> Column:
    """n * products - left * right, exactly; null where it does not fit 38 digits."""
    n = of("n").cast("decimal(11,0)")
    wide = call("try_multiply", left.cast("decimal(38,0)"), right.cast("decimal(38,0)"))
    scaled = call("try_multiply", n, products.cast("decimal(38,0)"))
    return call("try_subtract", scaled, wide).cast("decimal(38,0)")


def _split(limb: Column, above: Column, base: int) -> tuple[Column, Column]:
    """What of a limb stays below the base, and the limb above with the rest."""
    size = bigint(base).cast("decimal(10,0)")
    rest = call("pmod", limb, size).cast("decimal(10,0)")
    carry = ((limb - rest).cast("decimal(38,0)") / size).cast("decimal(38,0)")
    return rest, call("try_add", above, carry).cast("decimal(38,0)")


# ---------------------------------------------------------------- floating-point numbers


def _of_floats(argument: Argument) -> CompiledAggregate:
    value = plain(argument.column.cast("double"), DoubleType())
    n = call("count", value)
    state = sql.struct(n=n, mean=call("avg", value), squares=call("var_pop", value) * n)
    part = Part(when(n > 0, state), _reduced, _joined)

    def extract(of: Values) -> Column:
        moments = of("moments")
        return when(moments.field("n") > 1, moments.field("squares") / (moments.field("n") - 1))

    return CompiledAggregate({"moments": part}, extract)


def _reduced(column: Column) -> Column:
    start = sql.struct(n=bigint(0), mean=0.0, squares=0.0)
    left, right = Column("left"), Column("right")
    reduced = Column(f"aggregate(collect_list({column.text}), {start.text}, (left, right) -> {_sum(left, right).text})")
    return when(call("count", column) > 0, reduced)


def _joined(left: Column, right: Column) -> Column:
    return coalesce(_sum(left, right), left, right)


def _sum(left: Column, right: Column) -> Column:
    """The moments of two sets together; null where one is null."""
    n = left.field("n") + right.field("n")
    share = right.field("n").cast("double") / n.cast("double")
    distance = right.field("mean") - left.field("mean")
    moments = sql.struct(
        n=n,
        mean=left.field("mean") + distance * share,
        squares=left.field("squares")
        + right.field("squares")
        + distance * (left.field("n").cast("double") * share) * distance,
    )
    return when(left.is_not_null() & right.is_not_null(), moments)
