"""Groups that are joined by their key and bounds: rightly where a part of the key is null, and shuffled once."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL, KEY
from windrow.compile.sql.columns import call, col, lit, struct
from windrow.engine.frames import full_join, group, with_column
from windrow.engine.newest import newest

pytestmark = pytest.mark.spark

KEYS = {
    "bigint": ("0", "7"), "string": ("''", "'x'"), "boolean": ("false", "true"), "double": ("0D", "-1.5D"),
    "decimal(10,2)": ("CAST(0 AS DECIMAL(10,2))", "CAST(2.5 AS DECIMAL(10,2))"),
    "date": ("DATE'1970-01-01'", "DATE'2024-02-29'"),
    "timestamp": ("TIMESTAMP'1970-01-01 00:00:00Z'", "TIMESTAMP'2024-02-29 00:00:00Z'"),
    "array<int>": ("array(0)", "array(1, null)"), "binary": ("X''", "X'01'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEYS)
def test_null_is_a_key_of_its_own(spark: SparkSession, kind: str) -> None:
    zero, other = KEYS[kind]
    left, right = _counted(spark, "n", kind, zero, "null", other), _counted(spark, "m", kind, zero, "null")
    found = full_join(left, right, CELL).selectExpr(
        f"CASE WHEN key.k IS NULL THEN 'null' WHEN key.k = {zero} THEN 'zero' ELSE 'other' END AS k", "n", "m"
    )
    assert sorted(map(tuple, found.collect())) == [("null", 2, 2), ("other", 2, None), ("zero", 2, 2)]


def test_groups_are_shuffled_once(spark: SparkSession) -> None:
    joined = full_join(*(_counted(spark, name, "bigint", "1", "null") for name in "nm"), CELL)
    assert joined._jdf.queryExecution().executedPlan().toString().count("Exchange hashpartitioning") == 2


VALUES = {"bigint": call("bigint", col("tick")), "array<bigint>": call("array", call("bigint", col("tick")))}


@pytest.mark.parametrize("kind", VALUES)
def test_the_newest_rows_of_each_are_joined_too(spark: SparkSession, kind: str) -> None:
    """Of a size that is fixed, and of another one, for which Spark groups by sorting."""
    rows = _keyed(spark, "VALUES (1, 1), (1, 2), (null, 3) AS rows(k, tick)")
    left = newest(rows, CELL, "tick", {"value": (VALUES[kind], kind)}, True)
    found = full_join(left, _counted(spark, "n", "int", "1", "null"), CELL).selectExpr("key.k", "tick", "n")
    assert sorted(map(tuple, found.collect()), key=str) == [(1, 2, 2), (None, 3, 2)]


def _counted(spark: SparkSession, name: str, kind: str, *keys: str) -> DataFrame:
    """Two rows of each key, counted."""
    values = ", ".join(f"(CAST({key} AS {kind}))" for key in keys for _ in range(2))
    return group(_keyed(spark, f"VALUES {values} AS rows(k)"), CELL, {name: call("count", lit(1))}, to_join=True)


def _keyed(spark: SparkSession, rows: str) -> DataFrame:
    """These rows in one window, with `k` as their key."""
    found = spark.sql(f"SELECT *, 0L AS window_start, 1L AS window_end FROM {rows}")
    return with_column(found, KEY, struct(k=col("k"))).drop("k")
