"""How long a simulation of many rows and twelve specifications takes: `python -m bench.simulate --rows 10000000`.

The rows are made up: a month of them, of 200 keys, half a minute late in the median and some hours for a few.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

import windrow

DELAYS = ("0s", "10m", "30m", "1h", "2h", "4h", "8h")
TRIED = (
    *[f"{{watermark: {{bounded_delay: {delay}}}}}" for delay in DELAYS],
    "{name: early 10, trigger: {after_watermark: {early: {after_count: 10}, late: {after_count: 1}}}}",
    "{name: early 100, trigger: {after_watermark: {early: {after_count: 100}, late: {after_count: 1}}}}",
    "{name: final, trigger: at_close}",
    "{name: every quarter, trigger: {repeat: {at_period: {period: 15m}}}}",
)
"""Eleven, and the stage as it is."""


def write_rows(path: Path, rows: int) -> None:
    """A Parquet file of so many rows: `happened` and `arrived` in microseconds, and the key `k`."""
    month = 30 * 24 * 3600
    duckdb.sql("SELECT setseed(0.5)")
    duckdb.sql(
        f"""COPY (
            SELECT happened, happened + (1000000 * s * if(r < 0.97, 60, 14400))::BIGINT AS arrived, k FROM (
                SELECT (1000000.0 * {month} * random())::BIGINT + 1700000000000000 AS happened,
                       random() AS r, random() AS s, (200 * random())::INT AS k FROM range({rows}))
        ) TO '{path}' (FORMAT parquet)"""
    )


def pipeline(folder: Path) -> windrow.Pipeline:
    """Rows of each key by the hour."""
    source = windrow.Source(
        "rows",
        files=windrow.Files(path=str(folder / "data"), format="parquet"),
        schema="happened bigint, arrived bigint, k int",
        event_time=windrow.TimeColumn("happened", "unix_us"),
        arrival_time=windrow.TimeColumn("arrived", "unix_us"),
        watermark=windrow.Watermark(bounded_delay="5m"),
    )
    stage = windrow.Stage(
        "hourly",
        keys=["k"],
        window=windrow.FixedWindows("1h"),
        trigger=windrow.AfterWatermark(late=windrow.AfterCount(1)),
        allowed_lateness="6h",
        aggregates={"rows": windrow.Count()},
    )
    return windrow.Pipeline("bench", lake=str(folder / "lake"), sources=[source], stages=[stage])


def main() -> None:
    """Print the seconds that it took, and the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulate", description="Time a simulation of many rows.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--every", default="10m", help="the time between two ticks")
    parser.add_argument("--tried", type=int, default=len(TRIED), help="so many specifications beside the first")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data").mkdir()
        write_rows(Path(folder) / "data" / "rows.parquet", given.rows)
        spark = windrow.local_session(app="bench")
        began = time.monotonic()
        found = windrow.simulate(pipeline(Path(folder)), spark, "hourly", TRIED[: given.tried], given.every)
        print(found.text())
        print(f"{given.rows:,} rows, {len(found.findings)} specifications: {time.monotonic() - began:.0f} s")
        spark.stop()


if __name__ == "__main__":
    main()
