"""windrow as a platform has it: a wheel in an empty environment with Airflow and without Spark, and jobs elsewhere.

The DAG processor, the scheduler, the triggerer and the tasks run in an environment that has nothing but the wheel with
its extra `airflow`. Its `spark-submit` is that of another environment, as on an edge node: there the jobs run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from demo.own_airflow import BIN, ROOT, Airflow
from tests.airflow.hits import BACKFILL, START, Hits
from tests.airflow.until import until
from windrow.drivers.spark.jvm import session_jars

pytestmark = [pytest.mark.airflow, pytest.mark.crash, pytest.mark.long]  # the jobs start JVMs

SCHEDULE = {
    "cron": "0 3 * * *", "start": "2024-01-01", "end": "2024-01-01", "restate": "late", "maintain": "0 5 * * *",
    "stream": "0 6 * * *", "spark": {"connection": "spark_local"},
}  # fmt: skip
SUBMIT = """#!/bin/sh
export PYTHONPATH={lib} PYSPARK_PYTHON={python} SPARK_CONF_DIR={conf}
exec {submit} "$@"
"""
CONSUMERS = """
from airflow.sdk import DAG, Asset, AssetAlias, task

for name, schedule in {"by_table": Asset.ref(name="hits/hourly"), "by_pipeline": AssetAlias("hits")}.items():
    with DAG(name, schedule=[schedule], catchup=False, is_paused_upon_creation=False) as globals()[name]:
        task(lambda: None, task_id="read")()
"""
LOOK = """
import json, sys
from importlib.metadata import distributions
import windrow.airflow
names = [one.metadata["Name"] for one in distributions()]
spark = [name for name in sys.modules if name.partition(".")[0] in ("pyspark", "delta", "py4j")]
print(json.dumps({"names": names, "from": windrow.__file__, "spark": spark}))
"""
SPAN = {"from": START.isoformat(), "to": (START + timedelta(days=1)).isoformat()}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that was empty, with the wheel; the folder of its programs."""
    root = tmp_path_factory.mktemp("wheel")
    uv = str(BIN / "uv")
    build = ["build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(root)]
    subprocess.run([uv, *build, str(ROOT)], check=True)
    (wheel,) = root.glob("*.whl")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(root / "env")], check=True)
    python = root / "env" / "bin" / "python"
    install = ["pip", "install", "--quiet", "--python", str(python), "--constraint", str(ROOT / "requirements.lock")]
    made = subprocess.run([uv, *install, f"windrow[airflow] @ {wheel.as_uri()}"], capture_output=True, text=True)
    if "Failed to fetch" in made.stderr:
        pytest.skip(f"needs the packages of the lock, from their registry: {made.stderr.strip()}")
    assert made.returncode == 0, made.stderr
    return python.parent


@pytest.fixture(scope="module")
def hits(tmp_path_factory: pytest.TempPathFactory) -> Hits:
    """Two days of hits, and beside their pipeline a wrong file and two files of one name."""
    project = tmp_path_factory.mktemp("deployed") / "project"
    (project / "pipelines").mkdir(parents=True)
    made = Hits.made(project, **SCHEDULE)
    made.arrive(range(0, 2 * 24 * 60, 10))
    for file, name, more in (("wrong", "wrong", "lakee: here\n"), ("one", "same", ""), ("other", "same", "")):
        text = made.file.read_text().replace("pipeline: hits", f"pipeline: {name}") + more
        made.file.with_name(f"{file}.yml").write_text(text)
    return made


@pytest.fixture(scope="module")
def airflow(hits: Hits, empty: Path) -> Iterator[Airflow]:
    root = hits.project.parent
    for name in ("dags", "bin", "conf"):
        (root / name).mkdir()
    for file in ("pipelines.py", "wrong_pipelines.py"):
        shutil.copy(ROOT / "dags" / file, root / "dags" / file)
    (root / "dags" / "consumers.py").write_text(CONSUMERS)
    (root / "conf" / "spark-defaults.conf").write_text(f"spark.jars {','.join(session_jars())}\n")
    submit = root / "bin" / "spark-submit"
    of_jobs = {"lib": ROOT / "lib", "python": sys.executable, "conf": root / "conf", "submit": BIN / "spark-submit"}
    submit.write_text(SUBMIT.format(**of_jobs))
    submit.chmod(0o755)
    more = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(root / "dags"),
        "AIRFLOW__SCHEDULER__PARSING_CLEANUP_INTERVAL": "5",  # from then on it knows an asset that an alias has brought
        "PATH": os.pathsep.join([str(root / "bin"), str(empty), os.environ["PATH"]]),
        "PYTHONPATH": "",
    }
    made = Airflow(root / "home", hits.project, hits.file.parent, more, empty)
    with made.running():
        made.unpause(BACKFILL)
        yield made


def consumed(airflow: Airflow) -> list[int]:
    """How often the consumers have run."""
    return [len(airflow.runs(dag)) for dag in ("by_table", "by_pipeline")]


def run(airflow: Airflow, name: str) -> None:
    """A run over the first day, which must be green."""
    airflow.trigger(BACKFILL, name, SPAN)
    until(lambda: airflow.runs(BACKFILL)[name] in ("success", "failed"))
    assert airflow.runs(BACKFILL)[name] == "success", airflow.tasks(BACKFILL, name)


def events(airflow: Airflow) -> list[dict[str, Any]]:
    return list(airflow.ask("/api/v2/assets/events?order_by=timestamp")["asset_events"])


def test_the_environment_has_no_spark_and_windrow_by_the_wheel(empty: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": ""}
    said = subprocess.run([empty / "python", "-c", LOOK], env=environment, capture_output=True, text=True, cwd=empty)
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout.splitlines()[-1])
    assert found["from"].startswith(str(empty.parent)) and found["spark"] == []
    names = {name.lower().replace("_", "-") for name in found["names"]}
    assert {"windrow", "apache-airflow"} < names
    assert not names & {"pyspark", "delta-spark", "py4j", "great-expectations"}


def test_all_dags_are_there_and_wrong_files_are_import_errors(hits: Hits, airflow: Airflow) -> None:
    right = {f"hits_{kind}" for kind in ("backfill", "restate", "maintain", "stream")}
    wrong = {kind.replace("hits", name) for kind in right for name in ("wrong", "same")}
    until(lambda: len(airflow.ask("/api/v2/importErrors")["import_errors"]) > 0)
    dags = airflow.ask("/api/v2/dags?limit=100")["dags"]
    assert {dag["dag_id"] for dag in dags} == {*right, *wrong, "by_table", "by_pipeline"}
    assert not any(dag["has_import_errors"] or dag["is_stale"] for dag in dags)
    tags = {dag["dag_id"]: [tag["name"] for tag in dag["tags"]] for dag in dags}
    assert {name for name, of_dag in tags.items() if "wrong" in of_dag} == wrong
    (error,) = airflow.ask("/api/v2/importErrors")["import_errors"]
    assert Path(error["filename"]).name == "wrong_pipelines.py"
    folder, said = hits.file.parent, error["stack_trace"]
    assert f"{folder}/wrong.yml: lakee is not a field" in said
    for one, other in (("one", "other"), ("other", "one")):
        assert f"{folder}/{one}.yml: pipeline is the name of another pipeline too, in {folder}/{other}.yml" in said


def test_a_consumer_runs_once_for_a_changed_publish_and_not_for_an_unchanged_one(hits: Hits, airflow: Airflow) -> None:
    run(airflow, "first")
    assert hits.shown() == hits.right(START, START + timedelta(days=1))
    until(lambda: consumed(airflow) == [1, 1])
    run(airflow, "again")
    time.sleep(10)  # as long as the scheduler would take to see an event
    assert consumed(airflow) == [1, 1]
    (event,) = events(airflow)
    assert (event["name"], event["extra"]["run"], event["extra"]["inserted"]) == ("hits/hourly", "hits__first", 24 * 8)
    assert "Nothing changed" in (hits.project / "out" / "hits-again.html").read_text()
