"""Rows of a real Delta table go, or become other ones, and nothing of what has gone stands in its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import col, lit
from windrow.engine.frames import select, with_column
from windrow.spec.errors import NotInThisVersion
from windrow.store.delta.copy_on_write import GOES, Rewrite, check_rewritable, rewrite_once, with_goes
from windrow.store.delta.location import READABLE, REWRITES, Location
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender

HER = "zq9x7vv"
HERS = Rewrite(lambda rows: with_column(rows, GOES, col("k") == HER))


@pytest.fixture(params=["plain", "partitioned"])
def table(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Location:
    """Two files, of which the first has a row of hers; in folders by `part`, of which one is null."""
    location = Location(str(tmp_path / "a table"))
    rows = {1: f"('ann', 1, 'x'), ('{HER}', 2, NULL)", 2: "('bob', 3, 'x'), (NULL, 4, 'y z')"}
    for step, values in rows.items():
        frame = spark.sql(f"SELECT * FROM VALUES {values} AS t(k, v, part)").coalesce(1)
        _log(location).append(frame, step, {}, ("part",) if request.param == "partitioned" else ())
    return location


def _log(location: Location) -> StepLog:
    return StepLog(location, "a-table")


def _values(spark: SparkSession, table: Location) -> list[tuple[Any, ...]]:
    return sorted(((row["k"], row["v"], row["part"]) for row in table.read(spark).collect()), key=repr)


def _newest(table: Location) -> list[dict[str, Any]]:
    file = max((Path(table.path) / "_delta_log").glob("*.json"))
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_files_that_have_some_are_written_again(spark: SparkSession, table: Location) -> None:
    before = {*table.read(spark).inputFiles()}
    assert rewrite_once(spark, table, HERS) == 1
    assert _values(spark, table) == [("ann", 1, "x"), ("bob", 3, "x"), (None, 4, "y z")]
    after = {*table.read(spark).inputFiles()}
    assert len(before - after) == 1, "the others are left alone"
    assert deltalake.DeltaTable(table.path).to_pyarrow_table().num_rows == 3
    assert HER not in str(_newest(table)) and sum("remove" in action for action in _newest(table)) == 1


def test_delta_counts_what_the_commit_says(spark: SparkSession, table: Location) -> None:
    rewrite_once(spark, table, HERS)
    files = pa.table(deltalake.DeltaTable(table.path).get_add_actions(flatten=True)).to_pydict()
    sums = max((Path(table.path) / "_delta_log").glob("*.crc")).read_text()
    assert json.loads(sums)["numFiles"] == len(files["path"])
    assert json.loads(sums)["tableSizeBytes"] == sum(files["size_bytes"])


def test_rows_become_others(spark: SparkSession, table: Location) -> None:
    def becomes(rows: DataFrame) -> DataFrame:
        return select(rows, {"k": lit("somebody"), "v": col("v") * 10, "part": col("part")})

    rewrite_once(spark, table, Rewrite(HERS.tells, becomes))
    assert ("somebody", 20, None) in _values(spark, table) and len(_values(spark, table)) == 4


def test_they_are_known_by_others_that_are_equal_in_some_columns(spark: SparkSession, table: Location) -> None:
    others = spark.sql("SELECT * FROM VALUES (2), (2), (9) AS t(_v)")
    rewrite_once(spark, table, Rewrite(lambda rows: with_goes(with_column(rows, "_v", col("v")), others, ("_v",))))
    assert [row[1] for row in _values(spark, table)] == [1, 3, 4]


def test_where_there_is_none_nothing_is_committed(spark: SparkSession, table: Location, tmp_path: Path) -> None:
    rewrite_once(spark, table, HERS)
    newest = _newest(table)
    assert rewrite_once(spark, table, HERS) == 0 and _newest(table) == newest
    assert rewrite_once(spark, table, HERS, lambda: False) == 0
    assert rewrite_once(spark, Location(str(tmp_path / "nowhere")), HERS) == 0


def test_as_a_step_of_a_log_it_says_that_it_changes_older_ones(spark: SparkSession, table: Location) -> None:
    reader = _log(table)
    assert reader.last(spark) is not None and reader.files(spark, 0, 1) is not None
    _log(table).rewrite(spark, 3, {"more": 1}, HERS)
    newest = reader.last(spark)
    assert newest is not None and (newest.step, newest.notes) == (3, {"more": 1, REWRITES: True})
    assert reader.files(spark, 0, 1) is None, "the files of the first step may be gone"


def test_what_another_writes_meanwhile_stays(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, others = Appender.write, [1]

    def first(append: Appender, frame: DataFrame) -> Any:
        written = write(append, frame)
        if others:
            others.pop()
            table.table(spark).optimize().executeCompaction()
            spark.sql("SELECT 'eve' AS k, 5 AS v, 'x' AS part").write.format("delta").mode("append").save(table.path)
        return written

    monkeypatch.setattr(Appender, "write", first)
    assert rewrite_once(spark, table, HERS) == 1
    assert [row[0] for row in _values(spark, table)] == ["ann", "bob", "eve", None]


@pytest.mark.parametrize("name", ["delta.enableChangeDataFeed", "delta.appendOnly", "delta.enableInCommitTimestamps"])
def test_a_table_whose_rows_only_delta_may_change_is_refused(
    spark: SparkSession, table: Location, tmp_path: Path, name: str
) -> None:
    check_rewritable(spark, table)
    check_rewritable(spark, Location(str(tmp_path / "nowhere")))
    spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('{name}' = 'true')")
    with pytest.raises(NotInThisVersion, match=r"only Delta may change its rows.*Hint: unset delta\.enableChange"):
        check_rewritable(spark, table)
    with pytest.raises(NotInThisVersion, match="only Delta may change its rows"):
        rewrite_once(spark, table, HERS)
    assert len(_values(spark, table)) == 4


def test_the_properties_of_our_tables_do_not_stand_in_the_way() -> None:
    assert not any(name in READABLE for name in ("delta.enableChangeDataFeed", "delta.appendOnly"))
