"""A job through the real `spark-submit`, on a machine whose defaults are others than windrow's: what holds in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable

from demo.own_airflow import BIN
from tests.cluster import cluster
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


def job_on(root: Path, master: str, monkeypatch: pytest.MonkeyPatch, **submission: Any) -> dict[str, list[str]]:
    """A job of all steps in client mode; the rows of the tables, without what another run of it may change."""
    from windrow.airflow.dags import JOBS
    from windrow.airflow.tasks.jobs import Job

    connection = {"conn_type": "spark", "host": master, "extra": {"deploy-mode": "client"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    Job.of(Submission(**submission), "tests land", all_steps(root)).submit(str(JOBS / "step.py"))
    lake = Lake.of(str(root / "lake"))
    assert outcome_of(lake, "monday", "one", "publish") == StepOutcome(0)
    found = {}
    for name in ("current", "panes", "dead_letters"):
        rows = DeltaTable(str(root / "lake" / "sums" / name)).to_pyarrow_table()
        kept = rows.select([column for column in rows.column_names if column not in ("produced_at", "offset")])
        found[name] = sorted(map(repr, kept.to_pylist()))
    return found


@pytest.mark.long
def test_a_job_on_a_standalone_cluster_leaves_what_one_on_this_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = project(tmp_path / "here"), project(tmp_path / "there")
    with cluster(tmp_path / "cluster") as workers:
        conf = {name: value for name, value in workers.conf.items() if not name.endswith(".memory")}
        on_cluster = job_on(there, workers.master, monkeypatch, conf=conf, driver_memory="1g", executor_memory="700m")
        assert list((tmp_path / "cluster").glob("worker-*/app-*")), "an executor has run"
    on_machine = job_on(here, "local[2]", monkeypatch, driver_memory="1g")
    assert on_cluster == on_machine and on_cluster["panes"]
