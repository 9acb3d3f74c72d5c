"""A week of flights by arrival through Airflow's scheduler, every day at three: each run waits, and then publishes.

The scheduler makes the runs by itself, one for each day of the schedule, and a day's file arrives when the run before
it waits for it. With one of them lands a flight of a day that is published. One Airflow; the tests follow each other.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from demo.airflow import DAG, FILE, arrive
from demo.own_airflow import Airflow
from tests.airflow.flights import Flights, Window, busy_hour, late_flight, project_of_one_stage, rows_of, write
from tests.airflow.metadata import asked, deferred, most_slots, used_slots
from tests.airflow.processes import processes_of
from tests.airflow.until import until
from tests.cli.command import windrow

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]

RESTATE = "flights_restate"
DAYS = range(1, 8)
LATE = 4
"""The day with whose last file a flight of the first day lands."""
FIRST = 2
"""The files that are there at first: with one more the first day is over."""
DAGS = """
from windrow.airflow import dags_of

made = dags_of("conf/pipelines", {project!r})
made[{dag!r}].catchup = True  # the days are long over
globals().update(made)
"""


def run_of(day: int) -> str:
    """Runs have the name of the end of their interval."""
    return f"scheduled__2013-01-{day + 1:02}T03:00:00+00:00"


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flights]:
    root = tmp_path_factory.mktemp("week")
    end = f"2013-01-{DAYS[-1]:02}T03:00:00Z"  # the start of the last interval
    project = project_of_one_stage(root / "project", FIRST, end=end, restate="late", poke_interval="2s")
    files = rows_of(project / "data" / "flights") | rows_of(project / "later")
    (root / "dags").mkdir()
    (root / "dags" / "all.py").write_text(DAGS.format(project=str(project), dag=DAG))
    more = {"AIRFLOW__CORE__DAGS_FOLDER": str(root / "dags")}
    airflow = Airflow(root / "home", project, (project / FILE).parent, more)
    with airflow.running():
        airflow.unpause(DAG, RESTATE)
        yield Flights(airflow, project, files)


def of_task(flights: Flights, run: str, what: str) -> Any:
    """What the page of the first task of a run has."""
    return flights.airflow.ask(f"/api/v2/dags/{DAG}/dagRuns/{quote(run)}/taskInstances/land/{what}")


def lands_late(flights: Flights) -> Window:
    """A flight of the first day lands, in a window that has been published; which one."""
    shown = flights.shown()
    start = busy_hour(shown)
    window = next(window for window in shown if window[2] == start)
    newest = max(path.stat().st_mtime for path in flights.data.glob("*.json"))
    unseen = flights.data / ".late.json"
    write(unseen, [late_flight(flights.rows[0], window)])
    os.utime(unseen, (newest + 1, newest + 1))  # a younger one would make the source forget all that are to come
    unseen.rename(flights.data / "late.json")
    return window


def wait_in_triggerer(flights: Flights, run: str) -> None:
    """Wait until the first task of a run has been taken by the triggerer, and nothing else waits."""
    waits = (DAG, run, "land", "windrow.airflow.tasks.trigger.WindowsExpired")
    until(lambda: any(one[:4] == waits and one.triggerer is not None for one in deferred(flights.airflow.home)))


def says_how_far(flights: Flights, run: str) -> bool:
    """Whether the log on the task's page says what the triggerer has seen."""
    log = json.dumps(of_task(flights, run, "logs/1"))
    return "Waits until" in log and "departures landed step" in log


def restatements(flights: Flights) -> list[str]:
    """How the runs of the other DAG have ended."""
    return list(flights.airflow.runs(RESTATE).values())


@pytest.fixture(scope="module")
def late() -> list[Window]:
    """The window of the flight that has landed late."""
    return []


def test_every_run_of_a_week_waits_and_then_publishes(flights: Flights, late: list[Window]) -> None:
    airflow, home = flights.airflow, flights.airflow.home
    with most_slots(home) as most:
        for day in DAYS:
            run = run_of(day)
            wait_in_triggerer(flights, run)
            if day == LATE + 1:
                until(lambda: restatements(flights) == ["success"])
            assert not used_slots(home), "waiting takes no slot"
            assert [one.run for one in deferred(home)] == [run], "and nothing but the triggerer"
            assert not [words for words in processes_of(home).values() if "java" in words[0]]
            page = of_task(flights, run, "xcomEntries/waits_for")["value"]
            assert "departures_hourly: " in page and "have not expired" in page and "held back by source" in page
            until(partial(says_how_far, flights, run))
            if day == LATE:
                late.append(lands_late(flights))
            arrive(flights.project, 1)
        assert airflow.wait_for(DAG, len(DAYS)) == {run_of(day): "success" for day in DAYS}
    (pool,) = [name for name in json.loads((home / "pools.json").read_text()) if "flights" in name]
    assert most == {pool: 1}, "one slot of the pool of the lake, all the while"
    assert asked(home, "select count(*) from task_instance where state <> 'success' or try_number > 1") == [(0,)]
    assert restatements(flights) == ["success"]
    assert flights.shown() == flights.right(DAYS) + Counter(late)


def test_a_late_row_was_restated_by_a_run_of_its_own(spark, flights: Flights, late: list[Window]) -> None:
    """A batch over all rows finds what stands, and the page of the run shows the window old and new."""
    span = ["--from", "2013-01-01T03:00:00Z", "--to", f"2013-01-{DAYS[-1] + 1:02}T03:00:00Z"]
    compared = windrow("reconcile", flights.project / FILE, "--project", flights.project, *span)
    assert compared.code == 0, compared.out + compared.err
    (restatement,) = [f"restate__flights__{run}" for run in flights.airflow.runs(RESTATE)]
    (event,) = [event for event in flights.events() if event["run"] == restatement]
    assert (event["inserted"], event["changed"], event["retracted"]) == (0, 1, 0)
    (window,) = late
    origin, carrier, start = window
    told = flights.told(restatement)
    ((changed,),) = (one["differing"] for one in told["changed"])
    assert changed["key"] == {"origin": origin, "carrier": carrier}
    assert changed["window_start"] == f"{start:%Y-%m-%dT%H:%M:%SZ}"
    old, new = flights.right(DAYS)[window], flights.shown()[window]
    assert (changed["there"]["flights"], changed["here"]["flights"]) == (old, new) == (old, old + 1)
    page = flights.page(restatement)
    assert "Windows old and new" in page and f'data-label="new">{new}</td>' in page
