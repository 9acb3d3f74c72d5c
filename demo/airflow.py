"""A three-day backfill of the flights, run by Airflow: make airflow-demo.

Files appear by arrival: when the backfill begins, those are missing without which the last day is not over, so that its
run is seen waiting. They come then, and it publishes. Then the pipeline file says that a run which has waited shows its
windows early, and one of a day that is not over does so.

Everything is below out/airflow-demo: Airflow's home, a project with the files of the first days of 2013, the lake, and
the reports. Ports are free ones, and whatever is started is ended.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from demo.flights import write_landing_files
from demo.own_airflow import BIN, ROOT, Airflow

DAG = "flights_backfill"
FILE = "conf/pipelines/flights.yaml"
EARLY = "early"
"""The run by hand of a day that is not over."""
DAYS = 3
FILES = 6
"""A flight lands up to a day after it left, so the files reach further than the days."""
THERE = 4
"""The files that are there at first; with them the watermark does not pass the end of the last day and its lateness."""


def new_project(folder: Path, files: int = FILES) -> Path:
    """A project in an empty folder: the pipeline of the flights, its suites, and the files of the first days.

    Files of later days are in the folder `later`. A run that waits looks again every 5 seconds.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "conf", folder / "conf")
    (folder / "conf" / "pipelines" / "traffic.yaml").unlink()
    file = folder / FILE
    file.write_text(file.read_text().replace("retries: 2}", "retries: 2, poke_interval: 5s}"))
    (folder / "later").mkdir()
    for path in write_landing_files(folder / "data" / "flights")[files:]:
        path.rename(folder / "later" / path.name)
    return folder


def arrive(project: Path, number: int) -> None:
    """The files of so many more days appear."""
    for path in sorted((project / "later").glob("*.json"))[:number]:
        path.rename(project / "data" / "flights" / path.name)


def show_early(project: Path) -> None:
    """From now on a run that has waited for 15 seconds shows the windows that have not expired.

    Tasks read the file when they begin, so nothing has to be told to Airflow.
    """
    file = project / FILE
    file.write_text(file.read_text().replace("poke_interval: 5s", "poke_interval: 5s, wait: 15s, on_timeout: early"))


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
        airflow.unpause(DAG)
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
        print("== wait: 15s, on_timeout: early in the pipeline file, and a run of a day that is not over")
        show_early(project)
        span = {"from": "2013-01-06T03:00:00+00:00", "to": "2013-01-07T03:00:00+00:00"}
        airflow.trigger(DAG, EARLY, span)
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
