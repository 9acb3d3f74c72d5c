"""The types of arguments, as Spark has them, by what aggregates ask of them."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructType,
)

INTEGERS = ByteType | ShortType | IntegerType | LongType
FLOATS = FloatType | DoubleType


def has_order(kind: DataType) -> bool:
    """True for types whose values have an order."""
    if isinstance(kind, StructType):
        return all(has_order(field.dataType) for field in kind.fields)
    return has_order(kind.elementType) if isinstance(kind, ArrayType) else not isinstance(kind, MapType)


def is_floating(kind: DataType) -> bool:
    """True for types whose sums are not bit-stable under regrouping."""
    return isinstance(kind, FLOATS) or (isinstance(kind, ArrayType) and is_floating(kind.elementType))
