"""Steps of a log on a real Delta table: one writer owns each, whatever happens beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow.spec.stages.keys import LogColumn
from windrow.store.delta import upkeep
from windrow.store.delta.location import STANDING, USER_METADATA, Location
from windrow.store.delta.log import steps, transactions
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.commits import repeating
from windrow.store.delta.log.log_store import VersionTaken, delta_log, newest_snapshot
from windrow.store.delta.log.retries import StepTaken
from windrow.store.delta.log.step_log import LostSteps, StepLog
from windrow.store.delta.log.transactions import CONFLICTS, Appender
from windrow.store.delta.upkeep import is_done
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables
from windrow.store.reading.tables import LakeTable, Tables


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Location:
    location = Location(str(tmp_path / "log"))
    _log(location).append(_row(spark, 1), 1, {}, (LogColumn.KIND,))
    return location


def _log(location: Location) -> StepLog:
    return StepLog(location, "a-log")


def _row(spark: SparkSession, step: int) -> DataFrame:
    return spark.range(1).selectExpr(f"'cell' AS {LogColumn.KIND}", f"{step}L AS step")


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


def _old_commits_are_removed(spark: SparkSession, table: Location, before: int) -> None:
    """What Delta does when it makes a checkpoint, where they are older than thirty days."""
    newest_snapshot(spark, table.path)  # Delta makes one of what it has seen
    delta_log(spark, table.path).checkpoint()
    for version in range(before):
        for file in Path(table.path, "_delta_log").glob(f"*{version:020d}.*"):
            file.unlink()


def test_a_stream_without_an_end_forgets_where_old_steps_are_and_finds_them_again(spark, table, monkeypatch) -> None:
    monkeypatch.setattr(steps, "KNOWN_STEPS", 2)
    reader, log = _log(table), _log(table)
    for step in range(2, 9):
        log.append(_row(spark, step), step, {})
        assert reader.last(spark).step == step
        assert len(reader._versions) <= 4
    assert _names(reader.rows(spark, 0, 8, "step")) == [*range(1, 9)] and len(reader.files(spark, 0, 8)) == 8
    assert reader.commit(spark, 1).step == 1


def test_maintenance_repeats_the_newest_step_for_when_its_commit_is_gone(spark: SparkSession, table: Location) -> None:
    _log(table).append(_row(spark, 2), 2, {"more": 1})
    assert is_done(spark, table, lambda: table.table(spark).delete("step = 1"))
    _old_commits_are_removed(spark, table, before=2)
    log = _log(table)
    newest = log.last(spark)
    assert newest is not None and (newest.step, newest.notes) == (2, {"more": 1})
    assert log.commit(spark, 2) == newest and log.owner(spark, 2) == newest.writer
    assert _names(log.rows(spark, 1, 2, "step")) == [2] and log.files(spark, 1, 2) is None
    for tables in (ArrowTables(), SparkTables(spark)):
        looked = tables.open(table)
        assert looked is not None and looked.last_step("a-log") == 2 and looked.notes() == {"more": 1}
    log.append(_row(spark, 3), 3, {})
    assert _steps(spark, table) == [2, 3]
    again = _log(table).last(spark)
    assert again is not None and again.step == 3


@pytest.mark.parametrize(
    "text", ["nightly job 17", "{half", '{"step": 3}', '{"standing": 3}', '{"step": "x", "writer": 1}']
)
def test_what_somebody_else_says_in_a_commit_is_no_step(spark: SparkSession, table: Location, text: str) -> None:
    spark.conf.set(USER_METADATA, text)
    try:
        table.table(spark).delete("step = 1")
    finally:
        spark.conf.unset(USER_METADATA)
    newest = _log(table).last(spark)
    assert newest is not None and newest.step == 1
    for tables in (ArrowTables(), SparkTables(spark)):
        looked = tables.open(table)
        assert looked is not None and looked.last_step("a-log") == 1 and looked.notes() == {}
    assert json.loads(repeating(CommitFiles(spark, table.path)))[STANDING]["step"] == 1


def _maintained_beside_a_step(spark: SparkSession, table: Location) -> None:
    """Step 3 comes while maintenance is at work, which has seen step 2."""
    _log(table).append(_row(spark, 2), 2, {})

    def do() -> None:
        _log(table).append(_row(spark, 3), 3, {})
        table.table(spark).delete("step = 1")

    assert is_done(spark, table, do)


def test_a_step_that_comes_while_maintenance_is_at_work_is_repeated(spark: SparkSession, table: Location) -> None:
    _maintained_beside_a_step(spark, table)
    _old_commits_are_removed(spark, table, before=4)
    log = _log(table)
    newest = log.last(spark)
    assert newest is not None and newest.step == 3
    log.append(_row(spark, 4), 4, {})
    assert _steps(spark, table) == [2, 3, 4]


def test_a_log_that_goes_back_is_refused(spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before it repeats that step, maintenance leaves a commit that repeats an older one."""
    monkeypatch.setattr(upkeep, "_say_again", lambda *_: None)
    _maintained_beside_a_step(spark, table)
    _old_commits_are_removed(spark, table, before=3)
    with pytest.raises(LostSteps, match="no commit of its newest step any more"):
        _log(table).last(spark)


def test_who_looks_seldom_finds_a_log_whose_older_commits_are_gone(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer, log = _log(table), _log(table), _log(table)
    assert all(one.last(spark).step == 1 for one in (reader, writer))  # type: ignore[union-attr]
    for step in range(2, 6):
        log.append(_row(spark, step), step, {})
    _old_commits_are_removed(spark, table, before=4)
    writer.append(_row(spark, 6), 6, {})
    assert reader.last(spark).step == 1, "for some minutes it trusts that no commit is removed"  # type: ignore[union-attr]
    monkeypatch.setattr(steps, "TRUSTED", 0.0)
    assert reader.last(spark).step == 6  # type: ignore[union-attr]
    assert _names(reader.rows(spark, 0, 6, "step")) == [*range(1, 7)]


def _names(frame: DataFrame) -> list[int]:
    return sorted(row["step"] for row in frame.collect())


def test_a_log_whose_steps_are_gone_is_refused(spark: SparkSession, table: Location) -> None:
    """Somebody else's commits repeat nothing. It would begin with step 1 again, which its readers have read."""
    table.table(spark).delete("step = 1")
    _old_commits_are_removed(spark, table, before=1)
    with pytest.raises(LostSteps, match="no commit of its newest step any more"):
        _log(table).append(_row(spark, 1), 1, {})


def test_a_step_that_another_has_written_is_not_written_again(spark: SparkSession, table: Location) -> None:
    late, early = _log(table), _log(table)
    assert late.last(spark) is not None
    early.append(_row(spark, 2), 2, {})
    with pytest.raises(StepTaken) as taken:
        late.append(_row(spark, 2), 2, {})
    assert (taken.value.step, taken.value.writer) == (2, early.writer)
    assert _steps(spark, table) == [1, 2]


@pytest.mark.parametrize("by_spark", [False, True], ids=["Arrow", "Spark"])
def test_who_looks_at_the_table_sees_no_step_made_since(spark: SparkSession, table: Location, by_spark: bool) -> None:
    tables: Tables = SparkTables(spark) if by_spark else ArrowTables()
    log, before = _log(table), tables.open(table)
    assert before is not None and before.last_step("a-log") == 1
    log.append(_row(spark, 2), 2, {"more": 1})
    assert before.notes() == {} and before.last_step("a-log") == 1 and _newest(before) == [1]
    log.append(_row(spark, 3), 3, {"more": 2})
    table.table(spark).optimize().executeCompaction()
    after = tables.open(table)
    assert after is not None and after.notes() == {"more": 2}, "a commit of maintenance says nothing of steps"
    assert _newest(after) == [3]


def _newest(table: LakeTable) -> list[int]:
    return [row["step"] for rows in table.newest_rows(("step",), "cell", "step") for row in rows.to_pylist()]


@pytest.mark.parametrize("by_delta", [False, True], ids=["another append", "a plain append"])
def test_of_two_appends_that_overlap_one_fails(spark: SparkSession, table: Location, by_delta: bool) -> None:
    log, begun = _log(table), Appender(spark, table.path)
    if by_delta:
        _row(spark, 2).write.format("delta").mode("append").save(table.path)
    else:
        log.append(_row(spark, 2), 2, {})
    with pytest.raises(CONFLICTS):
        begun.write(_row(spark, 3))
        begun.commit("a-log", 3, log.metadata(3, {}))
    assert _steps(spark, table) == [1, 2]


def _data_files(table: Location) -> set[Path]:
    return {*Path(table.path).rglob("*.parquet")} - {*Path(table.path, "_delta_log").rglob("*")}


def test_who_was_not_first_deletes_what_it_has_written(spark: SparkSession, table: Location) -> None:
    """Else rows that somebody has forgotten meanwhile would be in files of no table."""
    late, early, before = _log(table), _log(table), _data_files(table)

    def fill(append: Appender) -> dict[str, Any]:
        append.write(_row(spark, 2))
        assert len(_data_files(table)) == len(before) + 1
        early.append(_row(spark, 2), 2, {})
        return {}

    with pytest.raises(StepTaken):
        late.begun(spark, 2, fill)
    assert len(_data_files(table)) == len(before) + 1 and _steps(spark, table) == [1, 2]


def test_who_gives_up_deletes_what_it_has_written(spark: SparkSession, table: Location) -> None:
    before = _data_files(table)

    def fill(append: Appender) -> dict[str, Any]:
        append.write(_row(spark, 2))
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        _log(table).begun(spark, 2, fill)
    assert _data_files(table) == before


@pytest.mark.parametrize("error", [VersionTaken("it is there"), OSError("no answer")], ids=["taken", "no answer"])
def test_what_may_be_committed_is_not_deleted(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A store has made the commit, and its answer was lost: asked again, it says that somebody has made one."""
    put = transactions.put

    def put_and_lost(*what: Any) -> None:
        put(*what)
        raise error

    append, log = Appender(spark, table.path), _log(table)
    monkeypatch.setattr(transactions, "put", put_and_lost)
    append.write(_row(spark, 2))
    with pytest.raises(type(error)):
        append.commit("a-log", 2, log.metadata(2, {}))
    append.discard()
    assert _steps(spark, table) == [1, 2]


def test_maintenance_in_between_only_delays_it(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    _log(table).append(_row(spark, 2), 2, {})
    done: list[int] = []

    def compacting(commit: Callable[..., None]) -> Callable[..., None]:
        def committing(append: Appender, *arguments: object) -> None:
            if not done:
                done.append(1)
                table.table(spark).optimize().executeCompaction()
            commit(append, *arguments)

        return committing

    monkeypatch.setattr(Appender, "commit", compacting(Appender.commit))
    _log(table).append(_row(spark, 3), 3, {})
    assert done and _steps(spark, table) == [1, 2, 3]


def test_a_table_gains_a_column_with_the_step_that_has_it(spark: SparkSession, table: Location) -> None:
    wider = spark.range(1).selectExpr(f"'cell' AS {LogColumn.KIND}", "2L AS step", "7 AS more")
    log = StepLog(table, "a-log", schema=wider.schema)
    log.append(wider, 2, {})
    assert sorted((row["step"], row["more"]) for row in table.read(spark).collect()) == [(1, None), (2, 7)]


def test_a_frame_of_another_type_is_not_written(spark: SparkSession, table: Location) -> None:
    with pytest.raises(Exception, match=r"(?i)merge|type"):
        _log(table).append(spark.range(1).selectExpr(f"'cell' AS {LogColumn.KIND}", "'two' AS step"), 2, {})
    assert _steps(spark, table) == [1]


def test_rows_are_read_again_and_again_from_more_commits_than_are_remembered(
    spark: SparkSession, table: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOOK_BACK", 2)
    log = _log(table)
    for step in (2, 3, 4):
        log.append(_row(spark, step), step, {})
    for after, until in ((0, 4), (0, 4), (3, 4), (0, 1), (1, 3)):
        found = sorted(row["step"] for row in log.rows(spark, after, until, "step").collect())
        assert found == list(range(after + 1, until + 1))


def _checksum_file(table: Location, version: int) -> Path:
    return Path(table.path, "_delta_log", f"{version:020}.crc")


def _checksums(table: Location, version: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_checksum_file(table, version).read_text())
    return found


def test_a_commit_says_what_the_table_comes_to(spark: SparkSession, table: Location) -> None:
    log = _log(table)
    for step in (2, 3):
        log.append(_row(spark, step), step, {})
    found, detail = _checksums(table, 2), table.table(spark).detail().collect()[0]
    assert (found["numFiles"], found["tableSizeBytes"]) == (detail["numFiles"], detail["sizeInBytes"])
    assert [(one["appId"], one["version"]) for one in found["setTransactions"]] == [("a-log", 3)]
    _row(spark, 4).write.format("delta").mode("append").save(table.path)
    by_delta = _checksums(table, 3)
    assert by_delta["numFiles"] == found["numFiles"] + 1
    assert (by_delta["metadata"], by_delta["protocol"]) == (found["metadata"], found["protocol"])


def test_what_delta_counts_late_is_counted_on_by_the_next_commit(spark: SparkSession, table: Location) -> None:
    log = _log(table)
    log.append(_row(spark, 2), 2, {})
    file = _checksum_file(table, 1)
    text = file.read_text()
    file.unlink()  # it is there some seconds behind its commit, where that is of Delta
    again = _log(table)
    for step in (3, 4):
        again.append(_row(spark, step), step, {})
    assert not _checksum_file(table, 2).exists() and not _checksum_file(table, 3).exists()
    file.write_text(text)
    again.append(_row(spark, 5), 5, {})
    found, detail = _checksums(table, 4), table.table(spark).detail().collect()[0]
    assert (found["numFiles"], found["tableSizeBytes"]) == (detail["numFiles"], detail["sizeInBytes"])
    assert [(one["appId"], one["version"]) for one in found["setTransactions"]] == [("a-log", 5)]


def test_where_nobody_has_counted_a_checkpoint_does(spark: SparkSession, table: Location) -> None:
    spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('delta.checkpointInterval' = '3')")
    _checksum_file(table, 1).unlink()
    log = _log(table)
    for step in (2, 3, 4):
        log.append(_row(spark, step), step, {})
    assert [_checksum_file(table, version).exists() for version in (2, 3, 4)] == [False, True, True]
    detail = table.table(spark).detail().collect()[0]
    found = _checksums(table, 4)
    assert (found["numFiles"], found["tableSizeBytes"]) == (detail["numFiles"], detail["sizeInBytes"])


def test_a_log_is_a_checkpoint_now_and_then(spark: SparkSession, table: Location) -> None:
    spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('delta.checkpointInterval' = '3')")
    log = _log(table)
    for step in (2, 3, 4):
        log.append(_row(spark, step), step, {})
    assert Path(table.path, "_delta_log", f"{3:020}.checkpoint.parquet").exists()
    assert _steps(spark, table) == [1, 2, 3, 4]


def test_a_commit_that_must_say_more_is_left_to_delta(spark: SparkSession, table: Location) -> None:
    spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    log = _log(table)
    for step in (2, 3):
        log.append(_row(spark, step), step, {})
    assert _steps(spark, table) == [1, 2, 3]
    newest = Path(table.path, "_delta_log", f"{3:020}.json").read_text().splitlines()
    assert "inCommitTimestamp" in json.loads(newest[0])["commitInfo"]
    begun = Appender(spark, table.path)
    log.append(_row(spark, 4), 4, {})
    begun.write(_row(spark, 5))
    with pytest.raises(CONFLICTS):
        begun.commit("a-log", 5, log.metadata(5, {}))


def test_a_log_goes_on_behind_what_others_have_done_to_the_table(spark: SparkSession, table: Location) -> None:
    log = _log(table)
    log.append(_row(spark, 2), 2, {})
    spark.sql(f"ALTER TABLE delta.`{table.path}` ADD COLUMNS (more INT)")
    log.append(_row(spark, 3), 3, {})
    assert sorted((row["step"], row["more"]) for row in table.read(spark).collect()) == [
        (1, None),
        (2, None),
        (3, None),
    ]


def test_what_was_written_for_an_append_that_failed_is_in_no_other(spark: SparkSession, table: Location) -> None:
    log = _log(table)
    log.append(_row(spark, 2), 2, {})

    def failing(append: Appender) -> dict[str, object]:
        append.write(_row(spark, 99))
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        log.begun(spark, 3, failing)
    log.append(_row(spark, 3), 3, {})
    assert _steps(spark, table) == [1, 2, 3]
