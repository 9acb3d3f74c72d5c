"""The DAGs as Airflow reads them: every pipeline file gives one, and none fails to be imported. No database here."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = ["land", "gate_rows", "compute", "gate_results", "publish", "report"]

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def bag(tmp_path_factory):  # type: ignore[no-untyped-def]
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(dag_folder=str(ROOT / "dags"))


def test_every_pipeline_file_is_a_dag(bag) -> None:  # type: ignore[no-untyped-def]
    assert bag.import_errors == {}
    names = {path.stem for path in (ROOT / "conf" / "pipelines").glob("*.yaml")}
    assert set(bag.dags) == {f"{name}_backfill" for name in names}


def test_the_steps_follow_each_other_and_a_report_hides_no_failure(bag) -> None:  # type: ignore[no-untyped-def]
    dag = bag.dags["flights_backfill"]
    assert [task.task_id for task in dag.topological_sort()] == STEPS
    assert [task.task_id for task in dag.tasks if task.is_teardown] == ["report"]
    assert {task.pool for task in dag.tasks} == {"windrow"}


def test_a_schedule_is_taken_from_the_file(bag) -> None:  # type: ignore[no-untyped-def]
    flights, traffic = bag.dags["flights_backfill"], bag.dags["traffic_backfill"]
    assert (type(flights.timetable).__name__, flights.timetable.expression) == (
        "CronDataIntervalTimetable",
        "0 3 * * *",
    )
    assert (flights.start_date.year, flights.end_date.year, flights.max_active_runs) == (2013, 2014, 1)
    assert {(task.conn_id if hasattr(task, "conn_id") else task._conn_id) for task in flights.tasks} == {"spark_local"}
    assert {task.retries for task in flights.tasks} == {2}
    assert type(traffic.timetable).__name__ == "NullTimetable"


def test_a_wrong_file_is_a_dag_that_says_so_and_hides_no_other(bag, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "traffic (1).yaml").write_text("pipeline: wrong\nlakee: here\n")
    (tmp_path / "traffic.yaml").write_text((ROOT / "conf" / "pipelines" / "traffic.yaml").read_text())
    monkeypatch.setenv("WINDROW_PIPELINES", str(tmp_path))
    made = type(bag)(dag_folder=str(ROOT / "dags"))
    assert made.import_errors == {} and set(made.dags) == {"wrong_file_traffic__1_", "traffic_backfill"}
    wrong = made.dags["wrong_file_traffic__1_"]
    assert "lakee is not a field" in wrong.description and type(wrong.timetable).__name__ == "NullTimetable"


def started(ago: timedelta) -> dict[str, SimpleNamespace]:
    """The context of a task whose run has started so long ago."""
    return {"dag_run": SimpleNamespace(start_date=datetime.now(UTC) - ago)}


@pytest.mark.parametrize(("ago", "fails"), [(timedelta(hours=35), False), (timedelta(hours=37), True)])
def test_windows_that_wait_are_looked_at_again_for_a_while(bag, monkeypatch, ago: timedelta, fails: bool) -> None:  # type: ignore[no-untyped-def]
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowRescheduleException

    def execute(self, context):  # type: ignore[no-untyped-def]
        assert self.application_args[-1] == "--wait"
        raise AirflowException("Cannot execute: spark-submit. Error code is: 4.")

    monkeypatch.setattr(SparkSubmitOperator, "execute", execute)
    task = bag.dags["flights_backfill"].get_task("land")
    with pytest.raises(AirflowFailException if fails else AirflowRescheduleException):
        type(task).execute(task, started(ago))


@pytest.mark.parametrize(("code", "is_final"), [(3, True), (2, True), (75, False), (-9, False), (137, False)])
def test_a_gate_is_not_tried_again_and_a_machine_is(bag, monkeypatch, code: int, is_final: bool) -> None:  # type: ignore[no-untyped-def]
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk.exceptions import AirflowException, AirflowFailException

    def execute(self, context):  # type: ignore[no-untyped-def]
        raise AirflowException(f"Cannot execute: spark-submit. Error code is: {code}.")

    monkeypatch.setattr(SparkSubmitOperator, "execute", execute)
    task = bag.dags["flights_backfill"].get_task("publish")
    with pytest.raises(AirflowException) as failed:
        type(task).execute(task, started(timedelta(0)))
    assert isinstance(failed.value, AirflowFailException) == is_final
