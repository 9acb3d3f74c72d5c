"""A stream on a standalone cluster of two workers with one core each gives what it gives on this machine alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.cluster import DRIVER, Cluster, cluster
from tests.lake import content, pipeline, write_files
from windrow.drivers.stream.stream import run

pytestmark = pytest.mark.crash  # it starts JVMs of its own

FILES = range(4)


@pytest.fixture(scope="module")
def alone(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a run on this machine."""
    root = tmp_path_factory.mktemp("alone")
    write_files(root / "data", FILES)
    run(pipeline(root), spark, once=True, drain=True)
    return root


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "cluster") as made:
        yield made


def events(root: Path) -> Iterator[dict[str, Any]]:
    """What Spark has written down of a run."""
    for path in sorted((root / "events").rglob("*")):
        if path.is_file() and not path.name.startswith((".", "appstatus")):
            yield from map(json.loads, path.read_text().splitlines())


def on(workers: Cluster, root: Path, conf: Mapping[str, str], *kill: str) -> None:
    """A run on the cluster to the end, in a process of its own."""
    write_files(root / "data", FILES)
    (root / "events").mkdir()
    logged = {
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{root}/events",
        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false",
    }  # fmt: skip
    settings = json.dumps({**workers.conf, **logged, **conf})
    words = [sys.executable, "-m", "tests.drivers.cluster_run", str(root), workers.master, settings, *kill]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]


def assert_equal(spark: SparkSession, here: Path, there: Path) -> None:
    for name in ("current", "panes", "dead_letters"):
        assert content(spark, there, name) == content(spark, here, name), name
    assert content(spark, here, "panes")


def test_rows_are_those_of_this_machine_and_settings_are_seen_in_the_plan(
    spark: SparkSession, alone: Path, workers: Cluster, tmp_path: Path
) -> None:
    root = tmp_path / "there"
    on(workers, root, {"spark.sql.shuffle.partitions": "7"})
    assert_equal(spark, alone, root)
    found = [*events(root)]
    plans = [one["physicalPlanDescription"] for one in found if one["Event"].endswith("SQLExecutionStart")]
    shuffles = {
        match for plan in plans for match in re.findall(r"hashpartitioning\([^\n]*, (\d+)\), ENSURE_REQUIREMENTS", plan)
    }
    assert shuffles == {"7"}
    hosts = {one["Executor Info"]["Host"] for one in found if one["Event"] == "SparkListenerExecutorAdded"}
    drivers = [one for one in found if one["Event"] == "SparkListenerEnvironmentUpdate"]
    assert hosts == {"127.0.0.1"} and drivers[0]["Spark Properties"]["spark.driver.host"] == DRIVER
    ran = {one["Task Info"]["Executor ID"] for one in found if one["Event"] == "SparkListenerTaskEnd"}
    assert len(ran) == 2 and "driver" not in ran


@pytest.mark.long
@pytest.mark.parametrize("point", ["tick:before_journal#2", "projection:after_panes#1"], ids=["a tick", "a projection"])
def test_a_worker_dies_in_the_middle(
    spark: SparkSession, alone: Path, workers: Cluster, tmp_path: Path, point: str
) -> None:
    root = tmp_path / "there"
    victim = workers.processes["worker-0"].pid
    on(workers, root, {}, str(victim), point)
    assert workers.processes["worker-0"].poll() is not None
    lost = [one for one in events(root) if one["Event"] == "SparkListenerExecutorRemoved"]
    assert lost, "an executor was lost while the run went on"
    assert_equal(spark, alone, root)
