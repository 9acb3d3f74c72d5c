"""How jobs are submitted: what comes before what, what no log shows, and that nothing of a job that hangs is left.

`spark-submit` is a program of these tests, which says with what it was started.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from windrow.spec.pipelines.submissions import Submission

pytestmark = pytest.mark.airflow

SAYS = f"""#!{sys.executable}
import json, os, pathlib, sys
told = {{"words": sys.argv[1:], "environment": dict(os.environ)}}
pathlib.Path(__file__).with_name("told.json").write_text(json.dumps(told))
print("the secret is " + os.environ.get("PASSPHRASE", "nowhere"))
"""
HANGS = """#!/bin/bash
sleep 600 &
echo $! $$ > "$(dirname "$0")/pids"
wait
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    for name in ("SPARK_SUBMIT_OPTS", "SPARK_DRIVER_MEMORY", "SPARK_CONF_DIR", "SPARK_HOME", "WINDROW_DRIVER_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    connect(monkeypatch, "local[2]")


def connect(monkeypatch: pytest.MonkeyPatch, master: str, **extra: str) -> None:
    connection = {"conn_type": "spark", "host": master, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))


def install(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a `spark-submit` in front of the one that is there."""
    path = folder / "spark-submit"
    path.write_text(program)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def job(**submission: Any) -> Any:
    from windrow.airflow.tasks.jobs import Job

    return Job.of(Submission.from_mapping(submission), "flights land", ["land", "flights.yaml"])


def submitted(folder: Path, monkeypatch: pytest.MonkeyPatch, **submission: Any) -> tuple[list[str], dict[str, str]]:
    """The words and the environment with which `spark-submit` is started."""
    install(folder, SAYS, monkeypatch)
    job(**submission).submit("step.py")
    told = json.loads((folder / "told.json").read_text())
    return told["words"], told["environment"]


def given(words: list[str], option: str) -> list[str]:
    return [words[index + 1] for index, word in enumerate(words) if word == option]


def test_what_the_file_says_is_given_to_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "correct horse")
    words, environment = submitted(
        tmp_path, monkeypatch, conf={"spark.sql.shuffle.partitions": 8, "spark.sql.extensions": "my.Extension"},
        driver_memory="6g", executor_memory="2g", packages=["a.b:c:1.0", "d:e:2"], py_files=["one.zip"],
        image="windrow:1", env={"PASSPHRASE": "${SECRET}"},
    )  # fmt: skip
    assert given(words, "--conf") == [
        "spark.sql.shuffle.partitions=8",
        "spark.sql.extensions=my.Extension,io.delta.sql.DeltaSparkSessionExtension",
        "spark.kubernetes.container.image=windrow:1",
    ]
    options = ("--master", "--driver-memory", "--executor-memory", "--packages", "--py-files")
    assert [given(words, option) for option in options] == [
        ["local[2]"], ["6g"], ["2g"], ["a.b:c:1.0,d:e:2"], ["one.zip"],
    ]  # fmt: skip
    assert words[-3:] == ["step.py", "land", "flights.yaml"]
    assert environment["PASSPHRASE"] == "correct horse"


def test_what_windrow_would_like_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands where Spark looks last: nothing of it is among the settings of the job."""
    words, environment = submitted(tmp_path, monkeypatch)
    assert (given(words, "--conf"), given(words, "--driver-memory")) == ([], [])
    assert environment["SPARK_DRIVER_MEMORY"] == "4g"
    assert "-Dlog4j2.configurationFile=" in environment["SPARK_SUBMIT_OPTS"]
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "3g")
    options = "-Dlog4j2.configurationFile=mine -XX:SharedArchiveFile=mine -XX:ReservedCodeCacheSize=90m"
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", options)
    _, environment = submitted(tmp_path, monkeypatch)
    assert (environment["SPARK_DRIVER_MEMORY"], environment["SPARK_SUBMIT_OPTS"]) == ("3g", options)


def test_the_logging_of_a_cluster_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log4j2.properties").touch()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert "log4j2" not in submitted(tmp_path, monkeypatch)[1]["SPARK_SUBMIT_OPTS"]


def test_delta_of_the_file_is_not_given_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = ["io.delta:delta-spark_4.2_2.13:4.4.0"]
    assert given(submitted(tmp_path, monkeypatch, packages=packages)[0], "--jars") == []
    assert given(submitted(tmp_path, monkeypatch, conf={"spark.jars": "mine.jar"})[0], "--jars") == []


def test_jars_of_the_cluster_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given with a job replaces them."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text("# of all jobs\nspark.jars   /opt/a.jar,/opt/b.jar\nspark.eventLog.enabled=true\n")
    (jars,) = given(submitted(tmp_path, monkeypatch)[0], "--jars")
    assert jars.startswith("/opt/a.jar,/opt/b.jar,") and "delta-spark" in jars
    defaults.write_text("spark.jars.packages: io.delta:delta-spark_4.2_2.13:4.4.0")
    assert given(submitted(tmp_path, monkeypatch)[0], "--jars") == []


def test_a_value_of_env_is_in_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the job prints, and where the cluster wants it as a setting."""
    from airflow.sdk._shared.secrets_masker import redact

    monkeypatch.setenv("SECRET", "correct horse battery")
    install(tmp_path, SAYS, monkeypatch)
    made = job(env={"PASSPHRASE": "${SECRET}"})
    made.submit("step.py")
    assert "correct horse" not in str(redact("the secret is correct horse battery"))
    connect(monkeypatch, "yarn")
    command = job(env={"PASSPHRASE": "${SECRET}"})._build_spark_submit_command("step.py")
    assert "spark.yarn.appMasterEnv.PASSPHRASE=correct horse battery" in command
    assert "correct horse" not in str(redact(" ".join(command)))


def test_a_variable_that_is_not_there_fails_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    monkeypatch.delenv("NO_SUCH_THING", raising=False)
    with pytest.raises(AirflowFailException, match=r"schedule.spark.env: \$\{NO_SUCH_THING\} is not set"):
        job(env={"A": "${NO_SUCH_THING}"})


@pytest.mark.parametrize("master", ["spark://somewhere:7077", "local[2]"])
def test_python_in_cluster_mode_is_refused_where_spark_cannot_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, master: str
) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    install(tmp_path, SAYS, monkeypatch)
    connect(monkeypatch, master, **{"deploy-mode": "cluster"})
    with pytest.raises(AirflowFailException, match="deploy-mode must not be cluster: Spark runs no Python in it"):
        job().submit("step.py")
    assert not (tmp_path / "told.json").exists()
    connect(monkeypatch, master, **{"deploy-mode": "client"})
    assert given(submitted(tmp_path, monkeypatch)[0], "--deploy-mode") == ["client"]


def test_a_connection_that_is_not_there_is_no_yarn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    with pytest.raises(Exception, match="spark_default"):
        job().submit("step.py")


def is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_job_that_is_ended_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was started, and the one that it has started."""
    from airflow.sdk.exceptions import AirflowException

    install(tmp_path, HANGS, monkeypatch)
    made = job()

    def submit() -> None:
        with pytest.raises(AirflowException, match="Error code is: -9"):
            made.submit("step.py")

    hangs = Thread(target=submit, daemon=True)
    hangs.start()
    while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text().endswith("\n"):
        time.sleep(0.05)
    numbers = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert all(map(is_alive, numbers))
    made.on_kill()
    hangs.join(timeout=20)
    until = time.monotonic() + 20
    while any(map(is_alive, numbers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not hangs.is_alive() and not any(map(is_alive, numbers))
