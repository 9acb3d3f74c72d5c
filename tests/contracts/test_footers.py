"""What the footer of a data file says of it is what Delta counts, row by row, when it writes the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from windrow.store.delta import footers
from windrow.store.delta.footers import are_counted, nulls_and_bounds_of, statistics_of
from windrow.store.delta.location import INDEXED
from windrow.store.delta.log.commit_files import AddedFile, CommitFiles
from windrow.store.delta.log.transactions import Appender

VALUES = {
    "byte": "CAST(id - 3 AS TINYINT)",
    "short": "CAST(id * 100 AS SMALLINT)",
    "int": "CAST(-id AS INT)",
    "long": "id * 10000000000",
    "text": "concat('a', id)",
    "long_text": "concat(repeat('é', 40), id)",
    "flag": "id > 2",
    "day": "DATE'1969-12-30' + CAST(id AS INT)",
    "time": "timestamp_micros(id * 1234567 - 2000001)",
    "old": "TIMESTAMP'0001-01-01 00:00:00'",
    "nothing": "CAST(NULL AS BIGINT)",
    "some": "IF(id % 2 = 0, id, NULL)",
    "some_flag": "IF(id = 1, true, NULL)",
    "number": "id / 7 - 0.1D",
    "zero": "-0.0D",
    "small": "4.9E-324D * id",
}


def _written(spark: SparkSession, path: Path, values: dict[str, str], rows: int = 6) -> tuple[AddedFile, StructType]:
    frame = spark.range(0, rows, 1, 1).selectExpr(*(f"{text} AS {name}" for name, text in values.items()))
    frame.write.format("delta").save(str(path))
    (file,) = CommitFiles(spark, str(path)).added(0)
    return file, frame.schema


def _of_footer(spark: SparkSession, path: Path, file: AddedFile, schema: StructType) -> dict[str, object]:
    found: dict[str, object] = json.loads(statistics_of(spark, str(path / file.path), file.size, schema))
    return found


def test_a_footer_says_what_delta_counts(spark: SparkSession, tmp_path: Path) -> None:
    file, schema = _written(spark, tmp_path / "table", VALUES)
    assert are_counted(schema)
    assert _of_footer(spark, tmp_path / "table", file, schema) == json.loads(file.stats or "")


def test_a_file_of_one_row(spark: SparkSession, tmp_path: Path) -> None:
    file, schema = _written(spark, tmp_path / "table", VALUES, rows=1)
    assert _of_footer(spark, tmp_path / "table", file, schema) == json.loads(file.stats or "")


def test_a_footer_that_is_long_is_read_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, schema = _written(spark, tmp_path / "table", VALUES)
    monkeypatch.setattr(footers, "local_path", lambda *_: None)
    monkeypatch.setattr(footers, "_TAIL", 100)
    assert _of_footer(spark, tmp_path / "table", file, schema) == json.loads(file.stats or "")


@pytest.mark.parametrize("value", ["1.5", "CAST(1 AS FLOAT)", "array(1)", "named_struct('a', 1)"])
def test_a_type_of_which_a_footer_says_less(spark: SparkSession, value: str) -> None:
    assert not are_counted(spark.range(1).selectExpr("id", f"{value} AS value").schema)


def test_a_text_without_bounds_leaves_the_rows_alone(spark: SparkSession, tmp_path: Path) -> None:
    file, schema = _written(spark, tmp_path / "table", {"id": "id", "text": "repeat('a', 100000)"})
    assert _of_footer(spark, tmp_path / "table", file, schema) == {"numRecords": 6}


@pytest.mark.parametrize("value", ["'NaN'", "'Infinity'", "'-Infinity'"])
@pytest.mark.parametrize("at", [0, 3, 5])
def test_what_is_no_number_leaves_the_rows_alone(spark: SparkSession, tmp_path: Path, value: str, at: int) -> None:
    number = f"IF(id = {at}, CAST({value} AS DOUBLE), id / 7)"
    file, schema = _written(spark, tmp_path / "table", {"id": "id", "number": number})
    assert _of_footer(spark, tmp_path / "table", file, schema) == {"numRecords": 6}


def test_nulls_count_where_bounds_cannot_be_said(spark: SparkSession, tmp_path: Path) -> None:
    before_the_year_1 = "IF(id = 1, timestamp_micros(-62135596800000001), NULL)"
    file, schema = _written(spark, tmp_path / "table", {"id": "id", "time": before_the_year_1})
    path = str(tmp_path / "table" / file.path)
    assert json.loads(statistics_of(spark, path, file.size, schema)) == {"numRecords": 6}
    found = json.loads(nulls_and_bounds_of(spark, path, file.size, schema))
    assert found == {"numRecords": 6, "minValues": {}, "maxValues": {}, "nullCount": {"id": 0, "time": 5}}


def test_a_file_without_statistics_is_refused_where_nulls_count(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).coalesce(1).write.option("parquet.column.statistics.enabled", "false").parquet(
        str(tmp_path / "rows")
    )
    (path,) = (tmp_path / "rows").glob("*.parquet")
    with pytest.raises(ValueError, match="does not say how many values are null"):
        nulls_and_bounds_of(spark, str(path), path.stat().st_size, spark.range(1).schema)


def test_an_append_says_of_the_first_columns_what_delta_would(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 6, 1, 1).selectExpr(
        *(f"{text} AS {name}" for name, text in VALUES.items()), "id % 2 AS part"
    )
    for name, number in (("counted", "3"), ("by_delta", None)):
        writer = frame.limit(0).write.format("delta").partitionBy("part")
        (writer if number is None else writer.option(INDEXED, number)).save(str(tmp_path / name))
    files = {}
    for name in ("counted", "by_delta"):
        append = Appender(spark, str(tmp_path / name))
        append.begin(spark)
        written = append.write(frame)
        append.commit("app", 1, "{}")
        assert spark.read.format("delta").load(str(tmp_path / name)).count() == 6
        files[name] = {file.partition["part"]: json.loads(file.stats or "") for file in written}
    assert files["counted"].keys() == {"0", "1"}
    for part, stats in files["by_delta"].items():
        of_first = {name: {column: stats[name][column] for column in ("byte", "short", "int")} for name in _OF_COLUMNS}
        assert files["counted"][part] == {"numRecords": 3, **of_first}


_OF_COLUMNS = ("minValues", "maxValues", "nullCount")


def test_delta_counts_nothing_where_footers_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.range(0).write.format("delta").option(INDEXED, "1").save(str(tmp_path / "table"))
    by_delta, of = [], AddedFile.of
    monkeypatch.setattr(AddedFile, "of", lambda add: by_delta.append(add.get("stats")) or of(add))
    append = Appender(spark, str(tmp_path / "table"))
    append.begin(spark)
    (file,) = append.write(spark.range(0, 6, 1, 1))
    assert by_delta[0] is None
    assert file.statistics.rows == 6


@pytest.mark.parametrize("more", ["1", "CAST(1 AS DECIMAL(5, 2))"])
def test_a_column_that_a_file_lacks_is_null_in_each_of_its_rows(spark: SparkSession, tmp_path: Path, more: str) -> None:
    """Whoever counts: by the footer, or Delta, where a footer says less of a type."""
    frame = spark.range(0, 6, 1, 1).selectExpr("id", "id AS other", f"{more} AS more", "named_struct('a', 1) AS within")
    flat = frame.drop("within")
    number = str(len(flat.columns))
    frame.limit(0).write.format("delta").option(INDEXED, number).save(str(tmp_path / "table"))
    append = Appender(spark, str(tmp_path / "table"))
    append.begin(spark)
    (file,) = append.write(flat.drop("other"))
    append.commit("app", 1, "{}")
    assert (file.statistics.known("other"), file.statistics.known("id")) == (0, 6)
    (row,) = spark.read.format("delta").load(str(tmp_path / "table")).where("other IS NULL AND id = 3").collect()
    assert (row.other, row.within) == (None, None)


def test_of_parts_of_a_column_a_footer_says_nothing(spark: SparkSession, tmp_path: Path) -> None:
    file, schema = _written(spark, tmp_path / "table", {"id": "id", "within": "named_struct('a', id)"})
    assert _of_footer(spark, tmp_path / "table", file, schema) == {"numRecords": 6}


def test_a_file_without_rows_has_no_nulls(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(0).coalesce(1).write.parquet(str(tmp_path / "rows"))
    (path,) = (tmp_path / "rows").glob("*.parquet")
    found = json.loads(nulls_and_bounds_of(spark, str(path), path.stat().st_size, spark.range(1).schema))
    assert found == {"numRecords": 0, "minValues": {}, "maxValues": {}, "nullCount": {"id": 0}}
