"""Which DAGs a pipeline has, and what its schedule and the options of a DAG file say of them. No database here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAFFIC = (ROOT / "conf" / "pipelines" / "traffic.yaml").read_text()
ALL = 'schedule: {cron: "0 3 * * *", start: 2024-01-01, restate: late, maintain: "0 5 * * *", stream: "*/5 * * * *"'

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"


def dags(folder: Path, schedule: str = "", **options: Any) -> dict[str, Any]:
    """The DAGs of a pipeline with this schedule, by their kinds."""
    from windrow.airflow import DagOptions, dags_of

    (folder / "traffic.yaml").write_text(f"{TRAFFIC}{schedule}\n")
    made = dags_of(folder, folder, DagOptions(**options))
    return {name.removeprefix("traffic_"): dag for name, dag in made.items()}


def steps(dag: Any) -> list[str]:
    return [task.task_id for task in dag.topological_sort()]


def given(task: Any, option: str) -> str:
    words: list[str] = task.application_args
    return words[words.index(option) + 1]


@pytest.mark.parametrize(
    ("schedule", "kinds"),
    [
        ("", {"backfill"}),
        ("schedule: {spark: {connection: spark_prod}}", {"backfill"}),
        ('schedule: {restate: "0 6 * * *"}', {"backfill", "restate"}),
        (f"{ALL}}}", {"backfill", "restate", "maintain", "stream"}),
        ("schedule: {stream: long}", {"backfill", "stream", "events"}),
    ],
)
def test_a_pipeline_has_the_dags_that_its_schedule_names(tmp_path: Path, schedule: str, kinds: set[str]) -> None:
    assert set(dags(tmp_path, schedule)) == kinds


def test_each_kind_has_its_tasks_and_jobs(tmp_path: Path) -> None:
    made = dags(tmp_path, f"{ALL}}}")
    assert {kind: steps(dag) for kind, dag in made.items() if kind != "backfill"} == {
        "restate": ["restate", "clean", "report"], "maintain": ["maintain"], "stream": ["stream"],
    }  # fmt: skip
    assert [task.task_id for task in made["restate"].tasks if task.is_teardown] == ["clean", "report"]
    restate, _, report = made["restate"].tasks
    page = str(tmp_path / "out" / "traffic-restate__traffic__{{ run_id")
    assert restate.page == report.page and restate.page.startswith(page)
    assert given(report, "--run") == "restate__traffic__{{ run_id }}"
    assert given(restate, "--run") == "traffic__{{ run_id }}"
    assert "--from" not in report.application_args and "--link" not in restate.application_args
    (stream,) = made["stream"].tasks
    assert stream.application.endswith("windrow/cli/jobs/job.py")
    assert stream.application_args == [
        "stream", str(tmp_path / "traffic.yaml"), "--project", str(tmp_path), "--run", "traffic__{{ run_id }}", "--once"
    ]  # fmt: skip
    (late,) = made["restate"].timetable.asset_condition.objects
    assert late.name == "traffic/late rows" and len(late.watchers) == 1
    assert made["maintain"].timetable.expression == "0 5 * * *"


def test_no_two_runs_of_a_lake_have_the_same_name(tmp_path: Path) -> None:
    """Airflow's ids of runs are alike in all DAGs, also in those of two pipelines that share a lake."""
    (tmp_path / "roads.yaml").write_text(f"{TRAFFIC.replace('pipeline: traffic', 'pipeline: roads')}{ALL}}}\n")
    made = dags(tmp_path, f"{ALL}}}")
    jobs = {name: dag.tasks[0].application_args for name, dag in made.items()}
    named = {name: words[words.index("--run") + 1] for name, words in jobs.items()}
    assert named["backfill"] == "traffic__{{ run_id }}" and named["roads_backfill"] == "roads__{{ run_id }}"
    (clean,) = (task for task in made["restate"].tasks if task.task_id == "clean")
    assert clean.run == "restate__traffic__{{ run_id }}"
    told = {name: task.run_of("now") for name, dag in made.items() for task in dag.tasks if hasattr(task, "run_of")}
    assert len(set(told.values())) == len(made) == 8


def test_one_dag_at_a_time_writes_to_a_lake_but_a_stream_that_goes_on(tmp_path: Path) -> None:
    made = dags(tmp_path, 'schedule: {stream: long, maintain: "0 5 * * *", deadline: 6h}')
    backfill, (stream,) = made["backfill"], made["stream"].tasks
    (tell,) = made["events"].tasks
    (pool,) = {task.pool for kind in ("backfill", "maintain") for task in made[kind].tasks}
    assert pool.startswith("windrow_traffic_") and (stream.pool, stream.execution_timeout) == ("default_pool", None)
    assert stream.application_args[-1] == "traffic__{{ run_id }}", "it is not told to end"
    assert (tell.pool, tell.execution_timeout) == ("default_pool", timedelta(hours=2))
    assert (made["stream"].dagrun_timeout, made["stream"].deadline) == (None, None)
    assert backfill.dagrun_timeout == timedelta(hours=36) + 7 * 3 * timedelta(hours=2)
    others = dags(tmp_path, pool="default_pool")
    assert {task.pool for task in others["backfill"].tasks} == {"default_pool"}


def test_pools_are_those_of_the_lakes(tmp_path: Path) -> None:
    folder = tmp_path / "pipelines"
    folder.mkdir()
    lakes = {"a": "s3://one/flights", "b": "s3://two/flights", "c": "s3://two/flights", "d": "${LAKE}"}
    for name, lake in lakes.items():
        (folder / f"{name}.yaml").write_text(
            TRAFFIC.replace("pipeline: traffic", f"pipeline: {name}").replace("lake: lake/traffic", f"lake: {lake}")
        )
    (folder / "wrong.yaml").write_text("pipeline: [")
    words = [sys.executable, "-m", "windrow.airflow", "pools", str(folder), str(tmp_path / "pools.json")]
    subprocess.run(words, check=True, capture_output=True)
    pools = json.loads((tmp_path / "pools.json").read_text())
    assert [pool["slots"] for pool in pools.values()] == [1, 1, 1]
    from windrow.airflow import dags_of

    used = {task.pool for name, dag in dags_of(folder).items() if name[0] in lakes for task in dag.tasks}
    assert used - {"default_pool"} == {*pools}
    assert sum(name.startswith("windrow_flights_") for name in pools) == 2


def test_the_schedule_says_how_long_whose_and_how_often(tmp_path: Path) -> None:
    made = dags(tmp_path, f"{ALL}, execution_timeout: 30m, retries: 4, owner: data, tags: [roads], deadline: 6h}}")
    for dag in made.values():
        assert dag.tags == {"windrow", "roads"} and dag.max_active_runs == 1
        (deadline,) = dag.deadline
        assert deadline.interval == timedelta(hours=6) and deadline.callback.path.endswith("notify.log_deadline")
        for task in dag.tasks:
            assert (task.owner, task.retries, task.execution_timeout) == ("data", 4, timedelta(minutes=30))
            assert (task.retry_exponential_backoff, task.max_retry_delay) == (2, timedelta(minutes=30))


def test_a_dag_file_says_whom_to_tell(tmp_path: Path) -> None:
    from airflow.sdk.definitions.callback import SyncCallback

    callback = SyncCallback("json.dumps")
    made = dags(tmp_path, f"{ALL}, deadline: 6h}}", on_failure=print, on_deadline=callback)
    for dag in made.values():
        assert dag.on_failure_callback is print and dag.deadline[0].callback == callback


def test_only_what_publishes_gives_events(tmp_path: Path) -> None:
    made = dags(tmp_path, f"{ALL}}}")
    outlets = {
        task.task_id: [alias.name for alias in task.outlets] for dag in made.values() for task in dag.tasks
        if task.outlets
    }  # fmt: skip
    assert outlets == {step: ["traffic"] for step in ("publish", "restate", "stream")}
    assert "`traffic/" in made["backfill"].doc_md and str(tmp_path / "lake") in made["backfill"].doc_md


def test_a_stream_that_goes_on_is_told_of_by_a_dag_of_its_own(tmp_path: Path) -> None:
    made = dags(tmp_path, "schedule: {stream: long}")
    outlets = {task.task_id: task.outlets for kind in ("stream", "events") for task in made[kind].tasks}
    assert [outlets["stream"], [alias.name for alias in outlets["tell"]]] == [[], ["traffic"]]
    (panes,) = made["events"].timetable.asset_condition.objects
    assert panes.name == "traffic/new panes" and len(panes.watchers) == 1


def test_no_value_of_the_environment_stands_in_an_asset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from windrow.airflow.telling.assets import assets_of
    from windrow.spec.pipelines.loading import load

    monkeypatch.setenv("SECRET", "s3://a-secret")
    (tmp_path / "traffic.yaml").write_text(TRAFFIC.replace("lake: lake/traffic", "lake: ${SECRET}/lake"))
    for name, asset in assets_of(load(tmp_path / "traffic.yaml")).items():
        assert asset.name == asset.uri == f"traffic/{name}"


def test_a_wrong_file_keeps_all_of_its_dags(tmp_path: Path) -> None:
    right = dags(tmp_path, f"{ALL}}}")
    wrong = dags(tmp_path, f"{ALL}}}\nlakee: here")
    assert {kind: steps(dag) for kind, dag in wrong.items()} == {kind: steps(dag) for kind, dag in right.items()}
    assert all("wrong" in dag.tags for dag in wrong.values())
    assert set(dags(tmp_path, 'schedule: {maintain: "0 99 * * *"}')) == {"backfill"}


def test_whoever_is_told_of_failures_hears_of_the_runs_of_a_wrong_file(tmp_path: Path) -> None:
    wrong = dags(tmp_path, f"{ALL}}}\nlakee: here", on_failure=print)
    assert [dag.on_failure_callback for dag in wrong.values()] == [print] * 4


def test_what_is_right_in_a_schedule_holds_beside_what_is_wrong(tmp_path: Path) -> None:
    """A wrong field takes no DAG away, and stops no run without a word."""
    right = dags(tmp_path, f"{ALL}}}")
    for more in (", retriess: 3", ", zone: Nowhere/At_all", ', end: "tomorrow"'):
        wrong = dags(tmp_path, f"{ALL}{more}}}")
        assert {kind: steps(dag) for kind, dag in wrong.items()} == {kind: steps(dag) for kind, dag in right.items()}
        assert wrong["backfill"].timetable.expression == "0 3 * * *" and "wrong" in wrong["backfill"].tags
    (tmp_path / "copy.yaml").write_text(f"{TRAFFIC}{ALL}}}\n")
    both = dags(tmp_path, f"{ALL}}}")
    assert set(both) == set(right) and both["backfill"].timetable.expression == "0 3 * * *"


def test_a_dag_file_of_its_own_says_of_which_kind(tmp_path: Path) -> None:
    from windrow.airflow import dag_of
    from windrow.spec.errors import SpecError

    dags(tmp_path, f"{ALL}}}")
    assert dag_of("traffic.yaml", tmp_path, "maintain").dag_id == "traffic_maintain"
    dags(tmp_path)
    with pytest.raises(SpecError, match="names no DAG traffic_maintain"):
        dag_of("traffic.yaml", tmp_path, "maintain")
