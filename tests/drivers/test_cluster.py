"""What runs on a standalone cluster of two workers gives what it gives on this machine, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from demo.flights import write_landing_files
from tests.cluster import DRIVER, Cluster, cluster
from tests.drivers import cluster_run
from tests.lake import content, write_files
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.loading import load

pytestmark = pytest.mark.crash  # it starts JVMs of its own

ROOT = Path(__file__).parents[2]
FILES = range(4)
TABLES = ("current", "panes", "dead_letters")
Event = dict[str, Any]


@pytest.fixture(scope="module")
def alone(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The lake of a task on this machine, made once."""
    made: dict[str, Path] = {}

    def of(task: str) -> Path:
        if task not in made:
            made[task] = tmp_path_factory.mktemp(f"alone-{task}")
            write_files(made[task] / "data", FILES)
            cluster_run.TASKS[task](made[task], spark)
        return made[task]

    return of


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers of a core each."""
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def logged(root: Path, workers: Cluster, conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a run whose events are written down, with whole texts of plans."""
    (root / "events").mkdir(parents=True)
    events = {
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{root}/events",
        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false",
        "spark.sql.debug.maxToStringFields": "1000",
    }  # fmt: skip
    return {**workers.conf, **events, **conf}


def events(root: Path) -> list[Event]:
    """What Spark has written down of a run, in order."""
    (log,) = [path for path in (root / "events").iterdir() if not path.name.startswith(".")]
    return [json.loads(line) for line in log.read_text().splitlines()]


def on(workers: Cluster, root: Path, task: str, conf: Mapping[str, str], *kill: str) -> list[Event]:
    """A task on the cluster, in a process of its own."""
    write_files(root / "data", FILES)
    settings = json.dumps(logged(root, workers, conf))
    words = [sys.executable, "-m", "tests.drivers.cluster_run", task, str(root), workers.master, settings, *kill]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    return events(root)


def assert_equal(spark: SparkSession, here: Path, there: Path, *stages: str) -> None:
    for stage in stages or ("sums",):
        for name in TABLES:
            assert content(spark, there, name, stage) == content(spark, here, name, stage), (stage, name)
        assert content(spark, here, "panes", stage)


def shuffles(found: list[Event]) -> set[str]:
    """The numbers of partitions of the shuffles of a run, as its plans say them."""
    plans = [one["physicalPlanDescription"] for one in found if one["Event"].endswith("SQLExecutionStart")]
    return {
        match for plan in plans for match in re.findall(r"hashpartitioning\([^\n]*, (\d+)\), ENSURE_REQUIREMENTS", plan)
    }


def assert_by_both_workers(found: list[Event]) -> None:
    """The tasks of a run were those of two executors elsewhere than the driver."""
    hosts = {one["Executor Info"]["Host"] for one in found if one["Event"] == "SparkListenerExecutorAdded"}
    drivers = [one for one in found if one["Event"] == "SparkListenerEnvironmentUpdate"]
    assert hosts == {"127.0.0.1"} and drivers[0]["Spark Properties"]["spark.driver.host"] == DRIVER
    ran = {one["Task Info"]["Executor ID"] for one in found if one["Event"] == "SparkListenerTaskEnd"}
    assert len(ran) == 2 and "driver" not in ran


@pytest.mark.long
def test_rows_are_those_of_this_machine_and_settings_are_seen_in_the_plan(
    spark: SparkSession, alone: Callable[[str], Path], workers: Cluster, tmp_path: Path
) -> None:
    found = on(workers, tmp_path, "drain", {"spark.sql.shuffle.partitions": "7"})
    assert_equal(spark, alone("drain"), tmp_path)
    assert shuffles(found) == {"7"}
    assert_by_both_workers(found)


@pytest.mark.long
def test_partitions_are_those_of_the_work_and_of_the_cores_of_the_executors(
    spark: SparkSession, alone: Callable[[str], Path], tmp_path: Path
) -> None:
    """Four cores on paper: small ticks have two tasks, what is not sized has four, and this machine's cores nobody."""
    with cluster(tmp_path / "cluster", cores=2) as four:
        found = on(four, tmp_path / "there", "drain", {})
    assert_equal(spark, alone("drain"), tmp_path / "there")
    assert "2" in shuffles(found) <= {"2", "4"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "point"),
    [("drain", "tick:before_journal#2"), ("drain", "projection:after_panes#1"), ("publish", "backfill:after_staging")],
    ids=["a tick", "a projection", "a publish"],
)
def test_a_worker_dies_in_the_middle(
    spark: SparkSession, alone: Callable[[str], Path], workers: Cluster, tmp_path: Path, task: str, point: str
) -> None:
    name = next(name for name in workers.processes if name != "master")
    victim = workers.processes[name]
    try:
        found = on(workers, tmp_path, task, {}, str(victim.pid), point)
        assert victim.wait(10) == -9
    finally:
        workers.kill(name)
        workers.add(f"{name}+")
    kinds = [one["Event"] for one in found]
    ends = [one["Task End Reason"]["Reason"] for one in found if one["Event"] == "SparkListenerTaskEnd"]
    assert "ExecutorLostFailure" in ends, "it died with a task"
    assert "Success" in ends[-1:] and "SparkListenerExecutorRemoved" in kinds, "the run has gone on"
    assert_equal(spark, alone(task), tmp_path)


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command of windrow in a process of its own."""
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-m", "windrow", *words], cwd=ROOT, env=env, capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "stages"),
    [("flights.yaml", ("departures_hourly", "departures_rolling")), ("aircraft.yaml", ("bouts", "bouts_weekly"))],
)
def test_the_demonstration_and_a_chain(
    spark: SparkSession, workers: Cluster, tmp_path: Path, file: str, stages: tuple[str, ...]
) -> None:
    write_landing_files(tmp_path / "data", hours_per_file=24)
    given = logged(tmp_path / "there", workers, {"spark.sql.shuffle.partitions": "7"})
    conf = [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
    path = f"conf/pipelines/{file}"
    settings = {"sources.departures.files.path": str(tmp_path / "data"), "lake": str(tmp_path / "there" / "lake")}
    places = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    done = command("run", path, "--drain", *places, "--master", workers.master, *conf)
    assert done.returncode == 0, done.stderr[-3000:]
    found = events(tmp_path / "there")
    assert_by_both_workers(found)
    assert shuffles(found) == {"7"}
    run(load(ROOT / path, {**settings, "lake": str(tmp_path / "here" / "lake")}, ROOT), spark, drain=True)
    assert_equal(spark, tmp_path / "here", tmp_path / "there", *stages)


def test_a_setting_that_makes_results_wrong_is_refused_with_the_reason(tmp_path: Path) -> None:
    words = ["conf/pipelines/flights.yaml", "--set", f"lake={tmp_path}", "--master", "spark://127.0.0.1:1"]
    done = command("run", *words, "--conf", "spark.sql.ansi.enabled=true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "windrow: --conf: spark.sql.ansi.enabled must be false: one row that cannot be computed would stop a tick; got"
    )
