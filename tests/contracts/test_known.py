"""What Delta knows of the files of a table is what is in them, and they are not read for it."""

from __future__ import annotations

import operator
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from windrow.spec.errors import NotReadable
from windrow.store.delta.location import Location
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables
from windrow.store.reading.tables import Condition, LakeTable, Tables

LONG = "a text of which only the beginning is kept: "
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema(
    [("step", pa.int64()), ("number", pa.int64()), ("text", pa.string()), ("at", pa.timestamp("us", "UTC"))]
)
HOLDS = {"=": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}

numbers = st.integers(-3, 3)
texts = st.sampled_from(["", "a", "b", LONG + "1", LONG + "2"])
times = st.sampled_from([-1, 0, 1, 999, 1000, 1001, 10**6])
"""Microseconds: some are of one millisecond."""
values: Mapping[str, st.SearchStrategy[Any]] = {"step": numbers, "number": numbers, "text": texts, "at": times}
rows = st.fixed_dictionaries({**{name: st.none() | one for name, one in values.items()}, "step": numbers})
files = st.lists(st.lists(rows, min_size=1, max_size=4), min_size=1, max_size=5)
conditions = st.sampled_from([*values]).flatmap(
    lambda name: (
        st.builds(Condition, st.just(name), st.sampled_from([*HOLDS]), values[name])
        | st.builds(Condition, st.just(name), st.sampled_from(["is known", "is unknown"]))
    )
)


def written(folder: str, those: Sequence[Sequence[Mapping[str, Any]]]) -> LakeTable:
    """A table with these files."""
    for file in those:
        plain = [
            {**row, "at": None if row["at"] is None else EPOCH + timedelta(microseconds=row["at"])} for row in file
        ]
        write_deltalake(folder, pa.Table.from_pylist(plain, SCHEMA), mode="append")
    table = ArrowTables().open(Location(folder))
    assert table is not None
    return table


def meets(row: Mapping[str, Any], one: Condition) -> bool:
    value = row[one.column]
    if one.holds in ("is known", "is unknown"):
        return (value is None) == (one.holds == "is unknown")
    return value is not None and HOLDS[one.holds](value, one.value)


@settings(max_examples=150)
@given(files, st.lists(conditions, max_size=2), st.sampled_from([None, "text"]), st.sampled_from(["number", "at"]))
def test_what_is_known_is_what_is_there(
    those: Sequence[Sequence[Mapping[str, Any]]], asked: Sequence[Condition], by: str | None, measured: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = written(folder, those)
        found = [row for file in those for row in file if all(meets(row, one) for one in asked)]
        assert table.numbers(by, *asked) == Counter(None if by is None else row[by] for row in found)
        known = [row[measured] for row in found if row[measured] is not None]
        assert table.greatest(measured, *asked) == max(known, default=None)


def row(step: int, text: str | None = None, at: int = 0) -> Mapping[str, Any]:
    return {"step": step, "number": step, "text": text, "at": at}


ALIVE = [row(1), row(2), row(2)]
DEAD = [row(3, "late"), row(3)]
NEWEST = [row(4), row(5, "late"), row(5, "early")]


def without(folder: Path, *kept: int) -> None:
    """Remove the data files, but for some, counted in the order in which they were written."""
    found = sorted(folder.glob("*.parquet"), key=lambda file: file.stat().st_mtime_ns)
    for number, file in enumerate(found):
        if number not in kept:
            file.unlink()


def test_no_file_is_read_of_which_it_is_known(tmp_path: Path) -> None:
    table = written(str(tmp_path), [ALIVE, DEAD, NEWEST])
    without(tmp_path, 2)
    assert table.numbers("text", Condition("step", "<=", 3)) == {None: 4, "late": 1}
    assert table.numbers("text", Condition("step", ">", 2)) == {None: 2, "late": 2, "early": 1}
    assert table.numbers(None, Condition("step", "<=", 4)) == {None: 6}
    assert table.greatest("number", Condition("text", "is unknown")) == 4
    assert table.greatest("number", Condition("step", ">", 2)) == 5
    with pytest.raises((OSError, NotReadable)):
        table.numbers("text", Condition("step", ">", 1))


@pytest.mark.parametrize("reads", ["deltalake", "Spark"])
def test_both_readers_say_it(spark: SparkSession, tmp_path: Path, reads: str) -> None:
    folder = str(tmp_path / "table")
    text, place = "CASE WHEN id % 3 = 0 THEN 'late' END AS text", f"concat('{LONG}', id % 4) AS place"
    numbered = spark.range(1, 21, 1, 2)
    made = numbered.selectExpr("id AS step", text, place, "timestamp_micros(id * 1500) AS at", "id % 2 AS half")
    made.write.format("delta").partitionBy("half").save(folder)
    tables: Tables = ArrowTables() if reads == "deltalake" else SparkTables(spark)
    table = tables.open(Location(folder))
    assert table is not None
    odd, until = Condition("half", "=", 1), Condition("step", "<=", 9)
    assert table.numbers("text", odd, until) == {None: 3, "late": 2}
    assert table.numbers(None, odd) == {None: 10}
    assert table.numbers("place", odd) == {LONG + "1": 5, LONG + "3": 5}
    assert table.numbers("text", Condition("place", "=", LONG + "1")) == {None: 4, "late": 1}
    assert table.greatest("at", until) == 13500
    assert table.greatest("at", odd, Condition("text", "is known")) == 15 * 1500
    assert table.greatest("step", odd, Condition("text", "=", "early")) is None
