"""What a client of Spark Connect does, in a process without a JVM: `python -m tests.contracts.connect_client URL ROOT`.

ROOT is the folder of a pipeline that has run (`tests.lake`). Prints what came out as one line of JSON.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from tests.contracts.connect_panes import chain
from tests.lake import pipeline
from windrow.spec.transcripts.cases import Case, read_transcripts
from windrow.testing.check import check_case

WANTED = {
    "triggers.yaml": ("after_delay - processing time, to the microsecond", "repeat_until - both ready"),
    "lateness.yaml": ("late - a pair of a sliding window is judged by itself", "closed - other keys and windows"),
    "aggregates.yaml": ("decimals - are exact", "collect - duplicates stay"),
}


def cases() -> list[Case]:
    """A few transcripts: windows in slices, state that goes from tick to tick, dead letters, nested types."""
    folder = Path(__file__).parents[1] / "transcripts"
    read = {name: list(read_transcripts(folder / name)) for name in WANTED}
    return [case for name, wanted in WANTED.items() for case in read[name] if case.name.startswith(wanted)]


def refusals(made: windrow.Pipeline, spark: SparkSession) -> dict[str, str]:
    """What somebody hears who would write a lake, or read one that only Hadoop reaches."""
    on_hdfs = made.with_lake("hdfs://there/lake")
    asked: dict[str, Callable[[], object]] = {
        "run": lambda: windrow.run(made, spark, once=True),
        "backfill": lambda: windrow.backfill(made, spark, 0, 1),
        "reconcile": lambda: windrow.reconcile(made, spark),
        "maintain": lambda: windrow.maintain(made, spark),
        "restate": lambda: windrow.restate(made, spark),
        "forget": lambda: windrow.forget(made, spark, "k = 'a'"),
        "register_names": lambda: windrow.register_names(made, spark),
        "quarantine": lambda: windrow.quarantine(made, spark, "clicks", "batch-0000.json"),
        "status": lambda: windrow.status(on_hdfs, spark),
        "show": lambda: windrow.show(on_hdfs, spark, "sums"),
    }
    heard = {}
    for name, ask in asked.items():
        try:
            heard[name] = f"not refused: {ask()}"
        except windrow.SpecError as error:
            heard[name] = str(error)
    return heard


def looks(made: windrow.Pipeline, spark: SparkSession) -> dict[str, object]:
    """What somebody sees who only looks at a lake."""
    sources, stages = windrow.status(made, spark)
    shown = windrow.show(made, spark, "sums", limit=1000)
    return {
        "plan": windrow.plan(made), "rows": [source.rows for source in sources],
        "adds_up": [stage.adds_up for stage in stages], "shown": len(shown.rows),
        "current": made.table("sums").arrow("current").num_rows,
    }  # fmt: skip


def main() -> None:
    """Connect, run, print."""
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    made = pipeline(Path(sys.argv[2]))
    outcomes = {case.name: check_case(spark, case).messages for case in cases()}
    told = {"cases": outcomes, "refusals": refusals(made, spark), "looks": looks(made, spark), **chain(spark)}
    print(json.dumps({"remote": type(spark).__module__, **told}))


if __name__ == "__main__":
    main()
