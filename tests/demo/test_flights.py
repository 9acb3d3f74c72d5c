"""The flights as landing files: instants checked by hand against the data, order of arrival, nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from demo.flight_times import flight_times, read_flights, read_zones
from demo.flights import arrivals, lateness, main, write_landing_files

PIPELINE = Path(__file__).parents[2] / "conf/pipelines/flights.yaml"
FLIGHTS_OF_2013 = 336_776
FLIGHTS_OF_JANUARY = 27_004

Row = dict[str, Any]


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_landing_files(tmp_path_factory.mktemp("year"), months=range(1, 13))


@pytest.fixture(scope="module")
def january(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_landing_files(tmp_path_factory.mktemp("january"), hours_per_file=6)


@pytest.fixture(scope="module")
def year_rows(year: list[Path]) -> list[Row]:
    return list(rows_of(year))


@pytest.fixture(scope="module")
def year_arrivals() -> pd.DataFrame:
    return arrivals(range(1, 13))


def rows_of(paths: list[Path]) -> Iterator[Row]:
    return (json.loads(line) for path in paths for line in path.read_text().splitlines())


def times(rows: list[Row], carrier: str, flight: int, origin: str, departed_on: str) -> tuple[str, str]:
    """When the only flight of this number left that airport on this day (or in this hour), and landed."""
    (row,) = [
        row
        for row in rows
        if (row["carrier"], row["flight"], row["origin"]) == (carrier, flight, origin)
        and (row["departed_at"] or "").startswith(departed_on)
    ]
    return row["departed_at"], row["arrived_at"]


def test_every_flight_is_in_one_line(year_rows: list[Row]) -> None:
    assert len(year_rows) == FLIGHTS_OF_2013
    assert sum(row["departed_at"] is None for row in year_rows) == 8_255


def test_columns_are_those_of_the_pipeline(year_rows: list[Row]) -> None:
    (source,) = yaml.safe_load(PIPELINE.read_text())["sources"]
    columns = dict(column.split() for column in source["schema"].split(", "))
    types = {"string": str, "int": int}
    assert list(year_rows[0]) == list(columns)
    for row in year_rows[::100]:
        assert all(row[name] is None or type(row[name]) is types[kind] for name, kind in columns.items())


@pytest.mark.parametrize(
    ("flight", "departed_at", "arrived_at"),
    [
        # The first row of the data: dep_time 517, arr_time 830 in Houston.
        (("UA", 1545, "EWR", "2013-01-01"), "2013-01-01T05:17:00-05:00", "2013-01-01T08:30:00-06:00"),
        # Scheduled on January 1st at 18:35, 853 minutes late: 848, 1001.
        (("MQ", 3944, "JFK", "2013-01-02T08"), "2013-01-02T08:48:00-05:00", "2013-01-02T10:01:00-05:00"),
        # Scheduled on October 30th at 23:59, a minute late: 2400, 327 in Puerto Rico, which is not in the airports.
        (("B6", 839, "JFK", "2013-10-31T00"), "2013-10-31T00:00:00-04:00", "2013-10-31T03:27:00-04:00"),
        # In the air while New York's clocks go from 02:00 to 03:00: 2306, 203 in Palm Beach, a time that did not exist.
        (("B6", 35, "JFK", "2013-03-09T23"), "2013-03-09T23:06:00-05:00", "2013-03-10T03:03:00-04:00"),
        # The same night, to a zone that has no summer time: scheduled on the 9th at 23:59, 53, 504.
        (("B6", 727, "JFK", "2013-03-10T00"), "2013-03-10T00:53:00-05:00", "2013-03-10T05:04:00-04:00"),
        # The night of November 3rd, when Los Angeles has 01:14 twice: 2217, 114, 339 minutes in the air.
        (("VX", 413, "JFK", "2013-11-02T22"), "2013-11-02T22:17:00-04:00", "2013-11-03T01:14:00-07:00"),
        # To Honolulu, 11 hours and 19 minutes: 857, 1516.
        (("HA", 51, "JFK", "2013-01-01"), "2013-01-01T08:57:00-05:00", "2013-01-01T15:16:00-10:00"),
        # Diverted, came to Chicago on the next day: 1623, 1148. The latest row of all.
        (("MQ", 3694, "EWR", "2013-06-12"), "2013-06-12T16:23:00-04:00", "2013-06-13T11:48:00-05:00"),
        # Never came to Oklahoma City: due at 22:20, left 46 minutes late.
        (("EV", 4204, "EWR", "2013-01-01"), "2013-01-01T20:16:00-05:00", "2013-01-01T23:06:00-06:00"),
    ],
)
def test_instants(year_rows: list[Row], flight: tuple[str, int, str, str], departed_at: str, arrived_at: str) -> None:
    assert times(year_rows, *flight) == (departed_at, arrived_at)


def test_a_cancelled_flight_is_known_at_its_scheduled_departure(year_rows: list[Row]) -> None:
    cancelled = next(row for row in year_rows if row["departed_at"] is None)
    assert (cancelled["carrier"], cancelled["flight"], cancelled["dep_delay"]) == ("B6", 125, None)
    assert cancelled["arrived_at"] == "2013-01-01T06:00:00-05:00"


def test_departure_agrees_with_the_clock_time_of_the_data() -> None:
    flights = read_flights()
    departed = flight_times(flights, read_zones())["departed_at"].dt.tz_convert("America/New_York")
    clock = departed.dt.hour * 100 + departed.dt.minute
    assert (clock.dropna() == flights["dep_time"].dropna() % 2400).all()


def test_landing_agrees_with_the_clock_time_of_the_data_where_that_existed(year_arrivals: pd.DataFrame) -> None:
    landed = year_arrivals.dropna(subset=["arr_time"])
    clock = pd.Series(0, index=landed.index)
    for zone, rows in landed.groupby("zone"):
        local = rows["arrived_at"].dt.tz_convert(zone)
        clock[rows.index] = local.dt.hour * 100 + local.dt.minute
    differ = landed[clock != landed["arr_time"] % 2400]
    assert list(differ["dest"]) == ["PBI"]


def test_a_flight_lands_at_least_half_an_hour_after_it_left(year_arrivals: pd.DataFrame) -> None:
    elapsed = (year_arrivals["arrived_at"] - year_arrivals["departed_at"]).dropna()
    assert elapsed.min() == timedelta(minutes=33)


def test_rows_are_in_order_of_arrival_over_all_files(year_rows: list[Row]) -> None:
    arrived = [datetime.fromisoformat(row["arrived_at"]) for row in year_rows]
    assert arrived == sorted(arrived)


def test_a_file_holds_its_period(january: list[Path]) -> None:
    assert [path.name for path in january[:2]] == ["arrivals-2013-01-01T06.json", "arrivals-2013-01-01T12.json"]
    for path in january:
        start = datetime.strptime(path.name + "Z", "arrivals-%Y-%m-%dT%H.json%z")
        for row in rows_of([path]):
            assert start <= datetime.fromisoformat(row["arrived_at"]) < start + timedelta(hours=6)


def test_names_and_modification_times_are_in_order_of_arrival(year: list[Path]) -> None:
    assert len(year) == 366
    assert [path.name for path in year] == sorted(path.name for path in year)
    modified = [path.stat().st_mtime for path in year]
    assert all(later - earlier >= 1 for earlier, later in pairwise(modified))
    assert modified[-1] < datetime(2015, 1, 1, tzinfo=UTC).timestamp()


def test_the_same_input_gives_the_same_files(january: list[Path], tmp_path: Path) -> None:
    first, second = january, write_landing_files(tmp_path, hours_per_file=6)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert [path.stat().st_mtime for path in first] == [path.stat().st_mtime for path in second]
    assert sum(1 for _ in rows_of(first)) == FLIGHTS_OF_JANUARY


def test_a_folder_holds_one_split_and_nothing_unfinished(tmp_path: Path) -> None:
    (tmp_path / "arrivals-2013-01-01T03.json").touch()
    (tmp_path / "arrivals-notes.json").touch()
    paths = write_landing_files(tmp_path, hours_per_file=24)
    assert set(tmp_path.iterdir()) == {*paths, tmp_path / "arrivals-notes.json"}


def test_the_pipeline_waits_longer_than_any_row_is_late(year_arrivals: pd.DataFrame) -> None:
    pipeline = yaml.safe_load(PIPELINE.read_text())
    bounded_delay = pipeline["sources"][0]["watermark"]["bounded_delay"]
    most = lateness(year_arrivals).max()
    assert most == timedelta(hours=18, minutes=56)
    for stage in pipeline["stages"]:
        assert pd.Timedelta(bounded_delay) + pd.Timedelta(stage["allowed_lateness"]) > most


@pytest.mark.parametrize(("months", "hours"), [([0], 24), ([], 24), ([1], 0)])
def test_a_wrong_option_is_refused(tmp_path: Path, months: list[int], hours: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        write_landing_files(tmp_path, months, hours)
    assert not list(tmp_path.iterdir())


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path), "--months", "2-2"])
    assert "24,951 flights in 29 files" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--months", "13"])
