"""The hash that shifts windows by their key: Spark's `xxhash64` beside the model's, by type of the key."""

from decimal import Decimal
from typing import Any

import pytest

from tests.model.xxhash import xxhash64

VALUES: dict[str, list[Any]] = {
    "string": ["", "a", "Spark", "\u00e4\u20ac\U0001f600", *("x" * n + "yz" for n in range(1, 100))],
    "boolean": [True, False],
    "tinyint": [0, 1, -128, 127],
    "smallint": [-1, 32767],
    "int": [0, 7, -1, 2**31 - 1, -(2**31)],
    "bigint": [0, 7, -1, 2**63 - 1, -(2**63)],
    "float": [0.0, -0.0, 0.5, float("inf"), float("nan")],
    "double": [0.0, -0.0, 0.1, -1e300, float("-inf"), float("nan")],
    "decimal(9,2)": [Decimal("0.00"), Decimal("-12.34"), Decimal("9999999.99")],
    "decimal(20,1)": [
        Decimal("0.0"),
        Decimal("12.8"),
        Decimal("-12.8"),
        Decimal("-0.1"),
        Decimal("1234567890123456789.5"),
    ],
}


@pytest.mark.parametrize("kind", VALUES)
def test_each_type(spark, kind: str) -> None:
    values = [None, *VALUES[kind]]
    frame = spark.createDataFrame([(place, value) for place, value in enumerate(values)], f"place int, v {kind}")
    for row in frame.selectExpr("place", "xxhash64(v) AS hash").collect():
        assert row["hash"] == xxhash64([values[row["place"]]], [kind]), values[row["place"]]


def test_several_keys_in_their_order(spark) -> None:
    keys = [("a", 7, None), (None, 7, True), ("a", None, None), (None, None, None), ("", -1, False)]
    frame = spark.createDataFrame(keys, "k string, n bigint, b boolean")
    hashes = frame.selectExpr("xxhash64(k, n, b) AS hash").collect()
    assert [row["hash"] for row in hashes] == [xxhash64(key, ["string", "bigint", "boolean"]) for key in keys]
