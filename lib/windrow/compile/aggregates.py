"""Aggregates as columns: prepare and combine elements, merge partials, extract the value. Rule: SEMANTICS section 7.

An aggregate is a list of parts, each a column of the cell's state. Exact, whatever the grouping: a sum of bigints is
kept as two bigint limbs (high and low 32 bits), which cannot overflow before 2^31 elements and is carried whenever a
state is written; it costs a third of what decimal(38) does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructType,
)

from windrow.compile import sql
from windrow.compile.sql import Column, added, bigint, call, coalesce, greatest, lit, when
from windrow.spec.aggregates import (
    Aggregate,
    Collect,
    Count,
    CountDistinct,
    CountIf,
    First,
    Last,
    Max,
    Mean,
    Min,
    Sum,
)
from windrow.spec.errors import SpecError

Values = Callable[[str], Column]
"""Gives the column of a part by its name."""


@dataclass(frozen=True)
class Part:
    """One column of an aggregate's state.

    `prepare` aggregates elements, `merge` aggregates columns that hold this part, `combine` joins two such values
    (null is the part of nothing).
    """

    prepare: Column
    merge: Callable[[Column], Column]
    combine: Callable[[Column, Column], Column]


@dataclass(frozen=True)
class CompiledAggregate:
    """An aggregate over the argument column `x_<name>`: its parts, and the value that they make."""

    parts: Mapping[str, Part]
    extract: Callable[[Values], Column]
    carry: Callable[[Values], Mapping[str, Column]] | None = None
    """The parts in their normal form, before they are written; None where they always are."""


def compile_aggregate(name: str, aggregate: Aggregate, argument: Column | None, kind: DataType | None,
                      event_time: Column) -> CompiledAggregate:  # fmt: skip
    """The columns of an aggregate over an argument of that type. Errors: SpecError for a type it does not take."""
    match aggregate:
        case Count():
            return _count(lit(1) if argument is None else argument)
        case CountIf():
            return _count(when(argument, 1) if argument is not None else lit(1))
    assert argument is not None and kind is not None
    match aggregate:
        case Sum():
            return _sum(name, argument, kind)
        case Mean():
            return _mean(name, argument, kind)
        case Min() | Max():
            return _extreme(name, aggregate, argument, kind)
        case First() | Last():
            return _at_edge(name, aggregate, argument, kind, event_time)
        case CountDistinct():
            return _count_distinct(name, argument, kind)
        case Collect():
            return _collect(name, argument, kind, event_time)
        case _:
            raise NotImplementedError(type(aggregate).__name__)


def _count(argument: Column) -> CompiledAggregate:
    part = Part(call("count", argument), total, added)
    return CompiledAggregate({"n": part}, lambda of: coalesce(of("n"), bigint(0)))


_SUM_DIGITS, _MEAN_DIGITS = 27, 24
"""A sum has ten digits more than what is summed, and Spark adds two decimals exactly up to 37; what it divides by a
count has four digits more behind the point only up to 34."""


def plain(column: Column, kind: DataType) -> Column:
    """-0.0 as 0.0, so that equal values are the same bits."""
    return column + lit(0.0).cast(kind.simpleString()) if isinstance(kind, FloatType | DoubleType) else column


def _require_number(name: str, kind: DataType, function: str, digits: int) -> None:
    if not isinstance(kind, ByteType | ShortType | IntegerType | LongType | DecimalType | FloatType | DoubleType):
        raise SpecError(f"aggregates.{name}", f"{function} takes numbers", kind.simpleString(), "cast(... as decimal)")
    if isinstance(kind, DecimalType) and kind.precision > digits:
        rule = f"{function} takes decimals of at most {digits} digits, so that it is exact"
        hint = f"cast(... as decimal({digits}, {min(kind.scale, 10)}))"
        raise SpecError(f"aggregates.{name}", rule, kind.simpleString(), hint)


def _require_ordered(name: str, kind: DataType, function: str) -> None:
    if not _has_order(kind):
        raise SpecError(f"aggregates.{name}", f"{function} takes values with an order", kind.simpleString())


def _has_order(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return all(_has_order(field.dataType) for field in kind.fields)
    return _has_order(kind.elementType) if isinstance(kind, ArrayType) else not isinstance(kind, MapType)


def total(column: Column) -> Column:
    """The sum over rows."""
    return call("sum", column)


def _least(column: Column) -> Column:
    return call("min", column)


def _greatest(column: Column) -> Column:
    return call("max", column)


_LIMB = 2**32


def _limbs(argument: Column) -> Mapping[str, Part]:
    wide = argument.cast("bigint")
    return {
        "high": Part(total(call("shiftright", wide, 32)), total, added),
        "low": Part(total(_low(wide)), total, added),
    }


def _whole(of: Values) -> Column:
    """The exact sum of two limbs as decimal(38, 0)."""
    high, low = of("high").cast("decimal(20,0)"), of("low").cast("decimal(20,0)")
    return (high * bigint(_LIMB).cast("decimal(10,0)") + low).cast("decimal(38,0)")


def _carried(of: Values) -> Mapping[str, Column]:
    return {
        "high": of("high") + call("shiftright", of("low"), 32),
        "low": _low(of("low")),
    }


def _low(wide: Column) -> Column:
    return Column(f"({wide.text} & {bigint(_LIMB - 1).text})")


def _fits_bigint(whole: Column) -> Column:
    low, high = bigint(-(2**63)).cast("decimal(38,0)"), bigint(2**63 - 1).cast("decimal(38,0)")
    return when(whole.between(low, high), whole.cast("bigint"))


def _sum(name: str, argument: Column, kind: DataType) -> CompiledAggregate:
    _require_number(name, kind, "sum", _SUM_DIGITS)
    if isinstance(kind, LongType):
        return CompiledAggregate(_limbs(argument), lambda of: _fits_bigint(_whole(of)), _carried)
    if isinstance(kind, ByteType | ShortType | IntegerType):
        part = Part(total(argument.cast("bigint")), total, added)
        return CompiledAggregate({"sum": part}, lambda of: of("sum"))
    return CompiledAggregate({"sum": _plain_sum(argument, kind)}, lambda of: of("sum"))


def _plain_sum(argument: Column, kind: DataType) -> Part:
    if isinstance(kind, DecimalType):
        wide = f"decimal({kind.precision + 10},{kind.scale})"
        return Part(
            total(argument).cast(wide),
            lambda column: total(column).cast(wide),
            lambda left, right: added(left, right).cast(wide),
        )
    return Part(total(plain(argument.cast("double"), DoubleType())), total, added)


def _mean(name: str, argument: Column, kind: DataType) -> CompiledAggregate:
    _require_number(name, kind, "mean", _MEAN_DIGITS)
    n = Part(call("count", argument), total, added)
    if isinstance(kind, LongType):
        parts = {**_limbs(argument), "n": n}
        return CompiledAggregate(parts, lambda of: _whole(of).cast("double") / of("n"), _carried)
    whole = _sum(name, argument, kind).parts["sum"]
    if isinstance(kind, DecimalType):
        type_of_avg = f"decimal({kind.precision + 4},{kind.scale + 4})"
        return CompiledAggregate({"sum": whole, "n": n}, lambda of: (of("sum") / of("n")).cast(type_of_avg))
    return CompiledAggregate({"sum": whole, "n": n}, lambda of: of("sum") / of("n"))


def _extreme(name: str, aggregate: Min | Max, argument: Column, kind: DataType) -> CompiledAggregate:
    _require_ordered(name, kind, aggregate.NAME)
    over, pick = (_least, sql.least) if isinstance(aggregate, Min) else (_greatest, sql.greatest)
    return CompiledAggregate({"value": Part(over(plain(argument, kind)), over, pick)}, lambda of: of("value"))


def _at_edge(
    name: str, aggregate: First | Last, argument: Column, kind: DataType, event_time: Column
) -> CompiledAggregate:
    _require_ordered(name, kind, aggregate.NAME)
    over, pick = (_least, sql.least) if isinstance(aggregate, First) else (_greatest, sql.greatest)
    stamped = when(argument.is_not_null(), sql.struct(at=event_time, value=plain(argument, kind)))
    return CompiledAggregate({"edge": Part(over(stamped), over, pick)}, lambda of: of("edge").field("value"))


def _count_distinct(name: str, argument: Column, kind: DataType) -> CompiledAggregate:
    _require_ordered(name, kind, "count_distinct")
    part = Part(
        call("collect_set", plain(argument, kind)),
        lambda column: call("array_distinct", call("flatten", call("collect_list", column))),
        lambda left, right: coalesce(call("array_union", left, right), left, right),
    )
    return CompiledAggregate({"values": part}, lambda of: greatest(call("size", of("values")), 0).cast("bigint"))


def _collect(name: str, argument: Column, kind: DataType, event_time: Column) -> CompiledAggregate:
    _require_ordered(name, kind, "collect")
    stamped = when(argument.is_not_null(), sql.struct(at=event_time, value=argument))
    part = Part(
        call("collect_list", stamped),
        lambda column: call("flatten", call("collect_list", column)),
        lambda left, right: coalesce(call("concat", left, right), left, right),
    )

    def extract(of: Values) -> Column:
        return coalesce(call("sort_array", of("list")).field("value"), sql.array())

    return CompiledAggregate({"list": part}, extract)


def is_floating(kind: DataType) -> bool:
    """True for types whose sums are not bit-stable under regrouping."""
    return isinstance(kind, FloatType | DoubleType) or (isinstance(kind, ArrayType) and is_floating(kind.elementType))
