"""The steps of a DAG, in their order and with the arguments that its tasks have, made in this process.

`test_backfill.py` lets Airflow's scheduler make them; it is long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
import yaml
from deltalake import DeltaTable
from typer.testing import CliRunner, Result

from demo.airflow import DAG, arrive, new_project
from windrow.cli import app
from windrow.drivers.inspect.findings import findings
from windrow.spec.pipelines.loading import load
from windrow.spec.times import HOUR, parse_time
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import BEGIN, Audits
from windrow.store.journal.outcomes import OUTCOME, StepOutcome, outcome_of

ROOT = Path(__file__).resolve().parents[2]
STAGE = "departures_hourly"
JOB = ("land", "gate_rows", "compute", "gate_results", "publish")
ID = "backfill__2013-01-02T03:00:00+00:00"
RUN = f"flights__{ID}"
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
    """What Airflow gives to the job of a task in this run. `Step.execute` adds that the first one waits."""
    task_instance = SimpleNamespace(log_url="http://127.0.0.1/task")
    context = {**INTERVAL, "run_id": ID, "params": {"from": None, "to": None}, "ti": task_instance}
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
    lake = Lake.of(load("conf/pipelines/flights.yaml", project=project).lake)

    def attempt(name: str, *words: str) -> Result:
        return CliRunner().invoke(app, ["step", *words, "--attempt", name])

    wrong = attempt("wrong", "land", *arguments(dag.get_task("land"))[1:], "--early")
    assert wrong.exit_code == 2 and "windrow: --early does not go with the other" in wrong.stderr
    assert outcome_of(lake, RUN, "wrong", "land") == StepOutcome(2, wrong.stderr.strip())
    waits = attempt("early", *arguments(dag.get_task("land")))
    assert waits.exit_code == 4 and "windrow: waits: departures_hourly: " in waits.stderr
    until = parse_time("2013-01-02T03:00:00Z") + 18 * HOUR  # the end of the day, and the lateness of the stage
    assert outcome_of(lake, RUN, "early", "land") == StepOutcome(4, waits.stderr.strip(), {STAGE: until})
    assert not (project / "lake" / "flights" / STAGE / "current" / "_delta_log" / "00000000000000000001.json").exists()
    arrive(project, 1)
    made = attempt("late", *arguments(dag.get_task("land")), "--through", "publish")
    assert made.exit_code == 0 and f"{STAGE}: " in made.output and " computed, not published yet" in made.output, (
        made.output
    )
    assert [outcome_of(lake, RUN, "late", step) for step in JOB] == [StepOutcome(0)] * len(JOB)
    wrong = attempt("back", *arguments(dag.get_task("publish")), "--through", "land")
    assert wrong.exit_code == 2 and "--through must not come before publish" in wrong.stderr
    report = dag.get_task("report")
    monkeypatch.setattr(report, "application_args", arguments(report))
    report.execute({"run_id": ID})  # it starts no job
    shown = DeltaTable(str(project / "lake" / "flights" / STAGE / "current")).to_pyarrow_table().to_pylist()
    assert 0 < sum(row["flights"] for row in shown) == sum(is_of_the_day(row) for row in landed(project))
    (page,) = (project / "out").glob("*.html")
    assert "2013-01-02 03:00" in page.read_text() and "the task</a>" in page.read_text()
    found = DeltaTable(Audits.of(lake).location.path).to_pyarrow_table().to_pylist()
    assert [row["step"] for row in found].count(BEGIN) == 1, "a run that has waited goes on"
    assert OUTCOME not in {step for step, _ in findings(lake, spark, RUN)}


def test_an_outcome_that_cannot_be_recorded_hides_no_error(
    spark, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Audits, "record_outcome", broken)
    words = ["step", "land", "conf/pipelines/flights.yaml", "--project", str(project), "--run", RUN, "--attempt", "one"]
    wrong = CliRunner().invoke(app, words)
    assert wrong.exit_code == 2
    first, last = wrong.stderr.strip().splitlines()
    assert first == "windrow: this outcome is not in the audits: OSError: the disk is full"
    assert last.startswith("windrow: --to is missing")
    good = CliRunner().invoke(app, [*words, "--from", "2013-01-01", "--to", "2013-01-02"])
    assert good.exit_code == 75 and "the disk is full" in good.stderr
