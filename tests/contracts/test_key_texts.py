"""A text on the command line stands for the key that Spark writes so, whatever the type of the key."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from windrow.drivers.inspect.show.key_texts import stands_for, texts_of

VALUES: dict[str, list[str]] = {
    "string": ["'a'", "''", "'Null'", "'ä b'"],
    "boolean": ["true", "false"],
    "int": ["0", "-7", "2147483647"],
    "bigint": ["-9223372036854775808"],
    "float": ["0.1", "-1.5", "1.0E10", "'NaN'", "'Infinity'", "'-Infinity'", "16777216"],
    "double": ["0.1", "1", "-1.0E-10", "1.0E7", "1234567.5", "9999999", "0.001", "0.00099", "'NaN'", "'-Infinity'"],
    "decimal(10,2)": ["1.5", "-0.05", "100"],
    "date": ["'2024-02-29'", "'0001-01-01'", "'9999-12-31'"],
    "timestamp": ["'2024-01-01T00:00:00Z'", "'2024-01-01T10:20:30.5Z'", "'1969-12-31T23:59:59.999999Z'"],
    "binary": ["'ab'"],
    "array<double>": ["array(0.5d, null, 1.0E10d, double('NaN'))", "array()", "array(1e-4d, 123456789d, -2e20d)"],
    "struct<a: string, b: array<decimal(5,1)>>": ["named_struct('a', null, 'b', array(1.5))"],
    "array<timestamp>": ["array(timestamp'2024-01-01T00:00:00.25Z', timestamp'2024-01-01T00:00:00Z')"],
    "array<struct<d: date, f: boolean, x: binary>>": [
        "array(named_struct('d', date'2024-01-01', 'f', true, 'x', cast('q' as binary)))"
    ],
}


@pytest.fixture(scope="module")
def written(spark: Any) -> Any:
    """What gives the values of a type and Spark's texts of them."""

    @cache
    def of(kind: str) -> pa.Table:
        rows = ", ".join(f"(CAST({value} AS {kind}))" for value in VALUES[kind])
        frame = spark.sql(f"SELECT v, CAST(v AS string) AS text FROM VALUES {rows} AS rows(v)")
        return frame.toArrow()

    return of


@pytest.mark.parametrize("kind", VALUES)
def test_the_text_of_spark_stands_for_the_value(written: Any, kind: str) -> None:
    table = written(kind)
    column, texts = table.column("v").combine_chunks(), table.column("text").to_pylist()
    if pa.types.is_nested(column.type):
        assert [texts_of(column.type)(value) for value in column.to_pylist()] == texts
        return
    rows = ds.dataset(pa.table({"v": column, "place": range(len(texts))}))
    for place, text in enumerate(texts):
        found = rows.to_table(filter=stands_for(text, ds.field("v"), column.type)).column("place").to_pylist()
        assert found == [place], text
