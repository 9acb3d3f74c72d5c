"""Values as SQL sees them: one zero, one NaN, and an order in which NaN is the largest number."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any

NAN = math.nan
"""The one NaN: as the same object it is equal to itself inside tuples, lists and dicts."""


def normal(value: Any) -> Any:
    """The value that stands for all that SQL takes to be equal to it: -0.0 is 0.0, and every NaN is the same."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else value + 0.0
    return value


def order(value: Any) -> Any:
    """A sort key: numbers with NaN as the largest, texts by code point, false before true, structs field by field."""
    if isinstance(value, Mapping):
        return [(one is not None, order(one)) for one in value.values()]
    return (math.isnan(value), value) if isinstance(value, float) else value


def single(value: float) -> float:
    """The nearest number of 32 bits."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def rounded(value: Decimal, scale: int) -> Decimal:
    """A decimal with `scale` digits behind the point, half away from zero."""
    with localcontext(prec=100, rounding="ROUND_HALF_UP"):
        return value.quantize(Decimal(1).scaleb(-scale))


def fits(value: Decimal, precision: int, scale: int) -> bool:
    """Whether a decimal has a place in decimal(precision, scale)."""
    return value.copy_abs() < Decimal(1).scaleb(precision - scale)  # abs would round to 28 digits
