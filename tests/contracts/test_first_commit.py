"""A table whose first commit is windrow's own is to Delta and others what one is that Delta has made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from deltalake import DeltaTable as ArrowDeltaTable
from pyspark.sql import SparkSession

from windrow.store.delta.location import READABLE, Location
from windrow.store.delta.log.first_commit import can_make, make
from windrow.store.delta.log.log_store import VersionTaken
from windrow.store.projections.creation import ensure_table, struct_of

SCHEMA = "k bigint, name string, at timestamp, day date, price decimal(10, 2), parts array<struct<n: int, ok: boolean>>"


def _detail(spark: SparkSession, path: Path) -> dict[str, object]:
    found = DeltaTable.forPath(spark, str(path)).detail().collect()[0].asDict()
    wanted = ("format", "partitionColumns", "properties", "minReaderVersion", "minWriterVersion", "tableFeatures")
    return {name: found[name] for name in (*wanted, "numFiles", "sizeInBytes")}


def test_it_is_as_delta_makes_it(spark: SparkSession, tmp_path: Path) -> None:
    schema = struct_of(SCHEMA)
    assert can_make(spark, schema)
    make(spark, str(tmp_path / "own"), schema, ("day",), READABLE)
    builder = DeltaTable.createIfNotExists(spark).location(str(tmp_path / "delta")).addColumns(schema)
    for name, value in READABLE.items():
        builder = builder.property(name, value)
    builder.partitionedBy("day").execute()
    assert _detail(spark, tmp_path / "own") == _detail(spark, tmp_path / "delta")
    tables = [spark.read.format("delta").load(str(tmp_path / name)) for name in ("own", "delta")]
    assert tables[0].schema == tables[1].schema and tables[0].count() == 0
    sums = [json.loads((tmp_path / name / "_delta_log" / f"{0:020}.crc").read_text()) for name in ("own", "delta")]
    assert {*sums[0]} == {*sums[1]} - {"histogramOpt", "fileSizeHistogram", "allFiles"}


def test_delta_and_others_go_on_with_it(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    make(spark, path, struct_of("k bigint"), (), {**READABLE, "delta.checkpointInterval": "2"})
    for _ in range(3):
        spark.range(2).selectExpr("id AS k").write.format("delta").mode("append").save(path)
    assert Path(path, "_delta_log", f"{2:020}.checkpoint.parquet").exists()
    assert spark.read.format("delta").load(path).count() == 6
    assert ArrowDeltaTable(path).to_pyarrow_table().num_rows == 6


def test_one_of_two_makes_it(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    make(spark, path, struct_of("k bigint"), (), READABLE)
    with pytest.raises(VersionTaken):
        make(spark, path, struct_of("other string"), (), READABLE)
    ensure_table(spark, Location(path), struct_of("other string"))
    assert spark.read.format("delta").load(path).columns == ["k"]


@pytest.mark.parametrize("kind", ["timestamp_ntz", "variant", "string collate UNICODE", "array<timestamp_ntz>"])
def test_a_table_with_a_feature_is_left_to_delta(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    schema = spark.sql(f"SELECT CAST(NULL AS {kind}) AS k").schema
    assert not can_make(spark, schema)


def test_so_is_one_where_the_session_has_properties_for_all_tables(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.properties.defaults.appendOnly", "true")
    assert not can_make(session, struct_of("k bigint"))
    ensure_table(session, Location(str(tmp_path / "table")), struct_of("k bigint"))
    assert _detail(spark, tmp_path / "table")["properties"] == {"delta.appendOnly": "true", **READABLE}
