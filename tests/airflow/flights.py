"""The flights through an Airflow: a project with the first stage of their pipeline, and a plain count of windows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from deltalake import DeltaTable

from demo.airflow import FILE, new_project
from demo.own_airflow import Airflow

STAGE = "departures_hourly"
Row = dict[str, Any]
Window = tuple[str, str, datetime]
"""Of the stage: the airport, the airline and the hour."""


@dataclass
class Flights:
    """A project, its Airflow, and the rows of its files, by file, as they are when nothing is wrong."""

    airflow: Airflow
    project: Path
    files: dict[str, list[Row]]

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.files.values() for row in rows]

    @property
    def data(self) -> Path:
        return self.project / "data" / "flights"

    def table(self, owner: str, name: str) -> DeltaTable:
        return DeltaTable(str(self.project / "lake" / "flights" / owner / name))

    def shown(self) -> Counter[Window]:
        """The number of flights of every window that `current` shows."""
        rows = self.table(STAGE, "current").to_pyarrow_table().to_pylist()
        return Counter({(row["origin"], row["carrier"], row["window_start"]): row["flights"] for row in rows})

    def right(self, days: Iterable[int]) -> Counter[Window]:
        """The same of the rows that are right, by a plain count."""
        departed = [(row["origin"], row["carrier"], hour(row)) for row in self.rows if row["departed_at"]]
        return Counter(window for window in departed if any(is_of(day, window[2]) for day in days))

    def events(self) -> list[dict[str, Any]]:
        """What the events of the table say, the oldest first."""
        found = self.airflow.ask("/api/v2/assets/events?order_by=timestamp&limit=100")["asset_events"]
        return [event["extra"] for event in found if event["name"] == f"flights/{STAGE}"]

    def page(self, run: str) -> str:
        """The page of a run, as its DAG writes it."""
        return self._beside(run, "html").read_text()

    def told(self, run: str) -> dict[str, Any]:
        """The same for machines."""
        return dict(json.loads(self._beside(run, "json").read_text()))

    def _beside(self, run: str, suffix: str) -> Path:
        return self.project / "out" / f"flights-{run.replace(':', '').replace('+', '_')}.{suffix}"


def project_of_one_stage(folder: Path, files: int, **schedule: Any) -> Path:
    """A project in which so many files have arrived, with other fields of its schedule."""
    project = new_project(folder, files)
    pipeline = yaml.safe_load((project / FILE).read_text())
    pipeline["stages"] = [stage for stage in pipeline["stages"] if stage["name"] == STAGE]
    pipeline["schedule"].update(schedule)
    (project / FILE).write_text(yaml.safe_dump(pipeline))
    return project


def rows_of(folder: Path) -> dict[str, list[Row]]:
    """The rows of the files of a folder, by file."""
    paths = sorted(folder.glob("*.json"))
    return {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in paths}


def write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def hour(row: Row) -> datetime:
    departed = datetime.fromisoformat(row["departed_at"]).astimezone(UTC)
    return departed.replace(minute=0, second=0)


def is_of(day: int, moment: datetime) -> bool:
    start = datetime(2013, 1, day, 3, tzinfo=UTC)
    return start <= moment < start + timedelta(days=1)


def busy_hour(windows: Counter[Window]) -> datetime:
    """An hour whose windows alone pass the gate of the stage, with another flight too."""
    hours: dict[datetime, list[int]] = {}
    for (_, _, start), number in windows.items():
        hours.setdefault(start, []).append(number)
    return next(hour for hour, n in hours.items() if len(n) > 10 and 2.3 < sum(n) / len(n) < 3)


def late_flight(row: Row, window: Window) -> Row:
    """A flight like another one that left in this window, and lands now."""
    origin, carrier, start = window
    moment = f"{start:%Y-%m-%dT%H}:59:30Z"
    changed = {"origin": origin, "carrier": carrier, "departed_at": moment, "arrived_at": moment, "flight": 9999}
    return {**row, **changed, "distance": 200, "dep_delay": 0}
