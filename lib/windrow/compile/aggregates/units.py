"""Numbers as whole numbers of their smallest units, so that they fit 64 bits and nothing is rounded."""

from __future__ import annotations

from pyspark.sql.types import DataType, DecimalType

from windrow.compile.sql.columns import Column, lit

UNIT_DIGITS = 18
"""The digits of a decimal whose smallest units fit a bigint."""


def units(column: Column, kind: DataType) -> Column:
    """An integer, or a decimal of at most 18 digits, as a bigint."""
    if isinstance(kind, DecimalType) and kind.scale:
        column = column * _one(kind)
    return column.cast("bigint")


def from_units(column: Column, kind: DataType) -> Column:
    """The number that units stand for: a decimal in its own type, an integer as a bigint."""
    if not isinstance(kind, DecimalType):
        return column
    return (column.cast("decimal(19,0)") / _one(kind)).cast(kind.simpleString())


def _one(kind: DecimalType) -> Column:
    return lit(10**kind.scale).cast(f"decimal({kind.scale + 1},0)")
