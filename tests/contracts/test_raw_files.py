"""The files of `raw` have numbers as differences, which every engine reads, unless Parquet's version is set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from windrow.drivers.ingest.landing import Landing
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake

pytestmark = pytest.mark.spark
FILES, ROWS = 3, 5000


def landed(spark: SparkSession, root: Path) -> Path:
    """`raw` of a source with columns of many types: the first step makes the table, the others append to it."""
    columns = (
        "id", "CAST(id % 7 AS INT) AS few", "timestamp_micros(1700000000000000 + id * 1000003) AS at",
        "CASE WHEN id % 5 > 0 THEN uuid() END AS code", "concat('key-', id % 11) AS again", "rand(1) AS share",
        "id % 3 = 0 AS yes", "CAST(id / 8 AS DECIMAL(20, 3)) AS price",
        "date_add(date'2024-01-01', CAST(id % 900 AS INT)) AS day",
        "array(id, id + 1) AS list", "named_struct('a', id, 'b', CAST(id AS STRING)) AS pair",
    )  # fmt: skip
    for number in range(FILES):
        rows = spark.range(number * ROWS, (number + 1) * ROWS, 1, 1).selectExpr(*columns)
        rows.write.parquet(str(root / "data" / f"{number}"))
        schema = ", ".join(f"{name} {kind}" for name, kind in rows.dtypes)
    source: dict[str, Any] = {
        "name": "events", "schema": schema, "event_time": {"column": "at", "format": "timestamp"},
        "files": {"path": str(root / "data" / "*" / "*.parquet"), "format": "parquet", "max_files_per_batch": 1},
        "watermark": {"bounded_delay": "1m"},
    }  # fmt: skip
    stage = {
        "name": "sums", "keys": ["few"], "window": {"fixed": {"size": "10m"}}, "accumulation": "accumulating",
        "aggregates": {"n": {"count": "*"}},
    }  # fmt: skip
    made = Pipeline.from_mapping(
        {"pipeline": "raw", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}
    )
    Landing(spark, made.sources[0], Lake.of(made.lake)).run()
    return root / "lake" / "events" / "raw"


def encodings(raw: Path, column: str) -> list[set[str]]:
    """How a column is written in each file, those of the first step first."""
    files = sorted(raw.glob("*.parquet"), key=lambda file: file.stat().st_mtime_ns)
    groups = [pq.read_metadata(file).row_group(0) for file in files]
    chunks = [[group.column(index) for index in range(group.num_columns)] for group in groups]
    return [set(next(one for one in some if one.path_in_schema == column).encodings) for some in chunks]


def test_every_engine_reads_them(spark: SparkSession, tmp_path: Path) -> None:
    raw = landed(spark, tmp_path)
    first, *others = encodings(raw, "_row")
    assert "DELTA_BINARY_PACKED" not in first and others == [{"DELTA_BINARY_PACKED"}] * (FILES - 1)
    assert encodings(raw, "_offset")[1:] == [{"DELTA_BYTE_ARRAY"}] * (FILES - 1)
    names = ("_step", "_row", "_event_time", "_offset", "id", "few", "code", "again", "price", "day")
    query = ", ".join(
        f"count({name}), count(DISTINCT {name}), CAST(min({name}) AS VARCHAR(99)), CAST(max({name}) AS VARCHAR(99))"
        for name in names
    )
    more = ", sum(share), count(CASE WHEN yes THEN 1 END), sum(id), sum(_event_time % 1000003)"
    sql = f"SELECT {query}{more} FROM {{}}"
    by_spark = spark.sql(sql.format(f"delta.`{raw}`")).first()
    table = DeltaTable(str(raw)).to_pyarrow_table()
    frame = pl.scan_delta(str(raw)).collect()
    assert by_spark is not None and table.num_rows == frame.height == FILES * ROWS
    with duckdb.connect() as connection:
        for name, rows in (("duckdb", f"read_parquet('{raw}/*.parquet')"), ("arrow", "table"), ("polars", "frame")):
            connection.register("table", table)
            connection.register("frame", frame.to_arrow())
            found = connection.execute(sql.format(rows if "(" in rows else f'"{rows}"')).fetchall()[0]
            assert [*found] == pytest.approx([*by_spark]), name
    assert sorted(map(str, frame["pair"].to_list())) == sorted(str(one) for one in table["pair"].to_pylist())


def test_a_version_that_is_set_is_left(spark: SparkSession, tmp_path: Path) -> None:
    own = spark.newSession()
    own.conf.set("parquet.writer.version", "PARQUET_1_0")
    raw = landed(own, tmp_path)
    assert all("DELTA_BINARY_PACKED" not in one for one in encodings(raw, "_row"))
    assert all("PLAIN_DICTIONARY" in one for one in encodings(raw, "_offset"))
