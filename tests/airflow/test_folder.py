"""The DAGs of a folder of pipeline files: wrong ones, two of one name, a process that runs one task, and no Spark."""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAFFIC = (ROOT / "conf" / "pipelines" / "traffic.yaml").read_text()

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"


def named(name: str, more: str = "") -> str:
    """The pipeline of the traffic under another name."""
    return TRAFFIC.replace("pipeline: traffic", f"pipeline: {name}") + more


def scheduled(cron: str) -> str:
    return f'schedule: {{cron: "{cron}", start: 2013-01-01}}\n'


def dags(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], dict[str, str]]:
    """What Airflow makes of the DAG files of the repository over these pipeline files: DAGs, and import errors."""
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("WINDROW_PIPELINES", str(folder))
    bag = DagBag(dag_folder=str(ROOT / "dags"))
    return bag.dags, {Path(file).name: error for file, error in bag.import_errors.items()}


def tasks_of(dag: Any) -> set[str]:
    return {type(task).__name__ for task in dag.tasks} - {"ReportStep", "Clean"}


def test_files_of_both_suffixes_have_dags_whose_page_is_the_plan(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.yaml").write_text(named("first"))
    (tmp_path / "b.yml").write_text(named("second", scheduled("0 3 * * *")))
    (tmp_path / "c.yaml.orig").write_text(named("third"))
    made, errors = dags(tmp_path, monkeypatch)
    assert (set(made), errors) == ({"first_backfill", "second_backfill"}, {})
    assert type(made["second_backfill"].timetable).__name__ == "CronDataIntervalTimetable"
    assert (
        "Pipeline second, in the lake" in made["second_backfill"].doc_md
        and "watermark" in made["first_backfill"].doc_md
    )


WRONG = {
    "a wrong field": (named("wrong", "lakee: here\n"), "lakee is not a field"),
    "no YAML": ("pipeline: wrong\nstages: [\n", "is not YAML"),
    "a wrong cron": (named("wrong", scheduled("0 99 * * *")), "schedule.cron is no cron expression"),
    "a cron that never comes": (named("wrong", scheduled("0 0 30 2 *")), "schedule.cron is no cron expression"),
    "a suite that is not there": (
        named("wrong").replace("event_time:", "quality: no.yaml\n    event_time:", 1),
        "no.yaml",
    ),
    "an extension that is not there": (named("wrong", "extensions: [no_such_module]\n"), "no_such_module"),
}


@pytest.mark.parametrize(("text", "error"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_an_import_error_and_the_others_stay(  # type: ignore[no-untyped-def]
    tmp_path: Path, monkeypatch, text: str, error: str
) -> None:
    """Its own DAG stays too, with the same tasks, each of which fails with the error."""
    from airflow.sdk.exceptions import AirflowFailException

    (tmp_path / "some (1).yaml").write_text(text)
    (tmp_path / "right.yaml").write_text(named("right"))
    made, errors = dags(tmp_path, monkeypatch)
    assert set(made) == {"wrong_backfill", "right_backfill"} and tasks_of(made["right_backfill"]) == {"Step"}
    assert set(errors) == {"wrong_pipelines.py"}
    assert error in errors["wrong_pipelines.py"] and "some (1).yaml" in errors["wrong_pipelines.py"]
    wrong = made["wrong_backfill"]
    assert error in wrong.doc_md and tasks_of(wrong) == {"WrongFile"}
    assert [task.task_id for task in wrong.topological_sort()] == [
        task.task_id for task in made["right_backfill"].topological_sort()
    ]
    with pytest.raises(AirflowFailException, match=re.escape(error)):
        wrong.get_task("land").execute({})


def test_the_runs_of_a_wrong_file_are_still_scheduled(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.yaml").write_text(named("daily", f"{scheduled('0 3 * * *')}lakee: here\n"))
    made, _ = dags(tmp_path, monkeypatch)
    assert made["daily_backfill"].timetable.expression == "0 3 * * *"


def test_airflow_still_schedules_what_stands_beside_a_wrong_file(tmp_path: Path) -> None:
    """In its database: a DAG file with an import error would have all of its DAGs marked as stale."""
    folder = tmp_path / "pipelines"
    folder.mkdir()
    (folder / "right.yaml").write_text(named("right", scheduled("0 3 * * *")))
    (folder / "wrong.yaml").write_text(named("wrong", scheduled("0 99 * * *")))
    environment = {
        **os.environ, "AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "WINDROW_PIPELINES": str(folder),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }  # fmt: skip
    for words in (["db", "migrate"], ["dags", "reserialize"]):
        command = [sys.executable, "-m", "airflow", *words]
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    with closing(sqlite3.connect(tmp_path / "airflow.db")) as database:
        dags = database.execute("select dag_id, is_stale, has_import_errors from dag order by 1").fetchall()
        errors = database.execute("select filename, stacktrace from import_error").fetchall()
    assert dags == [("right_backfill", 0, 0), ("wrong_backfill", 0, 0)]
    assert [(file, "wrong.yaml: schedule.cron" in text) for file, text in errors] == [("wrong_pipelines.py", True)]


def test_two_files_of_one_name_are_both_wrong(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.yaml").write_text(named("same"))
    (tmp_path / "b.yml").write_text(named("same"))
    (tmp_path / "c.yaml").write_text(named("other"))
    made, errors = dags(tmp_path, monkeypatch)
    assert {name: tasks_of(dag) for name, dag in made.items()} == {
        "same_backfill": {"WrongFile"}, "other_backfill": {"Step"},
    }  # fmt: skip
    for file in ("a.yaml", "b.yml"):
        assert f"{tmp_path / file}: pipeline is the name of another pipeline too" in errors["wrong_pipelines.py"]


def test_a_wrong_copy_takes_nothing_from_the_file_that_is_right(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.yaml").write_text(named("same"))
    (tmp_path / "copy.yaml").write_text(named("same", "lakee: here\n"))
    made, errors = dags(tmp_path, monkeypatch)
    assert tasks_of(made["same_backfill"]) == {"Step"} and "copy.yaml: lakee" in errors["wrong_pipelines.py"]


def test_a_dag_that_airflow_refuses_is_a_wrong_file(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from airflow.sdk import DAG

    def validate(dag: Any, known: Any = DAG.validate) -> None:
        if "right" not in dag.dag_id and len({type(task).__name__ for task in dag.tasks} & {"Step"}):
            raise ValueError("a policy of this Airflow")
        known(dag)

    monkeypatch.setattr(DAG, "validate", validate)
    (tmp_path / "right.yaml").write_text(named("right"))
    (tmp_path / "refused.yaml").write_text(named("refused"))
    made, errors = dags(tmp_path, monkeypatch)
    assert {name: tasks_of(dag) for name, dag in made.items()} == {
        "right_backfill": {"Step"}, "refused_backfill": {"WrongFile"},
    }  # fmt: skip
    assert "refused.yaml: gives a DAG that Airflow refuses: ValueError: a policy" in errors["wrong_pipelines.py"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    made, errors = dags(tmp_path / "nowhere", monkeypatch)
    assert made == {} and "is not there" in errors["pipelines.py"]


def test_a_file_may_have_a_dag_file_of_its_own(tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    files = {"right": named("right"), "wrong": named("wrong", "lakee: here\n"), "same": named("x"), "again": named("x")}
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        line = f"from windrow.airflow import dag_of\ndag = dag_of('{name}.yaml', '{tmp_path}')\n"
        (tmp_path / f"{name}.py").write_text(line)
    bag = DagBag(dag_folder=str(tmp_path))
    assert set(bag.dags) == {"right_backfill"}
    errors = {Path(file).stem: error for file, error in bag.import_errors.items()}
    assert {name: "is the name of another pipeline too" in error for name, error in errors.items()} == {
        "wrong": False, "same": True, "again": True,
    }  # fmt: skip
    assert "lakee is not a field" in errors["wrong"]


def test_a_process_of_a_task_makes_its_own_dag_only(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from windrow.airflow import dags_of

    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(named(name))
    (tmp_path / "third.yaml").write_text("{" + "pipeline: flow, lakee: here}")
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "second_backfill")
    assert set(dags_of(tmp_path)) == {"second_backfill"}
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "unknown_backfill")
    assert set(dags_of(tmp_path)) == {"first_backfill", "second_backfill", "third_backfill"}


def test_fifty_files_are_read_in_a_moment(tmp_path: Path) -> None:
    """A file takes 14,300 calls of functions, and all of them 0.1 s. Seconds would say more of the machine."""
    from windrow.airflow import dags_of

    for number in range(50):
        (tmp_path / f"{number}.yaml").write_text(named(f"p{number}"))
    dags_of(tmp_path)
    profile = cProfile.Profile()
    assert len(profile.runcall(dags_of, tmp_path)) == 50
    assert pstats.Stats(profile).total_calls < 50 * 20_000  # type: ignore[attr-defined]


WITHOUT_SPARK = f"""
import sys

class NoSpark:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "delta", "pandas"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NoSpark())
import asyncio, json
from airflow.dag_processing.dagbag import DagBag
from windrow.airflow.tasks.trigger import WindowsExpired

async def fired(lake):
    waits = dict(until={{"a": 7}}, sources=[], deadline="2999-01-01T00:00:00+00:00", on_timeout="fail")
    trigger = WindowsExpired(lake=lake, poke_interval=0.01, **waits)
    return [event.payload async for event in trigger.run()]

bag = DagBag(dag_folder={str(ROOT / "dags")!r})
print(json.dumps([sorted(bag.dags), bag.import_errors, asyncio.run(fired(sys.argv[1]))]))
"""


def test_dags_and_triggers_need_no_spark(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK, str(tmp_path)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR"},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    found, errors, events = json.loads(made.stdout.splitlines()[-1])
    assert (found, errors) == (["aircraft_backfill", "flights_backfill", "traffic_backfill"], {})
    stands = "a: the watermark is not known, waits for 1970-01-01 00:00:00.000007, shows nothing yet"
    assert events == [f"{stands}; nothing new has come to land"]
