"""The steps of a DAG, in their order and with the arguments that its tasks have, made in this process.

`test_backfill.py` lets Airflow's scheduler make them; it is long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from deltalake import DeltaTable
from typer.testing import CliRunner

from demo.airflow import DAG, arrive, new_project
from windrow.cli import app

ROOT = Path(__file__).resolve().parents[2]
STAGE = "departures_hourly"
RUN = "backfill__2013-01-02T03:00:00+00:00"
INTERVAL = {"data_interval_start": "2013-01-01T03:00:00+00:00", "data_interval_end": "2013-01-02T03:00:00+00:00"}

pytestmark = pytest.mark.airflow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The flights of the first days, with the first stage of their pipeline."""
    project = new_project(tmp_path / "project", 2)
    file = project / "conf" / "pipelines" / "flights.yaml"
    pipeline = yaml.safe_load(file.read_text())
    pipeline["stages"] = [stage for stage in pipeline["stages"] if stage["name"] == STAGE]
    file.write_text(yaml.safe_dump(pipeline))
    return project


def arguments(task: Any) -> list[str]:
    """What Airflow gives to the job of a task in this run; the first one waits, as `Step.execute` adds."""
    context = {**INTERVAL, "run_id": RUN, "params": {"from": None, "to": None}}
    given = [jinja2.Template(text).render(context) for text in task.application_args]
    return [*given, "--wait"] if task.task_id == "land" else given


def landed(project: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for path in (project / "data" / "flights").glob("*.json") for line in path.open())


def is_of_the_day(row: dict[str, Any]) -> bool:
    first, end = (datetime.fromisoformat(INTERVAL[name]) for name in ("data_interval_start", "data_interval_end"))
    return row["departed_at"] is not None and first <= datetime.fromisoformat(row["departed_at"]) < end


def test_the_steps_of_a_day_wait_until_it_is_over_publish_it_and_report(
    spark, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
    monkeypatch.setenv("WINDROW_PROJECT", str(project))
    from airflow.dag_processing.dagbag import DagBag

    dag = DagBag(dag_folder=str(ROOT / "dags")).dags[DAG]
    waits = CliRunner().invoke(app, ["step", *arguments(dag.get_task("land"))])
    assert waits.exit_code == 4 and "windrow: waits: departures_hourly: " in waits.stderr
    assert not (project / "lake" / "flights" / STAGE / "current" / "_delta_log" / "00000000000000000001.json").exists()
    arrive(project, 1)
    for task in dag.topological_sort():
        made = CliRunner().invoke(app, ["step", *arguments(task)])
        assert made.exit_code == 0, (task.task_id, made.output)
    shown = DeltaTable(str(project / "lake" / "flights" / STAGE / "current")).to_pyarrow_table().to_pylist()
    assert 0 < sum(row["flights"] for row in shown) == sum(is_of_the_day(row) for row in landed(project))
    (report,) = (project / "out").glob("*.html")
    assert "2013-01-02 03:00" in report.read_text()
