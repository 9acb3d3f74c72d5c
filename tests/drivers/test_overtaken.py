"""A batch beside a stream that ticks more quickly than it computes: it is overtaken once, and then goes first."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.lake import STAGE, judged, pipeline, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.forget import forget
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import watched
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import Stream, run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.file_system import file_state
from windrow.store.delta.lease import LASTS, Lease
from windrow.store.delta.location import Lake
from windrow.store.delta.log.retries import ATTEMPTS
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender
from windrow.store.journal.cells import compact
from windrow.store.journal.journal import Journal

FIRST = 3
"""Files that have been read before the batch begins."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files, whose pipeline has late rows: its stage allows no lateness."""
    write_files(tmp_path / "data", range(FIRST))
    (tmp_path / STAGE).write_text('{"allowed_lateness": "0s"}')
    return tmp_path


@pytest.fixture
def lease(spark: SparkSession, tmp_path: Path) -> Lease:
    return Lease.of(spark, Lake.of(str(tmp_path / "lake")))


class Busy:
    """A stream that makes a tick whenever a batch is about to commit, as long as it does not have to wait."""

    def __init__(self, spark: SparkSession, root: Path, lease: Lease, point: str, made: Pipeline | None = None) -> None:
        self.root, self.lease, self.point, self.ticks = root, lease, point, 0
        work = PipelineWork.open(made or pipeline(root), spark)
        self.stream = Stream(work, clock_micros, None, threading.Event())
        self.stream.start()

    def passed(self, point: str) -> None:
        if point == self.point and not self.lease.is_taken():
            number = FIRST + self.ticks
            write_files(self.root / "data", range(number, number + 1))
            self.ticks += 1
            self.stream.cycle()


def test_a_restatement_is_overtaken_once(spark: SparkSession, root: Path, lease: Lease) -> None:
    run(pipeline(root), spark, once=True)
    busy = Busy(spark, root, lease, "backfill:before_journal")
    with watched(busy.passed):
        (found,) = restate(pipeline(root), spark)
    assert found.backfilled is not None and found.backfilled.tick is not None, "it had something to commit"
    assert busy.ticks == 1 < ATTEMPTS
    assert not lease.is_taken(), "it has given the lease back"
    run(pipeline(root), spark, once=True, drain=True)
    assert all(one.equal for one in reconcile(pipeline(root), spark))


@pytest.mark.parametrize("point", ["forget:before_raw", pytest.param("forget:before_journal", marks=pytest.mark.long)])
def test_a_forgetting_is_overtaken_once(spark: SparkSession, root: Path, lease: Lease, point: str) -> None:
    run(pipeline(root), spark, once=True)
    busy = Busy(spark, root, lease, point)
    with watched(busy.passed):
        found = forget(pipeline(root), spark, where="k = 'a' AND v > 5")
    assert found.stages[0].tick is not None and busy.ticks == 1
    assert not lease.is_taken()
    assert all(one.equal for one in reconcile(pipeline(root), spark))


def test_a_forgetting_in_the_tables_is_overtaken_once(
    spark: SparkSession, root: Path, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the tick is there `panes` is rewritten, and the stream writes to it, too."""
    run(pipeline(root), spark, once=True)
    busy, rewrite = Busy(spark, root, lease, "panes"), StepLog.rewrite

    def after_a_tick(log: StepLog, *arguments: Any) -> None:
        busy.passed(Path(log.location.path).name)
        rewrite(log, *arguments)

    monkeypatch.setattr(StepLog, "rewrite", after_a_tick)
    found = forget(pipeline(root), spark, where="k = 'a' AND v > 5")
    assert found.stages[0].tick is not None and busy.ticks == 1 and not lease.is_taken()
    assert all(one.equal for one in reconcile(pipeline(root), spark))


def test_a_compaction_beside_a_forgetting(spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have the cells as they were, so the tick is made once more."""
    run(pipeline(root), spark, once=True)
    calls: list[int] = []

    def beside(journal: Journal, session: SparkSession, tick: int, expired_end: int) -> None:
        compact(journal, session, tick, expired_end)
        calls.append(tick)
        if len(calls) == 1:
            other = Appender(session, journal.snapshot.location.path)
            other.begin(session)
            other.commit("somebody", tick, "")

    monkeypatch.setattr("windrow.drivers.forget.windows.stage.compact", beside)
    found = forget(pipeline(root), spark, where="k = 'a' AND v > 5")
    first, second = calls
    assert found.stages[0].tick == second == first + 1
    run(pipeline(root), spark, once=True, drain=True)
    assert all(one.equal for one in reconcile(pipeline(root), spark))


def test_a_quarantine_is_overtaken_once(spark: SparkSession, root: Path, lease: Lease) -> None:
    run(pipeline(root), spark, once=True)
    busy = Busy(spark, root, lease, "quarantine:before_raw")
    with watched(busy.passed):
        found = quarantine(pipeline(root), spark, "clicks", "batch-0001.json")
    assert found.step is not None and busy.ticks == 1 and not lease.is_taken()


@pytest.mark.long
def test_a_run_with_gates_is_overtaken_once(spark: SparkSession, tmp_path: Path, lease: Lease) -> None:
    """What it has staged is computed and judged again."""
    write_files(tmp_path / "data", range(FIRST))
    run(judged(tmp_path), spark, once=True)
    busy = Busy(spark, tmp_path, lease, "backfill:before_journal", judged(tmp_path))
    with watched(busy.passed):
        (found,) = restate(judged(tmp_path), spark)
    assert found.backfilled is not None and found.backfilled.tick is not None
    assert busy.ticks == 1 and not lease.is_taken()


def test_a_stream_waits_until_the_lease_is_given_back(spark: SparkSession, root: Path, lease: Lease) -> None:
    run(pipeline(root), spark, once=True)
    work = PipelineWork.open(pipeline(root), spark)
    stream, journal = Stream(work, clock_micros, None, threading.Event()), work.stages[0].runner.journal
    stream.start()
    write_files(root / "data", range(FIRST, FIRST + 1))
    before = journal.last(spark)
    lease.take()
    thread = threading.Thread(target=stream.cycle)
    thread.start()
    thread.join(2)
    assert thread.is_alive() and journal.last(spark) == before
    lease.give_back()
    thread.join(120)
    last = journal.last(spark)
    assert not thread.is_alive() and before is not None and last is not None and last.tick > before.tick


def test_another_batch_that_has_taken_it_meanwhile_keeps_it(lease: Lease) -> None:
    other = Lease(lease.spark, lease.path)
    lease.take()
    other.take()
    lease.give_back()
    assert other.is_taken()
    other.give_back()
    assert not lease.is_taken()


def test_one_that_is_given_back_between_two_looks(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    lease.take()
    state = file_state(lease.spark, lease.path)
    lease.give_back()
    monkeypatch.setattr("windrow.store.delta.lease.file_state", lambda *_: state)
    assert not lease.is_taken()


def test_a_lease_is_taken_for_some_time(lease: Lease) -> None:
    assert not lease.is_taken()
    lease.give_back()  # of nobody: nothing happens
    lease.take()
    assert lease.is_taken()
    for seconds, held in ((LASTS - 10, True), (LASTS + 10, False), (10 - LASTS, True), (-LASTS - 10, False)):
        _written(lease, time.time() - seconds)
        assert lease.is_taken() is held, f"written {seconds} s ago"
    lease.take()
    Path(lease.path).write_text("")
    assert not lease.is_taken()


def test_it_is_renewed_while_it_is_held_but_not_for_ever(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("LASTS", 3.0), ("RENEWED", 0.2), ("MOST", 5.0)):
        monkeypatch.setattr(f"windrow.store.delta.lease.{name}", seconds)
    with lease.taken():
        for _ in range(4):
            assert lease.is_taken()
            time.sleep(0.5)
        time.sleep(7)
        assert not lease.is_taken()
    with lease.taken():
        assert lease.is_taken()
    assert not lease.is_taken()


def test_nothing_fails_where_the_file_cannot_be_written(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    lease = Lease(spark, str(tmp_path / "file" / "lease"))
    with lease.taken():
        assert not lease.is_taken()


def test_who_stops_does_not_wait(lease: Lease) -> None:
    lease.take()
    stop = threading.Event()
    stop.set()
    lease.wait(stop)
    assert lease.is_taken()


def _written(lease: Lease, at: float) -> None:
    os.utime(lease.path, (at, at))
