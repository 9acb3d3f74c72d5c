"""The DAGs as Airflow reads them: every pipeline file gives one, and none fails to be imported. No database here."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from windrow.spec.errors import WINDOWS_WAIT
from windrow.spec.times import parse_time
from windrow.store.journal.outcomes import OUTCOME, subject_of

ROOT = Path(__file__).resolve().parents[2]
STEPS = ["land", "gate_rows", "compute", "gate_results", "publish", "clean", "report"]

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
    assert [task.task_id for task in dag.tasks if task.is_teardown] == ["clean", "report"]


def test_a_schedule_is_taken_from_the_file(bag) -> None:  # type: ignore[no-untyped-def]
    flights, traffic = bag.dags["flights_backfill"], bag.dags["traffic_backfill"]
    assert (type(flights.timetable).__name__, flights.timetable.expression) == (
        "CronDataIntervalTimetable",
        "0 3 * * *",
    )
    assert (flights.start_date.year, flights.end_date.year, flights.max_active_runs) == (2013, 2014, 1)
    jobs = [task for task in flights.tasks if task.task_id != "clean"]
    assert {task.submission.connection for task in jobs} == {"spark_local"}
    assert {task.retries for task in flights.tasks} == {2}
    assert type(traffic.timetable).__name__ == "NullTimetable"


ID = "scheduled__2013-01-02"
RUN = f"flights__{ID}"
SAID = "windrow: the gate of departures stops: one, two"
Ends = Callable[..., BaseException]


class Kept(dict[str, str]):
    """What Airflow keeps for a task over all of its tries."""

    set = dict.__setitem__


def started(ago: timedelta = timedelta(0), before: str | None = None) -> dict[str, Any]:
    """The context of a task whose run has started so long ago; what it leaves on its page is in `page`.

    `before` is the attempt by which the task before has ended.
    """
    page: dict[str, str] = {}
    task = SimpleNamespace(
        try_number=1, xcom_push=lambda key, value: page.update({key: value}), xcom_pull=lambda task_ids, key: before
    )
    run = SimpleNamespace(start_date=datetime.now(UTC) - ago)
    return {"run_id": ID, "dag_run": run, "ti": task, "page": page, "task_state_store": Kept()}


def record(lake: str, run: str, attempt: str, step: str, code: int, message: str) -> None:
    """Write how a step has ended, as it does."""
    until = {"until": {"departures_hourly": 7}} if code == WINDOWS_WAIT else {}
    result = json.dumps({"exit_code": code, "message": message, **until})
    row = {"run": run, "step": OUTCOME, "subject": subject_of(attempt, step), "result": result, "at": 1}
    write_deltalake(f"{lake}/_windrow/audits", pa.Table.from_pylist([row]), mode="append")


def named_attempt(arguments: list[str]) -> str:
    """The name that a job is given for its attempt."""
    return arguments[arguments.index("--attempt") + 1]


@pytest.fixture
def ends(bag, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ends:  # type: ignore[no-untyped-def]
    """What a task raises whose job failed, and has recorded that outcome, if any."""
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk.exceptions import AirflowException, TaskDeferred

    def ended(  # type: ignore[no-untyped-def]
        step: str, code: int | None, *, run=RUN, attempt=None, ago=timedelta(0), lake=str(tmp_path)
    ) -> BaseException:
        task = bag.dags["flights_backfill"].get_task(step)

        def execute(self, context):  # type: ignore[no-untyped-def]
            if code is not None:
                record(lake, run, attempt or named_attempt(self.application_args), step, code, SAID)
            raise AirflowException("Cannot execute: spark-submit. Error code is: 3.")

        monkeypatch.setattr(SparkSubmitOperator, "execute", execute)
        monkeypatch.setattr(task, "lake", lake)
        monkeypatch.setattr(task, "application_args", list(task.application_args))
        context = started(ago)
        with pytest.raises((AirflowException, TaskDeferred)) as failed:
            type(task).execute(task, context)
        assert context["page"].get("waits_for") == (SAID if isinstance(failed.value, TaskDeferred) else None)
        return failed.value

    return ended


@pytest.mark.parametrize(("ago", "fails"), [(timedelta(hours=35), False), (timedelta(hours=37), True)])
def test_windows_that_wait_are_looked_at_again_for_a_while(ends: Ends, ago: timedelta, fails: bool) -> None:
    from airflow.sdk.exceptions import AirflowFailException, TaskDeferred

    assert type(ends("land", 4, ago=ago)) is (AirflowFailException if fails else TaskDeferred)


def test_a_run_that_waits_is_left_to_the_triggerer(bag, ends: Ends, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    deferred: Any = ends("land", 4)
    path, given = deferred.trigger.serialize()
    assert path == "windrow.airflow.tasks.trigger.WindowsExpired"
    assert datetime.fromisoformat(given.pop("deadline")) > datetime.now(UTC) + timedelta(hours=35)
    given["sources"][0].pop("seen")
    assert given == {
        "lake": str(tmp_path),
        "until": {"departures_hourly": 7},
        "sources": [{"source": "departures", "connector": "files", "path": str(ROOT / "data/flights")}],
        "on_timeout": "fail",
        "poke_interval": 300,
        "allowed": {},
        "told": {},
        "landed": {},
        "due": None,
    }
    assert deferred.method_name == "resume"


def test_a_step_behind_landing_is_made_again_whatever_has_come(ends: Ends) -> None:
    deferred: Any = ends("compute", 4)
    assert [source["seen"] for source in deferred.trigger.sources] == [None]


def test_a_run_that_has_waited_makes_its_step_again(bag, ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    task = bag.dags["flights_backfill"].get_task("land")
    monkeypatch.setattr(type(task), "_made", lambda self, context, seen: context["run_id"])
    assert task.resume(started(), "departures_hourly: the windows of the interval have expired") == ID


def test_what_is_seen_to_wait_needs_no_job_before_something_happens(bag, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from airflow.sdk.exceptions import TaskDeferred

    from windrow.airflow.tasks import steps
    from windrow.drivers.inspect.waiting.windows import WaitingWindows

    waits = WaitingWindows("departures_hourly", 0, None, None, 20, 10, "source departures")
    dag, asked = bag.dags["flights_backfill"], []
    monkeypatch.setattr(steps, "foreseen", lambda tables, pipeline, span, sources: asked.append(span) or [waits])
    task = dag.get_task("land")
    monkeypatch.setattr(task, "lake", str(tmp_path))
    span = ["--from", "2013-01-01T03:00:00+00:00", "--to", "2013-01-02T03:00:00+00:00"]
    monkeypatch.setattr(task, "application_args", ["land", "flights.yaml", *span])
    context = started()
    with pytest.raises(TaskDeferred) as deferred:
        task.execute(context)
    assert context["page"]["waits_for"].startswith(
        "windrow: waits: departures_hourly: the last windows of the interval"
    )
    assert deferred.value.trigger.until == {"departures_hourly": 20} and "attempt" not in context["page"]
    assert asked == [(parse_time(span[1]), parse_time(span[3]))]
    assert submitting(task, started(timedelta(hours=37)), monkeypatch)[0] == "land", "it has waited long enough"
    assert submitting(dag.get_task("compute"), started(), monkeypatch)[0] == "compute"
    again = started()
    again["ti"].try_number = 2
    assert submitting(task, again, monkeypatch)[0] == "land", "somebody has cleared it, or a try has failed"
    with monkeypatch.context() as patch:
        patch.setattr(type(task), "execute", lambda self, context: pytest.fail("it looks at the lake again"))
        patch.setattr(type(task), "_made", lambda self, context, seen: "a job")
        assert task.resume(started(), "something may have come") == "a job"
    monkeypatch.setattr(steps, "foreseen", lambda *_: 1 / 0)
    assert submitting(task, started(), monkeypatch)[0] == "land", "whatever cannot be seen is left to the job"


def test_the_first_step_is_told_to_wait_and_each_job_has_a_name_of_its_own(bag, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    given: list[list[str]] = []
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda self, _: given.append(self.application_args))
    for step in ("land", "publish", "publish"):
        task = bag.dags["flights_backfill"].get_task(step)
        monkeypatch.setattr(task, "lake", str(tmp_path))
        with monkeypatch.context() as patch:
            patch.setattr(task, "application_args", list(task.application_args))
            type(task).execute(task, started())
    assert ["--wait" in arguments for arguments in given] == [True, False, False]
    assert len(set(map(named_attempt, given))) == 3 and all(map(named_attempt, given))


def submitting(task: Any, context: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a task whose job succeeds; the arguments of the job, none where there was no need of one."""
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    given: list[list[str]] = [[]]
    with monkeypatch.context() as patch:
        patch.setattr(SparkSubmitOperator, "execute", lambda self, _: given.append(self.application_args))
        patch.setattr(task, "application_args", list(task.application_args))
        type(task).execute(task, context)
    return given[-1]


def test_a_job_makes_the_steps_that_are_left_and_the_tasks_behind_it_tell(bag, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A task that is cleared when it has told how its step has ended makes it anew, with those behind it."""
    dag, lake = bag.dags["flights_backfill"], str(tmp_path)
    for task in dag.tasks:
        monkeypatch.setattr(task, "lake", lake)
    first = started()
    job = submitting(dag.get_task("land"), first, monkeypatch)
    assert job[job.index("--through") + 1] == "publish"
    assert first["page"]["attempt"] == first["task_state_store"]["attempt"] == named_attempt(job)
    for step in ("land", "gate_rows"):
        record(lake, RUN, named_attempt(job), step, 0, "")
    second = started(before=named_attempt(job))
    gate = dag.get_task("gate_rows")
    assert submitting(gate, second, monkeypatch) == []
    assert second["page"]["attempt"] == named_attempt(job)
    again = submitting(gate, second, monkeypatch)
    assert again[0] == "gate_rows" and named_attempt(again) != named_attempt(job)
    killed = submitting(dag.get_task("compute"), started(before=named_attempt(job)), monkeypatch)
    assert killed[0] == "compute", "it has recorded nothing"


@pytest.mark.parametrize(("code", "is_final"), [(3, True), (2, True), (75, False)])
def test_a_step_that_has_failed_in_the_job_of_another_task_fails(  # type: ignore[no-untyped-def]
    bag, tmp_path: Path, monkeypatch, code: int, is_final: bool
) -> None:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException

    task, context = bag.dags["flights_backfill"].get_task("gate_rows"), started(before="one")
    monkeypatch.setattr(task, "lake", str(tmp_path))
    record(str(tmp_path), RUN, "one", "gate_rows", code, SAID)
    with pytest.raises(AirflowException) as failed:
        type(task).execute(task, context)
    assert isinstance(failed.value, AirflowFailException) == is_final
    assert str(failed.value).startswith(f"gate_rows: {SAID}")
    assert submitting(task, context, monkeypatch)[0] == "gate_rows"


def test_windows_of_a_job_that_waits_are_shown_early_at_last(bag, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from airflow.sdk.exceptions import TaskDeferred

    from windrow.spec.pipelines.schedules import OnTimeout

    task = bag.dags["flights_backfill"].get_task("compute")
    monkeypatch.setattr(task, "lake", str(tmp_path))
    monkeypatch.setattr(task, "on_timeout", OnTimeout.EARLY)
    record(str(tmp_path), RUN, "one", "compute", WINDOWS_WAIT, SAID)
    with pytest.raises(TaskDeferred):
        type(task).execute(task, started(before="one"))
    job = submitting(task, started(timedelta(hours=37), before="one"), monkeypatch)
    assert job[0] == "compute" and "--early" in job


def test_a_lake_that_only_spark_can_read_has_a_job_for_each_step(bag, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for step in ("land", "gate_rows", "report"):
        task = bag.dags["flights_backfill"].get_task(step)
        monkeypatch.setattr(task, "lake", "hdfs://nowhere/lake")
        job = submitting(task, started(before="one"), monkeypatch)
        assert job[0] == step and "--through" not in job


@pytest.mark.parametrize("needs_spark", [True, False], ids=str)
def test_a_page_that_only_spark_can_write_is_written_by_a_job(bag, tmp_path, monkeypatch, needs_spark: bool) -> None:  # type: ignore[no-untyped-def]
    from airflow.sdk.exceptions import AirflowFailException

    from windrow.spec.errors import NotReadable, SpecError

    def write(run: str) -> str:
        raise NotReadable("--output", "is elsewhere") if needs_spark else SpecError("--link", "must be an address")

    report = bag.dags["flights_backfill"].get_task("report")
    monkeypatch.setattr(report, "lake", str(tmp_path))
    monkeypatch.setattr(report, "_write", write)
    row = {"run": RUN, "step": "land", "subject": "departures", "result": "{}", "at": 1}
    write_deltalake(f"{tmp_path}/_windrow/audits", pa.Table.from_pylist([row]), mode="append")
    if needs_spark:
        assert submitting(report, started(), monkeypatch)[0] == "report"
    else:
        with pytest.raises(AirflowFailException, match="report: windrow: --link must be an address"):
            report.execute(started())


def test_a_run_whose_steps_have_found_nothing_has_no_page(bag, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Its first step was refused before the run began: how that ended is all that there is."""
    from airflow.sdk.exceptions import AirflowSkipException

    report = bag.dags["flights_backfill"].get_task("report")
    monkeypatch.setattr(report, "lake", str(tmp_path))
    record(str(tmp_path), RUN, "one", "land", 2, "windrow: stages.hourly means something else than when it last ran")
    with pytest.raises(AirflowSkipException):
        report.execute(started())


@pytest.mark.parametrize(("code", "is_final"), [(3, True), (2, True), (75, False), (None, False)])
def test_a_gate_is_not_tried_again_and_a_machine_is(ends: Ends, code: int | None, is_final: bool) -> None:
    """By what the step has recorded, whatever the text of the error says."""
    from airflow.sdk.exceptions import AirflowFailException

    error = ends("publish", code)
    assert isinstance(error, AirflowFailException) == is_final
    page = ROOT / "out" / "flights-{{ run_id | replace(':', '') | replace('+', '_') }}.html"
    assert not is_final or str(error) == f"publish: {SAID}. The page of the run: {page}"


@pytest.mark.parametrize("other", [{"attempt": "another"}, {"run": "another"}], ids=str)
def test_the_outcome_of_another_attempt_is_not_taken(ends: Ends, other: dict[str, str]) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    assert not isinstance(ends("publish", 3, **other), AirflowFailException)


def test_a_lake_that_only_spark_can_reach_leaves_an_ordinary_failure(ends: Ends) -> None:
    from airflow.sdk.exceptions import AirflowException

    error = ends("publish", None, lake="hdfs://nowhere/lake")
    assert type(error) is AirflowException and "spark-submit" in str(error)
