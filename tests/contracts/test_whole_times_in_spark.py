"""Times that are whole numbers are read without decimals, and as they would be with them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from windrow.compile.sql.columns import col
from windrow.engine.frames import select
from windrow.sources.times import micros
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat

GREATEST = (1 << 63) - 1
NUMBERS = (
    0, 1, -1, 999, 1000, 1001, -999, -1000, -1001, 1_704_067_200_000, -62_135_596_800, 253_402_300_799,
    253_402_300_800, 253_402_300_799_999, GREATEST // 1000, GREATEST // 1000 + 1, GREATEST // 1_000_000 + 1,
    GREATEST, -GREATEST, -GREATEST - 1, None,
)  # fmt: skip
UNITS = [form for form in TimeFormat if form.value.startswith("unix_")]


@pytest.mark.parametrize("unit", UNITS)
def test_a_whole_number_is_read_as_a_decimal_one_is(spark: SparkSession, unit: TimeFormat) -> None:
    rows = spark.createDataFrame([(number,) for number in NUMBERS], "whole bigint")
    time = TimeColumn(column="whole", format=unit)
    both = select(rows, {"whole": col("whole"), "one": micros(time, "bigint"), "other": micros(time, "decimal(20,0)")})
    found = {row["whole"]: (row["one"], row["other"]) for row in both.collect()}
    assert {number: one for number, (one, _) in found.items()} == {
        number: other for number, (_, other) in found.items()
    }
    assert sum(one is not None for one, _ in found.values()) > 5


def test_a_small_type_does_not_overflow(spark: SparkSession) -> None:
    rows = spark.sql("SELECT CAST(2000000000 AS INT) AS at")
    (row,) = select(rows, {"at": micros(TimeColumn(column="at", format=TimeFormat.UNIX_S), "int")}).collect()
    assert row["at"] == 2_000_000_000_000_000
