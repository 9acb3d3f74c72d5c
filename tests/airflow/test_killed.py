"""kill -9 in the middle of a publish: of the scheduler, and of the scheduler and the driver together. Right, and once.

The driver is that of a run of the DAG; the scheduler comes again. One Airflow; the tests follow each other.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest

from demo.own_airflow import Airflow
from tests.airflow.hits import BACKFILL, STAGE, START, Hits
from tests.airflow.metadata import asked
from tests.airflow.processes import driver_of, drivers_of
from tests.airflow.until import until
from tests.cli.command import windrow

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]

SOON = {
    "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "20",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "5",
}
"""What tells a new scheduler sooner that the one before is dead, and that its tasks are nobody's."""


@pytest.fixture(scope="module")
def hits(tmp_path_factory: pytest.TempPathFactory) -> Hits:
    """Three days of hits, which have all come."""
    project = tmp_path_factory.mktemp("killed") / "project"
    (project / "pipelines").mkdir(parents=True)
    made = Hits.made(project, spark={"connection": "spark_local"}, retries=3)
    made.arrive(range(0, 3 * 24 * 60, 2))
    return made


@pytest.fixture(scope="module")
def airflow(hits: Hits) -> Iterator[Airflow]:
    made = Airflow(hits.project.parent / "home", hits.project, hits.file.parent, SOON)
    with made.running():
        made.unpause(BACKFILL)
        yield made


def day(number: int) -> tuple[datetime, datetime]:
    return START + timedelta(days=number), START + timedelta(days=number + 1)


def begin(airflow: Airflow, number: int) -> str:
    """A run over a day; its name."""
    start, end = day(number)
    airflow.trigger(BACKFILL, f"day-{number}", {"from": start.isoformat(), "to": end.isoformat()})
    return f"day-{number}"


def in_the_middle_of_a_publish(hits: Hits, airflow: Airflow) -> int:
    """Wait until the run has committed to the journal, and nobody has been shown it; the driver."""
    before, shown = hits.step(), hits.version(STAGE, "current")
    until(lambda: driver_of(airflow.home) is not None)
    driver = driver_of(airflow.home)
    assert driver is not None
    until(lambda: hits.step() > before, every=0.01)
    assert hits.version(STAGE, "current") <= max(shown, 0), "but the version that makes the table"
    return driver


def test_the_scheduler_is_killed_in_the_middle_of_a_publish(hits: Hits, airflow: Airflow) -> None:
    """The driver is slow: it goes on, if nobody has ended it, when a second try of its task has a driver too."""
    run = begin(airflow, 0)
    driver = in_the_middle_of_a_publish(hits, airflow)
    os.kill(driver, signal.SIGSTOP)
    airflow.kill("scheduler")
    assert drivers_of(airflow.home) == [driver]
    airflow.start("scheduler")
    until(lambda: drivers_of(airflow.home) not in ([], [driver]) or airflow.runs(BACKFILL)[run] == "success")
    with suppress(ProcessLookupError):
        os.kill(driver, signal.SIGCONT)
    until(lambda: airflow.runs(BACKFILL)[run] in ("success", "failed"))
    check(hits, airflow, run, 1)


def test_the_scheduler_and_the_driver_are_killed_in_the_middle_of_a_publish(hits: Hits, airflow: Airflow) -> None:
    seen, run = hits.shown(), begin(airflow, 1)
    os.kill(in_the_middle_of_a_publish(hits, airflow), signal.SIGKILL)
    airflow.kill("scheduler")
    assert hits.shown() == seen, "nobody sees anything of it yet"
    airflow.start("scheduler")
    until(lambda: airflow.runs(BACKFILL)[run] in ("success", "failed"))
    check(hits, airflow, run, 2)


def check(hits: Hits, airflow: Airflow, run: str, days: int) -> None:
    """The run is green; the windows are right, each is shown once, and one event tells of them."""
    assert airflow.runs(BACKFILL)[run] == "success"
    assert set(airflow.tasks(BACKFILL, run).values()) == {"success"}
    tries, jobs = (
        asked(airflow.home, f"select {what} where run_id = '{run}' and {which}")[0][0]
        for what, which in (
            ("max(try_number) from task_instance", "true"),
            ("count(distinct value) from xcom", "key = 'attempt'"),
        )
    )
    assert tries > 1 or jobs > 1, "a task was tried again, or one behind it has made a job of its own"
    right = hits.right(START, START + timedelta(days=days))
    assert hits.shown() == hits.shown("panes") == right
    assert len(hits.read(STAGE, "panes")) == len(right), "each window once"
    events = [event for event in events_of(airflow) if event["run"] == f"hits__{run}"]
    assert [(event["inserted"], event["changed"], event["retracted"]) for event in events] == [(24 * 8, 0, 0)]


def events_of(airflow: Airflow) -> list[dict[str, Any]]:
    return [event["extra"] for event in airflow.ask("/api/v2/assets/events?order_by=timestamp")["asset_events"]]


def test_a_batch_over_all_rows_finds_the_same(spark, hits: Hits, airflow: Airflow) -> None:
    span = ["--from", "2024-01-01", "--to", "2024-01-03"]
    compared = windrow("reconcile", hits.file, "--project", hits.project, *span)
    assert compared.code == 0, compared.out + compared.err
    assert not list((hits.lake / "_windrow" / "staging").glob("*"))
