"""Rows of a real Delta table change in files that are written anew: as a MERGE would have it, whoever else writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.spec.times import parse_time
from windrow.store.delta.location import Location
from windrow.store.delta.log.commit_files import AddedFile
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender
from windrow.store.projections import rewriting

BY = ("k", "window_start")
SHOWN = "change <> 'delete'"
EARLY, LATE = "2026-03-01T10:00:00", "2026-03-01T11:00:00"


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Location:
    """A window in a file, and a later one in another."""
    location = Location(str(tmp_path / "current"))
    for step, start in enumerate((EARLY, LATE), start=1):
        _log(location).append(_rows(spark, start, {None: 1, "a": 1, "b": 1, "c": 1}).drop("change"), step, {})
    return location


def _log(location: Location) -> StepLog:
    return StepLog(location, "a-table")


def _rows(spark: SparkSession, start: str, values: dict[str | None, int], gone: tuple[str, ...] = ()) -> DataFrame:
    rows = ", ".join(
        f"({'NULL' if key is None else repr(key)}, {value}, '{'delete' if key in gone else 'insert'}')"
        for key, value in values.items()
    )
    return spark.sql(f"SELECT k, timestamp '{start}' AS window_start, v, change FROM VALUES {rows} AS t(k, v, change)")


def _changed(table: Location, new: DataFrame, starts: tuple[str, str] | None = (LATE, LATE), step: int = 3) -> bool:
    bounds = None if starts is None else (parse_time(f"{starts[0]}Z"), parse_time(f"{starts[1]}Z"))
    return rewriting.rewritten(_log(table), step, new, SHOWN, BY, bounds, 4, {"journal_step": 7})


def _values(spark: SparkSession, table: Location, start: str) -> dict[str | None, int]:
    rows = table.read(spark).where(f"window_start = timestamp '{start}'").collect()
    assert len({row["k"] for row in rows}) == len(rows)
    return {row["k"]: row["v"] for row in rows}


def _files_of(spark: SparkSession, table: Location, start: str) -> set[str]:
    rows = table.read(spark).where(f"window_start = timestamp '{start}'").selectExpr("_metadata.file_path AS file")
    return {row["file"] for row in rows.collect()}


def _live(spark: SparkSession, table: Location) -> set[str]:
    return {*table.read(spark).inputFiles()}


def test_new_rows_come_in_place_of_those_that_are_equal_in_key_and_window(spark: SparkSession, table: Location) -> None:
    early = _files_of(spark, table, EARLY)
    assert _changed(table, _rows(spark, LATE, {None: 2, "a": 2, "b": 2, "d": 2}, gone=("b",)))
    assert _values(spark, table, LATE) == {None: 2, "a": 2, "c": 1, "d": 2}
    assert _values(spark, table, EARLY) == {None: 1, "a": 1, "b": 1, "c": 1}
    assert _files_of(spark, table, EARLY) == early, "the file of another window is left alone"
    newest = _log(table).last(spark)
    assert newest is not None and (newest.step, newest.notes) == (3, {"journal_step": 7})
    assert deltalake.DeltaTable(table.path).to_pyarrow_table().num_rows == 8
    assert table.read(spark, version=1).count() == 8, "the version before can still be read"


def test_where_the_windows_are_not_known_all_files_are_written_anew(spark: SparkSession, table: Location) -> None:
    before = _live(spark, table)
    assert _changed(table, _rows(spark, EARLY, {"a": 5}), None)
    assert _values(spark, table, EARLY)["a"] == 5 and _values(spark, table, LATE)["a"] == 1
    assert not before & _live(spark, table)


def test_windows_in_which_nothing_has_changed_get_files_of_their_own(spark: SparkSession, table: Location) -> None:
    assert _changed(table, _rows(spark, EARLY, {"a": 5}), None)
    table.table(spark).optimize().executeCompaction()
    assert _files_of(spark, table, EARLY) == _files_of(spark, table, LATE), "one file has both windows"
    assert _changed(table, _rows(spark, LATE, {"a": 6}), step=4)
    early, late = (_files_of(spark, table, start) for start in (EARLY, LATE))
    assert early and late and not early & late
    assert _changed(table, _rows(spark, LATE, {"a": 7}), step=5)
    assert _files_of(spark, table, EARLY) == early and _values(spark, table, EARLY)["a"] == 5
    assert _values(spark, table, LATE) == {None: 1, "a": 7, "b": 1, "c": 1}


def test_files_are_known_from_one_commit_to_the_next(spark: SparkSession, table: Location) -> None:
    log, bounds = _log(table), (parse_time(f"{LATE}Z"), parse_time(f"{LATE}Z"))
    for step in range(3, 8):
        new = _rows(spark, LATE, {"a": step, f"new {step}": step})
        assert rewriting.rewritten(log, step, new, SHOWN, BY, bounds, 4, {})
    values = _values(spark, table, LATE)
    assert values["a"] == 7 and {f"new {step}" for step in range(3, 8)} <= values.keys() and len(values) == 9


def test_delta_counts_what_our_commits_say(spark: SparkSession, table: Location) -> None:
    """Its own count of files and bytes, made without our checksum, is what that says."""
    assert _changed(table, _rows(spark, LATE, {"a": 2}))
    files = pa.table(deltalake.DeltaTable(table.path).get_add_actions(flatten=True)).to_pydict()
    sums = json.loads((Path(table.path) / "_delta_log" / f"{2:020}.crc").read_text())
    assert (sums["numFiles"], sums["tableSizeBytes"]) == (len(files["path"]), sum(files["size_bytes"]))


@pytest.mark.parametrize("name", ["delta.enableChangeDataFeed", "delta.appendOnly"])
def test_delta_changes_a_table_that_says_more_of_its_changes(spark: SparkSession, table: Location, name: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('{name}' = 'true')")
    assert not _changed(table, _rows(spark, LATE, {"a": 2}))
    assert _values(spark, table, LATE)["a"] == 1


def test_many_rows_are_not_written_anew(spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "WRITTEN_ANEW", 3)
    monkeypatch.setattr(rewriting, "AS_MANY", 0)
    before = _live(spark, table)
    assert not _changed(table, _rows(spark, LATE, {"a": 2}))
    assert _live(spark, table) == before


def test_what_another_writes_meanwhile_stays(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maintenance compacts the table while the rows are written: they are written once more, over what it has left."""
    write, others = Appender.write, [*range(1)]

    def first(append: Appender, frame: DataFrame) -> Any:
        written = write(append, frame)
        if others:
            others.pop()
            table.table(spark).optimize().executeCompaction()
        return written

    monkeypatch.setattr(Appender, "write", first)
    assert _changed(table, _rows(spark, LATE, {"a": 2, "d": 2}))
    assert _values(spark, table, LATE) == {None: 1, "a": 2, "b": 1, "c": 1, "d": 2}
    assert _values(spark, table, EARLY) == {None: 1, "a": 1, "b": 1, "c": 1}


def test_a_file_may_hold_windows_that_start_in_the_millisecond_behind_its_last(spark: SparkSession) -> None:
    """Delta keeps milliseconds of a time, and leaves the rest away."""
    stats = {"numRecords": 1, "nullCount": {}, "minValues": {}, "maxValues": {}}
    bounds = {"minValues": {"window_start": f"{EARLY}.000Z"}, "maxValues": {"window_start": f"{EARLY}.001Z"}}
    file, silent = (AddedFile("f", 1, json.dumps({**stats, **more}), {}) for more in (bounds, {}))
    early = parse_time(f"{EARLY}Z")
    assert rewriting.may_hold(file, (early + 1_999, early + 5_000))
    assert not rewriting.may_hold(file, (early + 2_000, early + 5_000))
    assert not rewriting.may_hold(file, (early - 5_000, early - 1))
    assert rewriting.may_hold(silent, (early + 2_000, early + 5_000))
    assert rewriting.may_hold(AddedFile("f", 1, None, {}), (0, 1))
