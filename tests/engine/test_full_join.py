"""Groups that are joined by their key and bounds: rightly where a part of the key is null, and shuffled once."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL, KEY
from windrow.compile.sql.columns import call, col, lit, struct
from windrow.engine.frames import full_join, group, select

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


def _counted(spark: SparkSession, name: str, kind: str, *keys: str) -> DataFrame:
    """Two rows of each key, counted."""
    values = ", ".join(f"(CAST({key} AS {kind}))" for key in keys for _ in range(2))
    rows = spark.sql(f"SELECT k, 0L AS window_start, 1L AS window_end FROM VALUES {values} AS rows(k)")
    keyed = select(rows, {KEY: struct(k=col("k")), **{bound: col(bound) for bound in CELL if bound != KEY}})
    return group(keyed, CELL, {name: call("count", lit(1))}, to_join=True)
