"""An Airflow of its own: a home, and the processes that it consists of, on free ports."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.prefix) / "bin"
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
"""No step here lives long enough for the second compiler, nor has it memory that is worth more threads."""
SERVICES = ("api-server", "scheduler", "dag-processor", "triggerer")
PRELOADED = (
    "airflow.executors.local_executor", "airflow.sdk.execution_time.task_runner",
    "windrow.airflow", "deltalake", "pyarrow.dataset", "pandas",
)  # fmt: skip
"""What every task imports. It is imported once, by a server from which the workers of the executor are forked."""


@dataclass
class Airflow:
    """An Airflow of its own: a home, a project with pipeline files, and the processes that were started.

    `binaries` is the folder of the environment in which it is installed.
    """

    home: Path
    project: Path
    pipelines: Path
    more: Mapping[str, str] = field(default_factory=dict)
    binaries: Path = BIN
    port: int = field(default_factory=lambda: free_port())
    _running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)
    _token: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.port}"
        return {
            **os.environ,
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.home}/airflow.db?timeout=60",
            "AIRFLOW__SCHEDULER__MP_START_METHOD": "forkserver",
            "AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD": ",".join(PRELOADED),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
            "AIRFLOW_CONN_SPARK_LOCAL": '{"conn_type": "spark", "host": "local[2]"}',
            "WINDROW_PROJECT": str(self.project),
            "WINDROW_PIPELINES": str(self.pipelines),
            "PYSPARK_PYTHON": str(BIN / "python"),
            "SPARK_SUBMIT_OPTS": JVM,
            "PATH": f"{self.binaries}{os.pathsep}{os.environ['PATH']}",
            **self.more,
        }

    def command(self, *arguments: str) -> str:
        """The output of an `airflow` command. Errors: RuntimeError with what it said."""
        words = [str(self.binaries / "airflow"), *arguments]
        made = subprocess.run(words, env=self.environment, capture_output=True, text=True, cwd=ROOT)
        if made.returncode:
            raise RuntimeError(f"airflow {' '.join(arguments)}: {made.stdout[-1000:]} {made.stderr[-2000:]}")
        return made.stdout

    @contextmanager
    def running(self) -> Iterator[Airflow]:
        """Set up the home, start the services, and end them, each with all that it has started."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.command("db", "migrate")
        try:
            for service in SERVICES:
                self.start(service)
            self._make_pools()  # while they come up
            self._wait_until_healthy()
            yield self
        finally:
            self._end()

    def start(self, service: str) -> None:
        """Start a service, in a process group of its own. What it logs goes behind what is in its file."""
        with (self.home / f"{service}.log").open("ab") as log:
            process = subprocess.Popen(
                [str(self.binaries / "airflow"), service], env=self.environment, cwd=ROOT, start_new_session=True,
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._running.append((service, process))

    def kill(self, service: str) -> None:
        """kill -9 of the process of a service, and of none that it has started."""
        process = next(process for name, process in reversed(self._running) if name == service)
        process.kill()
        process.wait()

    def _make_pools(self) -> None:
        """A pool for each lake of the pipelines, as whoever deploys does it."""
        file = str(self.home / "pools.json")
        words = [str(self.binaries / "python"), "-m", "windrow.airflow", "pools", str(self.pipelines), file]
        words += ["--project", str(self.project)]
        subprocess.run(words, env=self.environment, capture_output=True, check=True, cwd=ROOT)
        self.command("pools", "import", file)

    def backfill(self, dag: str, first: str, last: str, again: str = "none") -> None:
        """Ask for a run for each data interval from one date to another. `again`: none, completed or failed.

        Airflow takes one backfill of a DAG at a time, and marks the last one as done some seconds behind its runs.
        """
        for _ in range(120):
            asked = self.ask(f"/api/v2/backfills?dag_id={dag}")["backfills"]
            if all(backfill["completed_at"] for backfill in asked):
                break
            time.sleep(1)
        self.command(
            "backfill", "create", "--dag-id", dag, "--from-date", first, "--to-date", last, "--max-active-runs", "1",
            "--reprocess-behavior", again,
        )  # fmt: skip

    def unpause(self, *dags: str, seconds: float = 120) -> None:
        """Let the scheduler run these DAGs, as soon as the DAG processor has found them. Raises TimeoutError."""
        until = time.monotonic() + seconds
        for dag in dags:
            while not self._is_unpaused(dag):
                if time.monotonic() > until:
                    raise TimeoutError(f"{dag} is not there after {seconds:.0f} s; logs are in {self.home}")
                time.sleep(0.5)

    def _is_unpaused(self, dag: str) -> bool:
        try:
            self.ask(f"/api/v2/dags/{dag}", {"is_paused": False}, "PATCH")
        except HTTPError as error:
            if error.code != 404:
                raise
            return False
        return True

    def trigger(self, dag: str, run: str, conf: Mapping[str, Any]) -> None:
        """A run by hand, with these params."""
        self.ask(f"/api/v2/dags/{dag}/dagRuns", {"dag_run_id": run, "logical_date": None, "conf": conf})

    def runs(self, dag: str, since: datetime | None = None) -> dict[str, str]:
        """The state of every run of a DAG, or of those that have started since."""
        listed = self.ask(f"/api/v2/dags/{dag}/dagRuns?limit=100")["dag_runs"]
        begun = {run["dag_run_id"]: run["start_date"] for run in listed}
        states = {run["dag_run_id"]: run["state"] for run in listed}
        if since is None:
            return states
        return {run: state for run, state in states.items() if begun[run] and _moment(begun[run]) >= since}

    def tasks(self, dag: str, run: str) -> dict[str, str]:
        """The state of every task of a run."""
        return {task: state for task, (state, _) in self.tries(dag, run).items()}

    def tries(self, dag: str, run: str) -> dict[str, tuple[str, int]]:
        """The state of every task of a run, and how often it was tried."""
        listed = self.ask(f"/api/v2/dags/{dag}/dagRuns/{quote(run)}/taskInstances")["task_instances"]
        return {task["task_id"]: (task["state"], task["try_number"]) for task in listed}

    def wait_for(self, dag: str, number: int, since: datetime | None = None, seconds: float = 1800) -> dict[str, str]:
        """Wait until so many runs have ended; their states. Errors: TimeoutError."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            runs = self.runs(dag, since)
            if len(runs) >= number and all(state in ("success", "failed") for state in runs.values()):
                return runs
            time.sleep(1)
        raise TimeoutError(f"{dag}: {self.runs(dag)} after {seconds:.0f} s; logs are in {self.home}")

    def wait_for_waiting(self, dag: str, seconds: float = 1800) -> str:
        """Wait until a task of a run is deferred; the run. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for run in self.runs(dag):
                if "deferred" in self.tasks(dag, run).values():
                    return run
            time.sleep(1)
        raise TimeoutError(f"{dag}: no run has waited in {seconds:.0f} s; logs are in {self.home}")

    def waits_for(self, dag: str, run: str) -> str:
        """What the log of a run says of the windows that it waits for."""
        logs = sorted((self.home / "logs" / f"dag_id={dag}" / f"run_id={run}").rglob("*.log"))
        lines = [line for log in logs for line in log.read_text().splitlines() if "windrow: waits: " in line]
        return lines[-1].split("windrow: waits: ")[-1].split('"')[0] if lines else ""

    def ask(self, path: str, body: Mapping[str, Any] | None = None, method: str | None = None) -> Any:
        """What the API answers; to a POST where there is a body and no other `method`. Raises HTTPError."""
        if self._token is None:
            with urlopen(f"http://127.0.0.1:{self.port}/auth/token", timeout=30) as answer:
                self._token = json.load(answer)["access_token"]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def _wait_until_healthy(self, seconds: float = 180) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/api/v2/monitor/health", timeout=5) as answer:
                    health = json.load(answer)
                needed = ("metadatabase", "scheduler", "dag_processor", "triggerer")
                if all(health[name]["status"] == "healthy" for name in needed):
                    return
            except (URLError, OSError, KeyError):
                pass
            time.sleep(1)
        raise TimeoutError(f"Airflow is not up after {seconds:.0f} s; logs are in {self.home}")

    def _end(self) -> None:
        for _, process in self._running:
            _signal(process, signal.SIGTERM)
        for _, process in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            _signal(process, signal.SIGKILL)
        self._end_tasks()

    def _end_tasks(self) -> None:
        """Kill what a task has left running: all that has this home in its environment."""
        mark = f"AIRFLOW_HOME={self.home}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
