"""What `windrow.panes` makes in a session of Spark Connect: `python -m tests.contracts.connect_panes URL`.

Imports nothing that the package of PySpark's client alone has not.
"""

import json
import sys
from importlib.util import find_spec

from pyspark.sql import SparkSession

import windrow

HOURLY = windrow.Stage(
    "hourly",
    select={"brace": "k = '{rows}'"},
    keys=["k"],
    window=windrow.SlidingWindows(size="2h", period="1h"),
    trigger=windrow.AtClose(),
    aggregates={"total": windrow.Sum("v"), "braces": windrow.CountIf("brace")},
    derive={"twice": "total * 2"},
)
DAILY = windrow.Stage("daily", window=windrow.FixedWindows(size="1d"), aggregates={"all": windrow.Sum("total")})


def chain(spark: SparkSession) -> dict[str, object]:
    """What two stages make of a frame of the session: results, dead letters, counts."""
    rows = [("a", 1, "2024-01-01T00:10:00Z"), ("{rows}", 2, "2024-01-01T00:59:59Z"), (None, 5, "2024-01-01T01:00:00Z")]
    frame = spark.createDataFrame([*rows, ("a", 9, "no time")], "k string, v long, at string")
    found = windrow.panes([HOURLY, DAILY], frame, windrow.TimeColumn("at", format="iso8601"))
    hourly, daily = found["hourly"], found["daily"]
    return {
        "hourly": [[r.k, r.window_start.hour, r.total, r.braces, r.twice] for r in hourly.results.collect()],
        "dead": [[row.reason, row.element] for row in hourly.dead_letters.collect()],
        "counts": [hourly.counts()["read"], hourly.counts()["dead_rows"]],
        "daily": [row["all"] for row in daily.results.collect()],
    }


def main() -> None:
    """Connect, compute, print."""
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    is_alone = find_spec("pyspark.core") is None
    print(json.dumps({"remote": type(spark).__module__, "is_alone": is_alone, **chain(spark)}))


if __name__ == "__main__":
    main()
