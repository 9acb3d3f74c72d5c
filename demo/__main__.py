"""The demonstration: `python -m demo`, or `make demo`. FULL=1 takes the whole year of flights in place of January.

Landing files of real flights, in the order in which the flights landed, go through `conf/pipelines/flights.yaml`: first
as a stream in many ticks, then as a backfill of the same time into the same lake, and as a backfill into a lake of its
own. All three are compared. The lake stays, so that `windrow status`, `show` and `reconcile` can be tried on it.
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from demo import flights
from demo.report import compared, happened
from windrow.cli.commands.run import tick_line
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.spark.quiet import quiet_start
from windrow.quality.early import import_early
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.times import parse_time
from windrow.store.delta.location import Lake
from windrow.view.run import Ticks

ROOT = Path(__file__).resolve().parents[1]
FILE = "conf/pipelines/flights.yaml"
FILES = "sources.departures.files"
FULL = os.environ.get("FULL", "") not in ("", "0")
MONTHS = range(1, 13) if FULL else flights.JANUARY
HOURS_PER_FILE = 24 * 7 if FULL else 48
START, END = "2013-01-01", "2014-01-03" if FULL else "2013-02-03"
STAGE = "departures_hourly"
WINDOW = {"origin": "EWR", "carrier": "UA"}
AT = "2013-01-24T19:30:00Z"


def main() -> None:
    began = time.monotonic()
    os.chdir(ROOT)
    pipeline = windrow.load(FILE)
    alone = windrow.load(
        FILE, {"lake": f"{pipeline.lake}-backfill", "sources.departures.files.max_files_per_batch": "1000"}
    )
    folder = pipeline.sources[0].files.path
    for old in (pipeline.lake, alone.lake, folder):
        shutil.rmtree(old, ignore_errors=True)

    head(f"Landing files in {folder}: {'the year' if FULL else 'January'} 2013, in the order in which flights landed")
    with quiet_start(), ThreadPoolExecutor(1) as beside:  # nothing may be printed until Spark has started
        starting = beside.submit(windrow.local_session, app="windrow demo")
        import_early(suites_of(pipeline).values())
        rows = flights.arrivals(MONTHS)
        written = flights.summary(rows, flights.write_rows(rows, Path(folder), HOURS_PER_FILE))
        spark = starting.result()
    print(written)

    head(f"The stream: windrow run {FILE} --drain")
    try:
        show(pipeline, alone, spark)
    finally:
        spark.stop()
    head(f"Done in {time.monotonic() - began:.0f} s. Try, for instance:")
    print(f"windrow plan {FILE}\nwindrow status {FILE}\nwindrow reconcile {FILE}")
    print(f"windrow show {FILE} departures_rolling --key origin=LGA --limit 30")


def show(pipeline: windrow.Pipeline, alone: windrow.Pipeline, spark: SparkSession) -> None:
    """The stream, what it did, and the comparisons."""
    ticks = Ticks([stage.name for stage in pipeline.stages], False, print)
    windrow.run(pipeline, spark, drain=True, watch=lambda progress: ticks.show(tick_line(progress)))
    ticks.end(stopped=False)

    head("What happened")
    _, stages = windrow.status(pipeline, spark)
    print(happened(stages))

    head(f"What stands: windrow show {FILE} {STAGE}")
    print(windrow.show(pipeline, spark, STAGE, limit=8).text(160))

    head(f"How one window came to be: ... --panes --key origin=EWR --key carrier=UA --at {AT}")
    print(windrow.show(pipeline, spark, STAGE, panes=True, keys=WINDOW, at=parse_time(AT)).text(160))

    head("A backfill of the same time into the same lake: it must find nothing to do")
    start, end = parse_time(START), parse_time(END)
    for result in windrow.backfill(pipeline, spark, start, end):
        differ = result.inserted + result.changed + result.retracted
        found = "no differences, nothing committed" if differ == 0 else f"{differ} DIFFERENCES"
        print(f"{result.stage}: {result.windows:,} windows recomputed: {found}")

    head("A backfill of the same time into an empty lake, without a stream; and the three compared")
    for source in alone.sources:
        Landing(spark, source, Lake.of(alone.lake)).run()
    windrow.backfill(alone, spark, start, end, whole=True)
    equal = [compared(pipeline, alone, result) for result in windrow.reconcile(pipeline, spark)]
    if not all(equal):
        raise SystemExit("The stream and the backfill differ.")


def head(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
