"""A job through the real `spark-submit`, on a machine whose defaults are others than windrow's: what holds in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from deltalake import DeltaTable

from demo.own_airflow import BIN, free_port
from tests.lake import pipeline, write_files
from windrow.spec.pipelines.submissions import Submission
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome, outcome_of

pytestmark = [pytest.mark.airflow, pytest.mark.crash]  # it starts a JVM of its own

DEFAULTS = """
spark.sql.session.timeZone Asia/Tokyo
spark.sql.ansi.enabled true
spark.sql.shuffle.partitions 3
spark.driver.memory 700m
spark.driver.extraJavaOptions -Dcluster=here
"""
APPLICATION = """
import json, sys
from pyspark.sql import SparkSession
from windrow.cli.jobs.step import main
from windrow.drivers.spark.session import working_session
try:
    main(sys.argv[1:])
finally:
    spark = SparkSession.builder.getOrCreate()
    system, conf = spark._jvm.java.lang.System, working_session(spark).conf
    names = ("session.timeZone", "ansi.enabled", "shuffle.partitions", "adaptive.enabled", "extensions")
    told = {name: conf.get(f"spark.sql.{name}") for name in names}
    told["memory"] = spark._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
    told["cluster"], told["ui"] = system.getProperty("cluster"), conf.get("spark.ui.enabled")
    print("TOLD " + json.dumps(told))
"""


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)


def project(root: Path) -> Path:
    """A pipeline file, and what it reads."""
    write_files(root / "data", range(2))
    (root / "tests.yaml").write_text(yaml.safe_dump(pipeline(root).to_mapping()))
    return root


def all_steps(root: Path) -> list[str]:
    """The arguments of a job that makes all steps of a run, and the report."""
    span = ["--run", "monday", "--from", "2024-01-01", "--to", "2024-01-02", "--whole", "--attempt", "one"]
    return ["land", str(root / "tests.yaml"), "--through", "report", *span, "--output", str(root / "page.html")]


def test_what_holds_in_a_job_and_what_it_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of all steps: its settings, a log of a few lines, and no value of `env` in any file."""
    from windrow.airflow.tasks.jobs import Job

    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "spark-defaults.conf").write_text(DEFAULTS)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "cluster"))
    monkeypatch.setenv("SECRET", "correct horse battery")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    root = project(tmp_path / "project")
    (tmp_path / "application.py").write_text(APPLICATION)
    submission = Submission(conf={"spark.sql.adaptive.enabled": True}, env={"PASSPHRASE": "${SECRET}"})
    lines: list[str] = []
    monkeypatch.setattr(Job, "_process_spark_submit_log", lambda self, output: lines.extend(output))
    Job.of(submission, "tests land", all_steps(root)).submit(str(tmp_path / "application.py"))
    (told,) = [json.loads(line.partition("TOLD ")[2]) for line in lines if "TOLD " in line]
    assert 500 < told.pop("memory") <= 700
    assert told == {
        "session.timeZone": "UTC", "ansi.enabled": "false", "shuffle.partitions": "3", "adaptive.enabled": "true",
        "extensions": "io.delta.sql.DeltaSparkSessionExtension", "cluster": "here", "ui": "false",
    }  # fmt: skip
    lake = Lake.of(str(root / "lake"))
    assert [outcome_of(lake, "monday", "one", step) for step in ("land", "report")] == [StepOutcome(0)] * 2
    assert len(lines) < 30, "\n".join(lines)
    assert not any("correct horse" in line for line in lines)
    assert "monday" in (root / "page.html").read_text()
    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(files) > 30 and not any(b"correct horse" in path.read_bytes() for path in files)


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """The master of a standalone cluster of one worker on this machine."""
    port = free_port()
    master, binary = f"spark://127.0.0.1:{port}", str(BIN / "spark-class")
    started = [
        ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())],
        ["worker.Worker", "--host", "127.0.0.1", "--webui-port", str(free_port()), "--cores", "2", "--memory", "1g",
         "--work-dir", str(folder), master],
    ]  # fmt: skip
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    processes = [
        subprocess.Popen(
            [binary, f"org.apache.spark.deploy.{words[0]}", *words[1:]], env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for words in started
    ]  # fmt: skip
    try:
        yield master
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.long
def test_a_standalone_cluster_runs_a_job_in_client_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    from windrow.airflow.dags import JOBS
    from windrow.airflow.tasks.jobs import Job

    root = project(tmp_path / "project")
    submission = Submission(driver_memory="1g", executor_memory="800m")
    with standalone(tmp_path / "work") as master:
        connection = {"conn_type": "spark", "host": master, "extra": {"deploy-mode": "client"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
        Job.of(submission, "tests land", all_steps(root)).submit(str(JOBS / "step.py"))
        assert list((tmp_path / "work").glob("app-*")), "an executor has run"
    lake = Lake.of(str(root / "lake"))
    assert outcome_of(lake, "monday", "one", "publish") == StepOutcome(0)
    assert DeltaTable(str(root / "lake" / "sums" / "current")).to_pyarrow_table().num_rows
