"""Steps of a log on a real Delta table: one writer owns each, whatever happens beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.store.delta import step_log
from windrow.store.delta.location import Location
from windrow.store.delta.retries import StepTaken
from windrow.store.delta.step_log import StepLog
from windrow.store.delta.transactions import CONFLICTS, Append


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Location:
    location = Location(str(tmp_path / "log"))
    _log(location).append(_row(spark, 1), 1, {}, ("kind",))
    return location


def _log(location: Location) -> StepLog:
    return StepLog(location, "a-log")


def _row(spark: SparkSession, step: int) -> DataFrame:
    return spark.range(1).selectExpr("'cell' AS kind", f"{step}L AS step")


def _steps(spark: SparkSession, location: Location) -> list[int]:
    return sorted(row["step"] for row in location.read(spark).collect())


def test_an_append_leaves_what_delta_leaves(spark: SparkSession, table: Location) -> None:
    log = _log(table)
    log.append(_row(spark, 2), 2, {"more": 1})
    assert _steps(spark, table) == [1, 2]
    newest = log.last(spark)
    assert newest is not None and (newest.step, newest.notes) == (2, {"more": 1})
    row = table.table(spark).history(1).collect()[0]
    assert (row["operation"], row["operationParameters"]["mode"]) == ("WRITE", "Append")
    again = _row(spark, 2).write.format("delta").mode("append").option("txnAppId", "a-log").option("txnVersion", 2)
    again.save(table.path)
    assert _steps(spark, table) == [1, 2], "Delta knows the step by its own guard too"


def test_a_step_that_another_has_written_is_not_written_again(spark: SparkSession, table: Location) -> None:
    late, early = _log(table), _log(table)
    assert late.last(spark) is not None
    early.append(_row(spark, 2), 2, {})
    with pytest.raises(StepTaken) as taken:
        late.append(_row(spark, 2), 2, {})
    assert (taken.value.step, taken.value.writer) == (2, early.writer)
    assert _steps(spark, table) == [1, 2]


@pytest.mark.parametrize("by_delta", [False, True], ids=["another append", "a plain append"])
def test_of_two_appends_that_overlap_one_fails(spark: SparkSession, table: Location, by_delta: bool) -> None:
    log, begun = _log(table), Append(spark, table.path)
    if by_delta:
        _row(spark, 2).write.format("delta").mode("append").save(table.path)
    else:
        log.append(_row(spark, 2), 2, {})
    with pytest.raises(CONFLICTS):
        begun.write(_row(spark, 3))
        begun.commit("a-log", 3, log.metadata(3, {}))
    assert _steps(spark, table) == [1, 2]


def test_maintenance_in_between_only_delays_it(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    _log(table).append(_row(spark, 2), 2, {})
    done: list[int] = []

    def compacting(commit: Callable[..., None]) -> Callable[..., None]:
        def committing(append: Append, *arguments: object) -> None:
            if not done:
                done.append(1)
                table.table(spark).optimize().executeCompaction()
            commit(append, *arguments)

        return committing

    monkeypatch.setattr(Append, "commit", compacting(Append.commit))
    _log(table).append(_row(spark, 3), 3, {})
    assert done and _steps(spark, table) == [1, 2, 3]


def test_a_table_gains_a_column_with_the_step_that_has_it(spark: SparkSession, table: Location) -> None:
    wider = spark.range(1).selectExpr("'cell' AS kind", "2L AS step", "7 AS more")
    log = StepLog(table, "a-log", schema=wider.schema)
    log.append(wider, 2, {})
    assert sorted((row["step"], row["more"]) for row in table.read(spark).collect()) == [(1, None), (2, 7)]


def test_a_frame_of_another_type_is_not_written(spark: SparkSession, table: Location) -> None:
    with pytest.raises(Exception, match=r"(?i)merge|type"):
        _log(table).append(spark.range(1).selectExpr("'cell' AS kind", "'two' AS step"), 2, {})
    assert _steps(spark, table) == [1]


def test_rows_are_read_again_and_again_from_more_commits_than_are_remembered(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_log, "LOOK_BACK", 2)
    log = _log(table)
    for step in (2, 3, 4):
        log.append(_row(spark, step), step, {})
    for after, until in ((0, 4), (0, 4), (3, 4), (0, 1), (1, 3)):
        found = sorted(row["step"] for row in log.rows(spark, after, until, "step").collect())
        assert found == list(range(after + 1, until + 1))
