"""A lake on S3 has the rows of a lake on a local disk, whatever dies meanwhile, and `deltalake` reads it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.cli.command import windrow
from tests.drivers.on_s3 import done
from tests.lake import STAGE, pipeline, write_files
from tests.object_store import BUCKET, NoObjectStore, ObjectStore, object_store
from tests.servers import free_port
from windrow.drivers.spark.jvm import has_s3
from windrow.drivers.stream.stream import run

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not has_s3(), reason="the jars of S3 are not set up: make setup EXTRA=s3"),
]
LAKE = f"s3a://{BUCKET}/lake"


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    try:
        with object_store(free_port()) as made:
            yield made
    except NoObjectStore as missing:
        pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def environment(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose lake is on the local disk."""
    root = tmp_path_factory.mktemp("project")
    write_files(root / "data", range(2))
    run(pipeline(root), spark, once=True, drain=True)
    return root


def on_s3(root: Path, lake: str, *tasks: str, kill: str = "") -> dict[str, Any]:
    """Tasks in a process of their own, which is killed at a point where one is named."""
    out, err = (process := started(root, lake, *tasks, kill=kill)).communicate(timeout=500)
    if kill:
        assert process.returncode == -signal.SIGKILL, err[-3000:]
        return {}
    assert process.returncode == 0, err[-3000:]
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def started(root: Path, lake: str, *tasks: str, kill: str = "") -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.drivers.on_s3", str(root), lake, *tasks]
    environment, pipe = {**os.environ, "WINDROW_KILL_AT": kill}, subprocess.PIPE
    return subprocess.Popen(words, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def rows(lake: str, table: str) -> list[str]:
    """The rows of a table without what a restart may change, as `deltalake` reads them."""
    names = {"produced_at", "duration_ms", "offset"}
    found = DeltaTable(f"{lake}/sums/{table}").to_pyarrow_table()
    kept = found.select([name for name in found.column_names if name not in names])
    return sorted(map(repr, kept.to_pylist()))


def assert_equal(root: Path, lake: str) -> None:
    for table in ("current", "panes", "dead_letters"):
        assert rows(lake, table) == rows(str(root / "lake"), table), table
    assert rows(lake, "panes")


@pytest.mark.long
def test_a_lake_on_s3(root: Path, tmp_path: Path) -> None:
    on_s3(root, LAKE, "drain")
    assert_equal(root, LAKE)
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump(pipeline(root).with_lake(LAKE).to_mapping()))
    status = windrow("status", file, "--json")
    assert status.code == 0 and status.json["stages"][0]["adds_up"], status.err
    shown = windrow("show", file, "sums", "--json")
    assert shown.code == 0 and shown.json


def test_a_store_that_does_not_know_the_condition_is_refused(root: Path, tmp_path: Path) -> None:
    """By the command, which loads the jars of S3 as its lake is there."""
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump(pipeline(root).with_lake(f"{LAKE}-deaf").to_mapping()))
    with object_store(free_port(), deaf=True) as deaf:
        words = [sys.executable, "-m", "windrow", "run", str(file), "--once"]
        environment = {**os.environ, **deaf.environment}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=200)
        kept = [line[1] for line in deaf.seen() if line[0] == "PUT" and line[3] == "200"]
    assert done.returncode == 2, done.stderr[-3000:]
    assert "lake must be where one of two drivers has a commit" in done.stderr and "If-None-Match" in done.stderr
    assert {path.split("/lake-deaf/")[-1] for path in kept if "lake-deaf" in path} == {"_windrow/put-if-absent"}


@pytest.mark.long
def test_a_lake_on_s3_is_reconciled_and_maintained(root: Path) -> None:
    lake = f"{LAKE}-kept-up"
    found = on_s3(root, lake, "drain", "reconcile", "maintain")
    assert found["reconcile"] == [0] and found["maintain"]
    assert_equal(root, lake)


@pytest.mark.long
def test_what_batches_do_on_s3_is_what_they_do_on_a_disk(spark: SparkSession, tmp_path: Path) -> None:
    """Late rows are restated, a person is forgotten and erased, a lease is taken and given back."""
    write_files(tmp_path / "data", range(3))
    (tmp_path / STAGE).write_text('{"allowed_lateness": "0s"}')
    tasks, lake = ("drain", "restate", "backfill", "forget", "erase", "reconcile", "lease"), f"{LAKE}-batches"
    found, meant = on_s3(tmp_path, lake, *tasks), done(pipeline(tmp_path), spark, tasks)
    for task in ("restate", "backfill", "forget", "reconcile", "lease"):
        assert found[task] == meant[task], task
    assert found["restate"][0] > 0 and found["forget"] > 0
    assert found["reconcile"] == [0] and found["lease"] == [False, True, False]
    assert_equal(tmp_path, lake)


@pytest.mark.long
@pytest.mark.parametrize("point", ["landing:after_raw#2", "tick:after_journal#2", "projection:after_panes#1"])
def test_a_process_dies(root: Path, point: str) -> None:
    lake = f"{LAKE}-{point.replace(':', '-').replace('#', '-')}"
    on_s3(root, lake, "drain", kill=point)
    on_s3(root, lake, "drain")
    assert_equal(root, lake)


@pytest.mark.long
@pytest.mark.parametrize("point", ["", "tick:after_journal#3"], ids=["none dies", "one dies"])
def test_two_streams_at_once(spark: SparkSession, tmp_path: Path, point: str) -> None:
    """One of them finds that the other was first, and ends; whoever goes on then makes what one alone makes."""
    write_files(tmp_path / "data", range(5))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    lake = f"{LAKE}-of-two-{point.partition(':')[0]}"
    both = [started(tmp_path, lake, "drain", kill=point), started(tmp_path, lake, "drain")]
    ends = [(process, process.communicate(timeout=500)[1]) for process in both]
    for process, said in ends:
        assert process.returncode in (0, -signal.SIGKILL) or "was written by" in said, said[-3000:]
    assert [process.returncode for process, _ in ends] != [0, 0], "they have not met"
    on_s3(tmp_path, lake, "drain")
    assert_equal(tmp_path, lake)
