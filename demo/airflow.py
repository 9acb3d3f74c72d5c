"""A three-day backfill of the flights, run by Airflow: make airflow-demo.

Files appear by arrival: when the backfill begins, those are missing without which the last day is not over, so that its
run is seen waiting. They come then, and it publishes. Then the pipeline file says that a run which has waited shows its
windows early, and one of a day that is not over does so.

Everything is below out/airflow-demo: Airflow's home, a project with the files of the first days of 2013, the lake, and
the reports. Ports are free ones, and whatever is started is ended.
"""

from __future__ import annotations

import json
import os
import shutil
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
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from demo.flights import write_landing_files

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.prefix) / "bin"
SERVICES = ("api-server", "scheduler", "dag-processor", "triggerer")
DAG = "flights_backfill"
FILE = "conf/pipelines/flights.yaml"
EARLY = "early"
"""The run by hand of a day that is not over."""
DAYS = 3
FILES = 6
"""A flight lands up to a day after it left, so the files reach further than the days."""
THERE = 4
"""The files that are there at first; with them the watermark does not pass the end of the last day and its lateness."""


@dataclass
class Airflow:
    """An Airflow of its own: a home, a project with pipeline files, and the processes that were started."""

    home: Path
    project: Path
    pipelines: Path
    more: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=lambda: free_port())
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)
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
            "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1",  # no step here lives long enough for the second compiler
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            **self.more,
        }

    def command(self, *arguments: str) -> str:
        """The output of an `airflow` command. Errors: RuntimeError with what it said."""
        made = subprocess.run(
            [str(BIN / "airflow"), *arguments], env=self.environment, capture_output=True, text=True, cwd=ROOT
        )
        if made.returncode:
            raise RuntimeError(f"airflow {' '.join(arguments)}: {made.stdout[-1000:]} {made.stderr[-2000:]}")
        return made.stdout

    @contextmanager
    def running(self) -> Iterator[Airflow]:
        """Set up the home, start the services, and end them, each with all that it has started."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.command("db", "migrate")
        self._make_pools()
        try:
            for service in SERVICES:
                log = (self.home / f"{service}.log").open("wb")
                self._running.append(
                    subprocess.Popen(
                        [str(BIN / "airflow"), service], env=self.environment, cwd=ROOT, start_new_session=True,
                        stdout=log, stderr=subprocess.STDOUT,
                    )
                )  # fmt: skip
            self._wait_until_healthy()
            yield self
        finally:
            self._end()

    def _make_pools(self) -> None:
        """A pool for each lake of the pipelines, as whoever deploys does it."""
        file = str(self.home / "pools.json")
        words = [sys.executable, "-m", "windrow.airflow", "pools", str(self.pipelines), file]
        subprocess.run([*words, "--project", str(self.project)], env=self.environment, capture_output=True, check=True)
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

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What the API answers; to a POST where there is a body."""
        if self._token is None:
            with urlopen(f"http://127.0.0.1:{self.port}/auth/token", timeout=30) as answer:
                self._token = json.load(answer)["access_token"]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"http://127.0.0.1:{self.port}{path}", data, headers), timeout=60) as answer:
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
        for process in self._running:
            _signal(process, signal.SIGTERM)
        for process in self._running:
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


def new_project(folder: Path, files: int = FILES) -> Path:
    """A project in an empty folder: the pipeline of the flights, its suites, and the files of the first days.

    Files of later days are in the folder `later`. A run that waits looks again every 15 seconds.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "conf", folder / "conf")
    (folder / "conf" / "pipelines" / "traffic.yaml").unlink()
    file = folder / FILE
    file.write_text(file.read_text().replace("retries: 2}", "retries: 2, poke_interval: 15s}"))
    (folder / "later").mkdir()
    for path in write_landing_files(folder / "data" / "flights")[files:]:
        path.rename(folder / "later" / path.name)
    return folder


def arrive(project: Path, number: int) -> None:
    """The files of so many more days appear."""
    for path in sorted((project / "later").glob("*.json"))[:number]:
        path.rename(project / "data" / "flights" / path.name)


def show_early(project: Path) -> None:
    """From now on a run that has waited for 45 seconds shows the windows that have not expired."""
    file = project / FILE
    file.write_text(file.read_text().replace("poke_interval: 15s", "poke_interval: 5s, wait: 45s, on_timeout: early"))


def shown(project: Path, *arguments: str) -> str:
    """What `windrow show` shows of a stage."""
    words = [str(BIN / "windrow"), "show", str(project / FILE), *arguments, "--project", str(project), "--limit", "6"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Run the backfill, and show what became of it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    root = ROOT / "out" / "airflow-demo"
    shutil.rmtree(root, ignore_errors=True)
    print("== A project with the first days of 2013")
    project = new_project(root / "project", THERE)
    airflow = Airflow(root / "home", project, project / "conf" / "pipelines")
    print("== Airflow starts (its own home, a free port)")
    with airflow.running():
        print(f"   http://127.0.0.1:{airflow.port}, until this ends")
        airflow.command("dags", "reserialize")
        airflow.command("dags", "unpause", DAG)
        print(f"== A backfill of {DAYS} days: airflow backfill create --dag-id {DAG}")
        started = time.monotonic()
        airflow.backfill(DAG, "2013-01-01", f"2013-01-{DAYS + 1:02}")  # the last interval begins on the day before
        waiting = airflow.wait_for_waiting(DAG)
        print(f"   {waiting}: waits, as the windows of its day have not expired; what its task says:")
        print(f"   {airflow.waits_for(DAG, waiting)}")
        print(f"== {FILES - THERE} more files arrive")
        arrive(project, FILES - THERE)
        runs = airflow.wait_for(DAG, DAYS)
        for run, state in sorted(runs.items()):
            tasks = ", ".join(f"{task} {state}" for task, state in airflow.tasks(DAG, run).items())
            print(f"   {run}: {state} ({tasks})")
        print(f"   {time.monotonic() - started:.0f} s")
        print("== wait: 45s, on_timeout: early in the pipeline file, and a run of a day that is not over")
        show_early(project)
        airflow.command("dags", "reserialize")
        span = {"from": "2013-01-06T03:00:00+00:00", "to": "2013-01-07T03:00:00+00:00"}
        airflow.command("dags", "trigger", DAG, "--run-id", EARLY, "--conf", json.dumps(span))
        waiting = airflow.wait_for_waiting(DAG)
        print(f"   {waiting}: waits; what its task says:\n   {airflow.waits_for(DAG, waiting)}")
        runs = airflow.wait_for(DAG, DAYS + 1)
        print(f"   {EARLY}: {runs[EARLY]}; the last panes of an airline, early where windows are not over:")
        print(shown(project, "departures_hourly", "--panes", "--key", "origin=LGA", "--key", "carrier=DL"))
    print("== The reports")
    for page in sorted((project / "out").glob("*.html")):
        print(f"   {page}")
    if any(state != "success" for state in runs.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
