"""The engine through Spark Connect: plans of texts and columns, without a JVM on the client's side."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.lake import POISON, ROWS, pipeline, write_files
from tests.servers import free_port
from windrow.drivers.stream.stream import run

pytestmark = pytest.mark.spark

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECONDS = 90


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A server of its own, in a process group of its own."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }  # fmt: skip
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER, *options]
    environment = {**os.environ, "SPARK_HOME": str(home)}
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "spark-internal"], cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for(server, port, tmp_path / "server.log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(20)


def wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    began = time.monotonic()
    while time.monotonic() - began < SECONDS:
        assert server.poll() is None, log.read_text()[-2000:]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.3)
    raise AssertionError(f"no server after {SECONDS} seconds: {log.read_text()[-2000:]}")


@pytest.fixture
def root(spark: SparkSession, tmp_path: Path) -> Path:
    """A pipeline that has run, with its file."""
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    run(made, spark, once=True, drain=True)
    (tmp_path / "tests.yaml").write_text(made.to_yaml())
    return tmp_path


@pytest.fixture
def client_alone(tmp_path: Path) -> Path:
    """A folder for `PYTHONPATH` in which PySpark is what `pyspark-client` has of it, and Delta's package is not."""
    without = shutil.ignore_patterns("core", "jars", "bin", "sbin", "examples", "__pycache__")
    shutil.copytree(Path(pyspark.__file__).parent, tmp_path / "client" / "pyspark", ignore=without)
    (tmp_path / "client" / "delta.py").write_text("raise ImportError('this client has no Delta')\n")
    return tmp_path / "client"


def on_a_client(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A process without a JVM."""
    environment = {**os.environ, "JAVA_HOME": "/nowhere", **more}
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, timeout=300, env=environment
    )  # fmt: skip


def check_panes(found: dict[str, Any]) -> None:
    """What `connect_panes.chain` must have made."""
    assert found["remote"] == "pyspark.sql.connect.session"
    assert sorted(found["hourly"], key=repr) == sorted(
        [["a", 23, 1, 0, 2], ["a", 0, 1, 0, 2], ["{rows}", 23, 2, 1, 4], ["{rows}", 0, 2, 1, 4],
         [None, 0, 5, 0, 10], [None, 1, 5, 0, 10]],
        key=repr,
    )  # fmt: skip
    assert found["dead"] == [["bad_timestamp", '{"k":"a","v":9,"at":"no time"}']] and found["counts"] == [4, 1]
    assert found["daily"] == [16]  # a pane is in the day in which its window ends


@pytest.mark.long
def test_the_package_of_the_client_alone_is_enough_for_panes(url: str, client_alone: Path) -> None:
    done = on_a_client("tests.contracts.connect_panes", url, PYTHONPATH=str(client_alone))
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    check_panes(found)
    assert found["is_alone"], "of the whole PySpark the client has what it needs, whoever imports it"


@pytest.mark.long
def test_panes_transcripts_and_looks_through_a_remote_session(url: str, root: Path) -> None:
    done = on_a_client("tests.contracts.connect_client", url, str(root))
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    check_panes(found)
    assert len(found["cases"]) == 6 and not any(found["cases"].values()), found["cases"]
    refusals = found["refusals"]
    for name in ("run", "backfill", "restate", "reconcile", "maintain", "quarantine", "forget", "register_names"):
        assert refusals[name].startswith("spark must not be Spark Connect: tables are written"), refusals[name]
    for name in ("status", "show"):
        assert "is in no place that can be read without Spark" in refusals[name], name
    looks = found["looks"]
    assert looks["rows"] == [2 * (ROWS + POISON)] and looks["adds_up"] == [True]
    assert looks["shown"] == looks["current"] > 0 and "Stage sums" in looks["plan"]


def test_commands_on_a_client_of_a_server(root: Path) -> None:
    """Those that look need no server; those that write are refused by name, and none is asked."""
    file, nobody = str(root / "tests.yaml"), "sc://127.0.0.1:1"
    for words in (["plan", file], ["status", file], ["show", file, "sums"]):
        done = on_a_client("windrow", *words, SPARK_REMOTE=nobody)
        assert done.returncode == 0 and "sums" in done.stdout, done.stderr[-2000:]
    for words, place in ((["--master", nobody], "--master"), ([], "SPARK_REMOTE")):
        more = {} if words else {"SPARK_REMOTE": nobody}
        done = on_a_client("windrow", "run", file, "--once", *words, **more)
        assert done.returncode == 2, done.stderr[-2000:]
        assert done.stderr.startswith(f"windrow: {place} must not be Spark Connect: ") and nobody in done.stderr
