"""A `spark-submit` that hangs: its task fails at its timeout and leaves no process, while another DAG goes on.

Through Airflow's scheduler, with a program in place of `spark-submit`.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from demo.own_airflow import BIN, ROOT, Airflow

pytestmark = [pytest.mark.airflow, pytest.mark.long]

TRAFFIC = (ROOT / "conf" / "pipelines" / "traffic.yaml").read_text()
SPAN = {"from": "2013-01-01T00:00:00+00:00", "to": "2013-01-02T00:00:00+00:00"}
SUBMIT = """#!/bin/bash
case "$*" in *hung.yaml*) ;; *) exit 0 ;; esac
sleep 600 &
echo $! $$ > "$(dirname "$0")/pids"
wait
"""
DAGS = """
from datetime import timedelta
from windrow.airflow import dags_of

made = dags_of("pipelines", "{project}")
for dag in made.values():
    for task in dag.tasks:
        task.execution_timeout, task.retries = timedelta(seconds=90), 0
globals().update(made)
"""


@pytest.fixture
def airflow(tmp_path: Path) -> Iterator[Airflow]:
    """Two pipelines, each with a lake of its own."""
    for name in ("hung", "good"):
        file = tmp_path / "pipelines" / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        text = TRAFFIC.replace("pipeline: traffic", f"pipeline: {name}").replace("lake: lake/", f"lake: lake/{name}/")
        file.write_text(text)
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "all.py").write_text(DAGS.format(project=tmp_path))
    submit = tmp_path / "bin" / "spark-submit"
    submit.parent.mkdir()
    submit.write_text(SUBMIT)
    submit.chmod(submit.stat().st_mode | stat.S_IXUSR)
    more = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"),
        "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[2]"}',
        "PATH": os.pathsep.join([str(submit.parent), str(BIN), os.environ["PATH"]]),
    }
    made = Airflow(tmp_path / "home", tmp_path, tmp_path / "pipelines", more)
    with made.running():
        made.command("dags", "reserialize")
        yield made


def is_alive(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


def test_a_job_that_hangs_fails_at_its_timeout(airflow: Airflow) -> None:
    began = datetime.now(UTC)
    for name in ("hung", "good"):
        airflow.command("dags", "unpause", f"{name}_backfill")
        airflow.command("dags", "trigger", f"{name}_backfill", "--run-id", "one", "--conf", json.dumps(SPAN))
    assert airflow.wait_for("good_backfill", 1, began, seconds=200) == {"one": "success"}
    assert airflow.runs("hung_backfill") == {"one": "running"}, "it hangs all the while"
    assert airflow.wait_for("hung_backfill", 1, began, seconds=200) == {"one": "failed"}
    tries = airflow.tries("hung_backfill", "one")
    assert (tries["land"], tries["publish"][0]) == (("failed", 1), "upstream_failed")
    numbers = [int(word) for word in (airflow.project / "bin" / "pids").read_text().split()]
    assert len(numbers) == 2 and not any(map(is_alive, numbers))
