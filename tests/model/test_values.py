"""Values as SQL sees them, where Python's floats see more."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from tests.model.aggregates import compute, result_type
from tests.model.values import normal, order, rounded, single
from windrow.spec.aggregates import Collect, Count, CountDistinct, Max, Mean, Min, Sum


def test_there_is_one_zero_and_one_nan() -> None:
    assert str(normal(-0.0)) == "0.0"
    assert normal(float("nan")) is normal(-float("nan"))
    assert compute(CountDistinct("x"), "double", [(0, float("nan")), (0, float("nan")), (0, -0.0), (0, 0.0)]) == 2


def test_nan_is_the_largest_number() -> None:
    pairs = [(0, math.nan), (0, math.inf), (0, -1.0)]
    assert compute(Min("x"), "double", pairs) == -1.0
    assert math.isnan(compute(Max("x"), "double", pairs))
    assert sorted([math.nan, 1.0, math.inf], key=order)[:2] == [1.0, math.inf]


def test_sums_of_infinities() -> None:
    assert compute(Sum("x"), "double", [(0, math.inf), (0, 1.0)]) == math.inf
    assert math.isnan(compute(Sum("x"), "double", [(0, math.inf), (0, -math.inf)]))


def test_decimals_keep_their_digits() -> None:
    assert rounded(Decimal("0.125"), 2) == Decimal("0.13")
    assert rounded(Decimal("-0.125"), 2) == Decimal("-0.13")
    assert result_type(Sum("d"), "decimal(6, 2)") == "decimal(16, 2)"
    assert result_type(Mean("d"), "decimal(6, 2)") == "decimal(10, 6)"
    assert result_type(Sum("d"), "decimal(38, 2)") == "decimal(38, 2)"
    largest = Decimal("9" * 36)
    assert compute(Sum("d"), "decimal(38, 2)", [(0, largest), (0, largest.copy_negate()), (0, largest)]) == largest
    assert compute(Sum("d"), "decimal(38, 2)", [(0, largest), (0, largest)]) is None
    thirds = [(0, Decimal(value)) for value in (1, 1, 0)]
    assert compute(Mean("d"), "decimal(6, 2)", thirds) == Decimal("0.666667")


def test_types_of_results() -> None:
    assert result_type(Count(), "boolean") == "bigint"
    assert result_type(Sum("v"), "tinyint") == "bigint"
    assert result_type(Mean("v"), "bigint") == "double"
    assert result_type(Min("s"), "string") == "string"
    assert result_type(Collect("v"), "bigint") == "array<bigint>"


def test_numbers_of_32_bits() -> None:
    assert single(0.1) == pytest.approx(0.1, rel=1e-7)
    assert single(0.1) != 0.1
    assert single(-1e300) == -math.inf
