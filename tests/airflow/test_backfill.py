"""The flights through Airflow's scheduler: three days, of which two are wrong, and a driver that is killed twice.

One Airflow and one lake; the tests follow each other.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from demo.airflow import DAG, FILE, arrive
from demo.own_airflow import Airflow
from tests.airflow.flights import (
    STAGE,
    Flights,
    Row,
    busy_hour,
    hour,
    is_of,
    late_flight,
    project_of_one_stage,
    rows_of,
    write,
)  # fmt: skip
from tests.airflow.processes import driver_of
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.spec.pipelines.loading import load
from windrow.spec.times import parse_time
from windrow.store.journal.outcomes import OUTCOME

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]

RESTATE = "flights_restate"
FILES = 5
SPAN = {"from": "2013-01-01T03:00:00+00:00", "to": "2013-01-04T03:00:00+00:00"}
NEGATIVE = DOUBLED = 2
HALF = 3
"""The days of January that are wrong."""

SECRET = "correct horse battery"
"""The value of a variable that jobs are given."""


@dataclass
class WrongDays(Flights):
    """The flights, of which some days are wrong, and the states of the runs of the first backfill."""

    states: dict[str, str] = field(default_factory=dict)

    def backfill(self) -> None:
        """The three days; their states."""
        began = datetime.now(UTC)
        self.airflow.backfill(DAG, "2013-01-01", "2013-01-04")
        self.states = self.airflow.wait_for(DAG, 3, began)

    def by_hand(self, run: str) -> str:
        """A run over all of the days at once; its page."""
        began = datetime.now(UTC)
        self.airflow.trigger(DAG, run, SPAN)
        assert self.airflow.wait_for(DAG, 1, began) == {run: "success"}
        return self.page(run)

    def state(self, day: int) -> str:
        return self.states[run_of(day)]

    def versions(self) -> dict[str, int]:
        """How often every table was written."""
        tables = {path.parent for path in (self.project / "lake").rglob("_delta_log")}
        kept = {"audits", "quality_results", "staging"}  # what a run leaves there of itself
        own = [path for path in tables if not kept & set(path.parts)]
        return {str(path): DeltaTable(str(path)).version() for path in own}


def run_of(day: int) -> str:
    """Runs have the name of the end of their interval."""
    return f"backfill__2013-01-{day + 1:02}T03:00:00+00:00"


def planted(row: Row, index: int) -> list[Row]:
    """What becomes of a row: it is wrong on a day of faults."""
    if not row["departed_at"]:
        return [row]
    if is_of(NEGATIVE, hour(row)) and index % 10 == 0:
        row = {**row, "distance": -row["distance"]}
    if is_of(DOUBLED, hour(row)):
        return [row, row]
    return [] if is_of(HALF, hour(row)) and index % 2 else [row]


@pytest.fixture(scope="module")
def flights(tmp_path_factory) -> Iterator[WrongDays]:  # type: ignore[no-untyped-def]
    """Three days and two more, with the faults."""
    root = tmp_path_factory.mktemp("scheduled")
    spark = {"connection": "spark_local", "env": {"PASSPHRASE": "${SECRET}"}}
    project = project_of_one_stage(root / "project", FILES, spark=spark, restate="late")
    files = rows_of(project / "data" / "flights")
    for name, rows in files.items():
        write(project / "data" / "flights" / name, [made for i, row in enumerate(rows) for made in planted(row, i)])
    airflow = Airflow(root / "home", project, (project / FILE).parent, {"SECRET": SECRET})
    with airflow.running():
        airflow.unpause(DAG)
        yield WrongDays(airflow, project, files)


def kill_driver(airflow: Airflow, when: Callable[[], bool], other_than: int | None = None) -> int | None:
    """kill -9 of a driver, as soon as it is there and something holds; which one."""
    for _ in range(20 * 600):
        number = driver_of(airflow.home)
        if number not in (None, other_than) and when():
            os.kill(number, signal.SIGKILL)
            return number
        time.sleep(0.05)
    return None


def test_every_pipeline_can_be_imported(flights: WrongDays) -> None:
    assert "No data found" in flights.airflow.command("dags", "list-import-errors")


def test_days_that_are_right_are_published_and_others_are_not(flights: WrongDays) -> None:
    """On the first day the driver is killed behind compute, and the next one in the middle of publish."""
    lake = flights.project / "lake" / "flights"

    def has_computed() -> bool:
        with suppress(TableNotFoundError):
            rows = flights.table("_windrow", "audits").to_pyarrow_table(columns=["step", "subject"]).to_pylist()
            return any(row["step"] == OUTCOME and row["subject"].endswith(" compute") for row in rows)
        return False

    def has_committed() -> bool:
        return any(path.is_file() for path in (lake / STAGE).glob("journal/*/_delta_log/*.json"))

    killed: list[int | None] = []

    def kill() -> None:
        killed.append(kill_driver(flights.airflow, has_computed))
        killed.append(kill_driver(flights.airflow, has_committed, other_than=killed[0]))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    flights.backfill()
    killer.join(timeout=0)
    assert not killer.is_alive(), "the driver was not killed twice"
    assert [flights.state(day) for day in (1, NEGATIVE, HALF)] == ["success", "failed", "failed"]
    assert None not in killed and killed[0] != killed[1]
    tries = flights.airflow.tries(DAG, run_of(1))
    assert [tries[step] for step in ("land", "gate_rows", "compute")] == [("success", 1)] * 3
    assert tries["publish"][0] == "success"
    assert flights.shown() == flights.right(range(1, 2))
    panes = flights.table(STAGE, "panes").to_pyarrow_table().to_pylist()
    assert len(panes) == len(flights.shown()), "each window once"
    staging = flights.project / "lake" / "flights" / "_windrow" / "staging"
    assert not list(staging.glob("*")), "nor is anything staged by the run that has stopped"
    (event,) = flights.events()
    assert (event["run"], event["inserted"]) == (f"flights__{run_of(1)}", len(panes)), (
        "told once, by the try that found it done"
    )


@pytest.mark.parametrize(
    ("day", "gate", "expectation"),
    [
        (NEGATIVE, "gate_rows", "column_values_to_be_between(distance, min_value=1, max_value=6000)"),
        (DOUBLED, "gate_rows", "compound_columns_to_be_unique"),
        (HALF, "gate_results", "column_mean_to_be_between(flights, min_value=2.15, max_value=3.2)"),
    ],
)
def test_the_gate_is_red_and_the_report_says_why(flights: WrongDays, day: int, gate: str, expectation: str) -> None:
    tries = flights.airflow.tries(DAG, run_of(day))
    assert (tries[gate], tries["report"][0]) == (("failed", 1), "success")
    assert tries["publish"][0] == "upstream_failed"
    page = flights.page(run_of(day))
    assert expectation in page and "nothing was published" in page
    if day == NEGATIVE:
        rows = [row for row in flights.rows if row["departed_at"] and is_of(day, hour(row))]
        assert f"of {2 * len(rows):,} rows" in page, "all of them are there twice"


def test_corrected_days_are_published(spark, flights: WrongDays) -> None:
    """By the steps that the tasks make, in this process: a task takes longer to start than to do its work."""
    pipeline = load(flights.project / "conf" / "pipelines" / "flights.yaml", project=flights.project)
    for path in sorted(flights.data.glob("arrivals-2013-01-0[2-4]*.json")):
        quarantine(pipeline, spark, "departures", path.name)
        write(flights.data / f"corrected-{path.name}", flights.files[path.name])
    start, end = (parse_time(SPAN[name]) for name in ("from", "to"))
    corrected = Backfill(PipelineWork.open(pipeline, spark), "corrected", start, end)
    corrected.land()
    assert corrected.gate_rows()
    corrected.publish()
    assert flights.shown() == flights.right(range(1, 4))


def test_a_run_waits_until_its_windows_have_expired_and_then_publishes(flights: WrongDays) -> None:
    """A day whose last flights have not landed: nothing of it is shown, and no try has failed."""
    before, began = flights.shown(), datetime.now(UTC)
    span = {"from": "2013-01-05T03:00:00+00:00", "to": "2013-01-06T03:00:00+00:00"}
    flights.airflow.trigger(DAG, "fifth", span)
    assert flights.airflow.wait_for_waiting(DAG) == "fifth"
    assert "have not expired" in flights.airflow.waits_for(DAG, "fifth")
    assert flights.shown() == before
    arrive(flights.project, 2)
    assert flights.airflow.wait_for(DAG, 1, began) == {"fifth": "success"}
    assert flights.airflow.tries(DAG, "fifth")["land"] == ("success", 1)
    assert sum(flights.shown().values()) > sum(before.values())


def test_a_second_time_changes_nothing(flights: WrongDays) -> None:
    """The same backfill makes no run again; by hand, over all of the days at once, a run finds nothing to change."""
    before, runs, events = flights.versions(), flights.airflow.runs(DAG), flights.events()
    flights.airflow.backfill(DAG, "2013-01-01", "2013-01-04")
    assert flights.airflow.runs(DAG) == runs
    page = flights.by_hand("again")
    assert flights.versions() == before
    assert "Nothing changed" in page and "2013-01-04 03:00" in page
    assert flights.events() == events


def test_a_flight_that_lands_behind_a_publish_is_restated_by_a_run_of_its_own(flights: WrongDays) -> None:
    """In an hour whose windows alone would pass the gate, which judges what is restated."""
    flights.airflow.unpause(RESTATE)
    before, events, began = flights.shown(), flights.events(), datetime.now(UTC)
    start = busy_hour(before)
    window = next(window for window in before if window[2] == start)
    write(flights.data / "late.json", [late_flight(flights.rows[0], window)])
    flights.by_hand("behind")
    (state,) = flights.airflow.wait_for(RESTATE, 1, began).values()
    assert state == "success"
    assert flights.shown() - before == Counter({window: 1})
    (event,) = flights.events()[len(events) :]
    assert event["run"].startswith("restate__flights__") and event["inserted"] + event["changed"] > 0
    (path,) = (flights.project / "out").glob("flights-restate__*.html")
    page = path.read_text()
    assert "Windows old and new" in page and f"Published: {STAGE}." in page and "the task</a>" in page
    origin, carrier, start = window
    assert all(value in page for value in (origin, carrier, f"{start:%Y-%m-%d %H:%M}"))


def test_the_value_of_a_secret_is_in_no_file(flights: WrongDays) -> None:
    """In none of the lake, of the pages, of the logs, or of Airflow's database."""
    roots = (flights.project, flights.airflow.home)
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files) and any(path.suffix == ".db" for path in files)
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
