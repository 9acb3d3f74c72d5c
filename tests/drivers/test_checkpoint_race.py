"""Several that land one source at a time: every row lands once, nobody dies of it, and nobody returns too soon."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.drivers.test_sources import pipeline
from tests.lake import iso, table
from windrow.drivers.ingest import checkpoint_race
from windrow.drivers.ingest.checkpoint_race import CheckpointLock, LandingRun
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.spark.session import working_session
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.store.delta.log.retries import StepTaken

LANDS = 20


class Writing:
    """Files that appear all the time, each whole and with one row; `numbers` are those of the rows that are there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.numbers, self._end = folder, 0, threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def put(self) -> None:
        number = self.numbers
        path = self.folder / f"{number:05}.json"
        hidden = self.folder / f"_{number:05}"
        hidden.write_text(json.dumps({"k": "a", "v": number, "at": iso(number)}) + "\n")
        hidden.rename(path)
        self.numbers += 1

    def _write(self) -> None:
        while not self._end.wait(0.05):
            self.put()

    def __enter__(self) -> "Writing":
        self.put()
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()


def landed(spark: Any, root: Path) -> list[int]:
    return sorted(row["v"] for row in table(spark, root, "raw", "rows").collect())


def land(spark: Any, made: Pipeline) -> None:
    Landing(working_session(spark), made.sources[0], Lake.of(made.lake)).run()


def lands_beside(spark: Any, root: Path, made: Pipeline, files: Writing, times: int) -> None:
    """Land again and again; what was there when each began is there when it ends."""
    for _ in range(times):
        there = files.numbers
        land(spark, made)
        assert set(range(there)) <= set(landed(spark, root))


@pytest.mark.long
@pytest.mark.spark
def test_lands_beside_a_stream(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    path = tmp_path / "pipeline.yaml"
    path.write_text(yaml.safe_dump(made.to_mapping()))
    command = [sys.executable, "-c", "from windrow.cli import main; main()", "run", str(path), "--every", "100ms"]
    with Writing(tmp_path / "data") as files:
        stream = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)
        try:
            while not (tmp_path / "lake" / "sums" / "panes" / "_delta_log").exists():
                assert stream.poll() is None, stream.communicate()[0]
                time.sleep(0.5)
            lands_beside(spark, tmp_path, made, files, LANDS)
            assert stream.poll() is None, stream.communicate()[0]
        finally:
            stream.send_signal(signal.SIGTERM)
            said = stream.communicate(timeout=120)[0]
    assert stream.returncode == 0, said
    land(spark, made)
    assert landed(spark, tmp_path) == list(range(files.numbers))


@pytest.mark.long
def test_several_in_one_process_that_no_lock_keeps_apart(spark, tmp_path: Path, monkeypatch: Any) -> None:
    """As on a file system of other machines: they find out by Spark and by the files of the checkpoint."""
    monkeypatch.setattr(CheckpointLock, "is_taken", lambda self: True)
    lost: list[str] = []
    before = checkpoint_race.is_lost_race

    def noted(failure: BaseException, fault: BaseException | None = None) -> bool:
        lost.append(str(failure))
        return before(failure, fault)

    monkeypatch.setattr(checkpoint_race, "is_lost_race", noted)
    made = pipeline(tmp_path)
    failed: list[BaseException] = []

    def again_and_again() -> None:
        try:
            lands_beside(spark, tmp_path, made, files, 4)
        except BaseException as failure:
            failed.append(failure)

    with Writing(tmp_path / "data") as files:
        land(spark, made)
        threads = [threading.Thread(target=again_and_again) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed and lost
    land(spark, made)
    assert landed(spark, tmp_path) == list(range(files.numbers))


def test_a_batch_that_another_has_landed_meanwhile_is_done(spark, tmp_path: Path, monkeypatch: Any) -> None:
    """Another process lands the same batch of the same query between the look at raw and the append."""
    made = pipeline(tmp_path)
    with Writing(tmp_path / "data"):
        pass
    one, other = (Landing(spark, made.sources[0], Lake.of(made.lake)) for _ in range(2))
    before = one.raw.log.append

    def late(frame: Any, step: int, notes: Any, **options: Any) -> None:
        if other.raw.log.last(spark) is None:
            other.raw.log.append(frame, step, notes)
        before(frame, step, notes, **options)

    monkeypatch.setattr(one.raw.log, "append", late)
    one.run()
    rows = landed(spark, tmp_path)
    assert rows == sorted(set(rows)) and len(rows) >= 1


class Query:
    """A query that has ended with a failure, or well."""

    isActive = False

    def __init__(self, failure: Exception | None) -> None:
        self.failure = failure

    def exception(self) -> Exception | None:
        return self.failure

    def stop(self) -> None:
        """It has ended."""


def run_of(tmp_path: Path, *failures: Exception | None, steps: Any = None) -> LandingRun:
    left = iter(failures)
    steps = iter(range(99)) if steps is None else steps
    return LandingRun(lambda: Query(next(left)), str(tmp_path / "cp"), lambda: next(steps))  # type: ignore[arg-type, return-value]


def ended(run: LandingRun) -> Exception | None:
    while run.is_active:
        run.wait(1.0)
    return run.failure


def test_a_lost_race_is_run_again(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(checkpoint_race, "_MOST", 0.1)
    assert ended(run_of(tmp_path, LOST_LOG, LOST_LOG, None)) is None
    wrong = ValueError("a disk is full")
    assert ended(run_of(tmp_path, LOST_LOG, wrong)) is wrong


def test_a_batch_that_another_has_landed_is_a_lost_race(tmp_path: Path, monkeypatch: Any) -> None:
    """Its own failure is what counts: the query says it as a text only, as if it were any other."""
    monkeypatch.setattr(checkpoint_race, "_MOST", 0.1)
    run = run_of(tmp_path, RuntimeError("[STREAM_FAILED] a batch has failed"), None)
    run._fault = lambda: StepTaken("raw", 1, None)
    assert ended(run) is None
    other = RuntimeError("[STREAM_FAILED] a batch has failed: StepTaken")
    assert ended(run_of(tmp_path, other)) is other


LOST_LOG = RuntimeError("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. Multiple streaming jobs detected")


def test_races_that_nobody_wins_come_to_an_end(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(checkpoint_race, "_MOST", 0.1)
    monkeypatch.setattr(checkpoint_race, "FRUITLESS", 3)
    assert ended(run_of(tmp_path, *[LOST_LOG] * 9, steps=iter([5] * 9))) is LOST_LOG


def test_a_lock_is_of_one_at_a_time(tmp_path: Path) -> None:
    one, other = (CheckpointLock(f"file://{tmp_path}/cp") for _ in range(2))
    assert one.is_taken() and one.is_taken() and not other.is_taken()
    one.release()
    assert other.is_taken()
    assert CheckpointLock("s3a://bucket/cp").is_taken()
