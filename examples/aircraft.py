"""How long the aircraft of New York's flights keep flying: `conf/pipelines/aircraft.yaml`, in Python.

    python -m demo.flights data/flights
    python -m examples.aircraft data/flights --lake lake/aircraft

The first stage finds the bouts of each aircraft: departures less than 12 hours apart are one session. The second stage
reads the first and counts the bouts that end in a week, by airline.
"""

import argparse

from pyspark.sql import SparkSession

import windrow

COLUMNS = """carrier string, flight int, tailnum string, origin string, dest string, departed_at string,
arrived_at string, dep_delay int, distance int"""


def aircraft(folder: str = "data/flights", lake: str = "lake/aircraft") -> windrow.Pipeline:
    """The pipeline over the files of a folder, with its tables in a lake."""
    departures = windrow.Source(
        "departures",
        files=windrow.Files(folder, max_files_per_batch=1),
        schema=COLUMNS,
        event_time=windrow.TimeColumn("departed_at", format="iso8601"),  # null: a cancelled flight, a dead letter
        arrival_time=windrow.TimeColumn("arrived_at", format="iso8601"),
        watermark=windrow.Watermark(bounded_delay="2h", max_future="1h"),
    )
    bouts = windrow.Stage(
        "bouts",
        from_="departures",
        where="tailnum is not null",
        keys=["carrier", "tailnum"],
        window=windrow.Sessions(gap="12h", max_session="400d"),
        trigger=windrow.AfterWatermark(early=windrow.AfterCount(3), late=windrow.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="18h",
        aggregates={"flights": windrow.Count(), "miles": windrow.Sum("distance")},
    )
    bouts_weekly = windrow.Stage(
        "bouts_weekly",
        from_="bouts",
        select={"minutes": "(unix_micros(window_end) - unix_micros(window_start)) div 60000000 - 720"},
        keys=["carrier"],
        window=windrow.CalendarWindows(unit="week", zone="America/New_York"),
        trigger=windrow.AfterWatermark(late=windrow.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="401d",
        aggregates={
            "bouts": windrow.Count(),
            "flights": windrow.Sum("flights"),
            "mean_minutes": windrow.Mean("minutes"),
            "lengths": windrow.Histogram("minutes", bounds=[60, 240, 480, 720, 1440]),
        },
    )
    return windrow.Pipeline("aircraft", lake=lake, sources=[departures], stages=[bouts, bouts_weekly])


def run(pipeline: windrow.Pipeline, spark: SparkSession) -> None:
    """Run the stream to its end, and print what it comes to: the results of each stage, and what is in none."""
    totals = windrow.run(pipeline, spark, drain=True)
    print(f"{totals.rows} rows, {totals.ticks} ticks, {totals.panes} panes, {totals.retractions} retractions")
    for stage in pipeline.stages:
        columns = [*stage.keys, "window_start", "window_end", *stage.result_columns]
        current = pipeline.table(stage.name).current(spark).select(*columns)
        print(f"\n{stage.name}: {current.count()} results")
        current.orderBy("window_start", *stage.keys).show(10, truncate=False)
    for name in ("departures", "bouts", "bouts_weekly"):
        dead = pipeline.table(name).dead_letters(spark).select("reason", "rule", "element")
        print(f"{name}: {dead.count()} dead letters")
        dead.orderBy("element").show(3, truncate=False)


def main() -> None:
    """Read the arguments, and run in a session of windrow's own."""
    parser = argparse.ArgumentParser(description="How long aircraft keep flying.")
    parser.add_argument("folder", help="where the files of demo.flights are")
    parser.add_argument("--lake", default="lake/aircraft", help="where the tables go")
    arguments = parser.parse_args()
    run(aircraft(arguments.folder, arguments.lake), windrow.local_session(app="aircraft"))


if __name__ == "__main__":
    main()
