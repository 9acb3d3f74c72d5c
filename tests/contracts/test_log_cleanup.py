"""Commits older than a time are removed up to a checkpoint, and Delta and deltalake read all that is younger."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable

from windrow.spec.times import MINUTE
from windrow.store.delta.location import READABLE, Location
from windrow.store.delta.log import first_commit
from windrow.store.delta.log.cleanup import LogCleanup
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.commits import repeating
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender
from windrow.store.projections.creation import struct_of

COMMITS = 120


@pytest.fixture
def log(spark, tmp_path: Path) -> StepLog:
    """A log of 120 commits without rows, a minute apart, with checkpoints at 50 and 100."""
    location = Location(str(tmp_path / "table"))
    first_commit.make(spark, location.path, struct_of("step bigint"), (), READABLE)
    made = StepLog(location, "test")
    for step in range(1, COMMITS + 1):
        made.add(spark, [], step, {})
    folder, now = tmp_path / "table" / "_delta_log", time.time()
    for file in folder.glob("0*"):
        at = now - 60 * (COMMITS - int(file.name[:20]))
        os.utime(file, (at, at))
    return made


def versions(log: StepLog) -> list[int]:
    return sorted(int(file.stem) for file in (Path(log.location.path) / "_delta_log").glob("0*.json"))


def before(minutes: int) -> int:
    return time.time_ns() // 1000 - minutes * MINUTE


def test_old_commits_go_up_to_a_checkpoint(spark, log: StepLog) -> None:
    cleanup = LogCleanup(spark, log.location.path)
    assert cleanup.run(before(110)) == 0, "there is no checkpoint as old as that"
    assert len([name for name in cleanup.removable(before(45)) if name.endswith(".json")]) == 50
    assert cleanup.run(before(45)) == 50 and versions(log) == [*range(50, COMMITS + 1)]
    assert cleanup.run(before(45)) == 0
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    for version in (50, 75, COMMITS):
        assert log.location.read(spark, version).count() == 0
        assert DeltaTable(log.location.path, version=version).transaction_version("test") == version


def test_the_newest_step_stays_where_maintenance_goes_on(spark, log: StepLog) -> None:
    """A source pauses, and others put files together, or delete rows, until there are checkpoints behind its steps."""
    table = Appender(spark, log.location.path)
    for number in range(COMMITS + 1, COMMITS + 41):
        table.begin(spark)
        table.commit("somebody", number, "")
    assert LogCleanup(spark, log.location.path).run(before(-1)) == 100
    assert versions(log)[0] == 100, "the checkpoint behind, at 150, would have cost the newest step"
    newest = StepLog(log.location, "test").last(spark)
    assert newest is not None and newest.step == COMMITS


def test_the_newest_commit_that_repeats_a_step_stays_where_that_of_the_step_is_gone(spark, log: StepLog) -> None:
    table, commits = Appender(spark, log.location.path), CommitFiles(spark, log.location.path)
    for number in range(COMMITS + 1, COMMITS + 41):
        table.begin(spark)
        table.commit("somebody", number, repeating(commits) if number <= COMMITS + 10 else "")
    for version in range(COMMITS + 1):
        (Path(log.location.path) / "_delta_log" / f"{version:020}.json").unlink()
    assert LogCleanup(spark, log.location.path).run(before(-1)) == 0
    newest = StepLog(log.location, "test").last(spark)
    assert newest is not None and newest.step == COMMITS


def test_whoever_is_at_work_goes_on(spark, log: StepLog) -> None:
    LogCleanup(spark, log.location.path).run(before(0))
    assert versions(log)[0] == 100
    log.add(spark, [], COMMITS + 1, {})
    other = StepLog(log.location, "test")
    newest = other.last(spark)
    assert newest is not None and newest.step == COMMITS + 1
    assert other.owner(spark, 60) is None and other.owner(spark, 110) == log.writer
