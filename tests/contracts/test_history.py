"""The history of a real Delta table is erased: nothing is left of rows that it has no more, and it goes on."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import deltalake
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from tests.drivers.shops import HER, files_with
from windrow.compile.sql.columns import col
from windrow.engine.frames import with_column
from windrow.spec.times import HOUR
from windrow.store.delta.copy_on_write import GOES, Rewrite, rewrite_once
from windrow.store.delta.history import History
from windrow.store.delta.location import Location
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.log_store import VersionTaken
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import CONFLICTS, Appender

HERS = Rewrite(lambda rows: with_column(rows, GOES, col("k") == HER))


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Location:
    """Steps 1 to 4 with a row of hers each, of which the first two were put together since."""
    location = Location(str(tmp_path / "lake" / "t"))
    for step in (1, 2):
        _append(spark, location, step)
    location.table(spark).optimize().executeCompaction()
    for step in (3, 4):
        _append(spark, location, step)
    return location


def _log(location: Location) -> StepLog:
    return StepLog(location, "a-table")


def _append(spark: SparkSession, location: Location, step: int, name: str = HER) -> None:
    frame = spark.sql(f"SELECT * FROM VALUES ('ann', {step}), ('{name}', {step}) AS t(k, step)").coalesce(1)
    _log(location).append(frame, step, {"note": step})


def _now() -> int:
    return time.time_ns() // 1000


def _erase(spark: SparkSession, location: Location) -> tuple[int, int]:
    erased = History(spark, location).erase(_now() - HOUR)
    return erased.files, erased.oldest


def _forget_cached(spark: SparkSession) -> None:
    """As a process that comes later."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]


def test_no_byte_is_left_and_the_table_goes_on(spark: SparkSession, tmp_path: Path, table: Location) -> None:
    rewrite_once(spark, table, HERS)
    assert files_with(tmp_path, HER)
    files, oldest = _erase(spark, table)
    assert files_with(tmp_path, HER) == [] and files > 0
    _forget_cached(spark)
    assert sorted(row["step"] for row in table.read(spark).collect()) == [1, 2, 3, 4]
    assert deltalake.DeltaTable(table.path).to_pyarrow_table().num_rows == 4
    assert oldest == CommitFiles(spark, table.path).versions()[-1]
    _append(spark, table, 5, "bob")
    assert table.read(spark).count() == 6
    assert _erase(spark, table) == (0, oldest), "there is nothing new to remove"
    _forget_cached(spark)
    assert table.read(spark).count() == 6


def test_steps_and_their_notes_are_known_and_what_they_have_written_is_not(
    spark: SparkSession, table: Location
) -> None:
    rewrite_once(spark, table, HERS)
    _erase(spark, table)
    log = _log(table)
    newest = log.last(spark)
    assert newest is not None and (newest.step, newest.notes) == (4, {"note": 4})
    commit = log.commit(spark, 1)
    assert commit is not None and commit.notes == {"note": 1}
    assert log.files(spark, 2, 4) is None, "their files are gone"
    written = log.written(spark, 2, 4)
    assert written is not None and all(file.stats is None for file in written)
    assert log.rows(spark, 2, 4, "step").count() == 2, "by Delta"


def test_what_is_there_keeps_its_statistics(spark: SparkSession, table: Location) -> None:
    rewrite_once(spark, table, HERS)
    _erase(spark, table)
    files = pa.table(deltalake.DeltaTable(table.path).get_add_actions(flatten=True)).to_pydict()
    assert all(number is not None for number in files["num_records"])


def test_when_a_commit_was_written_stays(spark: SparkSession, table: Location) -> None:
    log, yesterday = Path(table.path) / "_delta_log", int(time.time()) - 86_400  # Delta removes commits of last month
    for number, file in enumerate(sorted(log.glob("*.json"))):
        os.utime(file, (yesterday + number, yesterday + number))
    before = {file.name: file.stat().st_mtime for file in log.glob("*.json")}
    rewrite_once(spark, table, HERS)
    _erase(spark, table)
    assert {name: (log / name).stat().st_mtime for name in before} == before


def test_a_table_from_which_nothing_was_removed_is_left_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    location = Location(str(tmp_path / "lake" / "t"))
    _append(spark, location, 1)
    commits = {file.name: file.read_text() for file in (Path(location.path) / "_delta_log").glob("*.json")}
    assert _erase(spark, location) == (0, 0)
    assert {file.name: file.read_text() for file in (Path(location.path) / "_delta_log").glob("*.json")} == commits


def test_a_writer_that_is_late_finds_that_what_it_has_read_is_gone(spark: SparkSession, table: Location) -> None:
    """Delta looks for that in the commits since, as they are by then."""
    ours, deltas = Appender(spark, table.path), Appender(spark, table.path)
    rows = spark.sql("SELECT 'bob' AS k, 9 AS step")
    rewrite_once(spark, table, HERS)
    table.table(spark).optimize().executeCompaction()  # so that the commit before says no more of rows
    _erase(spark, table)
    ours.write(rows)
    with pytest.raises(VersionTaken):
        ours.commit("a-table", 5, "")
    made = [file.to_json() for file in deltas.write(rows)]
    with pytest.raises(CONFLICTS):
        deltas._commit_by_delta(made, "a-table", 5, "")
    assert sorted(row["k"] for row in table.read(spark).collect()) == ["ann"] * 4


def test_predicates_go_and_the_last_order_stays(spark: SparkSession, table: Location) -> None:
    table.table(spark).update(f"k = '{HER}'", {"k": "'nobody'"})
    table.table(spark).optimize().executeZOrderBy("step")
    _erase(spark, table)
    log = Path(table.path) / "_delta_log"
    assert HER not in "".join(file.read_text() for file in log.glob("*.json"))
    history = table.table(spark).history().where("operation = 'OPTIMIZE'").collect()
    assert any("step" in (row["operationParameters"] or {}).get("zOrderBy", "") for row in history)


def test_files_of_the_log_that_were_never_finished_go_when_they_are_old(spark: SparkSession, table: Location) -> None:
    log = Path(table.path) / "_delta_log"
    old, young = (log / f".{version:020}.json.1234.tmp" for version in (7, 8))
    for file in (old, young):
        file.write_text(json.dumps({"add": {"stats": HER}}))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    _erase(spark, table)
    assert (old.exists(), young.exists()) == (False, True)


def test_files_that_no_commit_has_named_are_left_to_vacuum(spark: SparkSession, table: Location) -> None:
    rewrite_once(spark, table, HERS)
    mine = Path(table.path) / "part-of-a-writer-at-work.snappy.parquet"
    mine.write_bytes(b"half a file")
    _erase(spark, table)
    assert mine.exists()
