"""One run of the test pipeline as a process, which a test kills: `python -m tests.crash.runner ROOT TASK`.

TASK is once, drain, backfill, restate, maintain, beside or quarantine.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from tests.lake import judged, pipeline
from windrow.run import advance, maintain
from windrow.run.backfill import Backfill
from windrow.run.landing import clock_micros
from windrow.run.maintain import Maintained, Maintenance
from windrow.run.quarantine import quarantine
from windrow.run.restate import restate
from windrow.run.session import local_session
from windrow.run.stream import run
from windrow.run.work import PipelineWork
from windrow.spec.times import DAY, HOUR, parse_time


def monday(work: PipelineWork) -> Backfill:
    """The run of a backfill that is tried again under its name."""
    start = parse_time("2024-01-01T00:00:00Z")
    return Backfill(work, "monday", start, start + DAY)


def upkeep(root: Path, spark: SparkSession, keep: int) -> list[Maintained]:
    """Maintenance of every table that has two files; with `keep` 0 nothing that is not in use is kept."""
    maintain.MANY = 2
    return list(Maintenance.of(pipeline(root), spark, keep, clock_micros).run(dry_run=False))


def main() -> None:
    """Do as asked. The base is folded every other tick, so that its points are passed."""
    root, task = Path(sys.argv[1]), sys.argv[2]
    advance.FOLD_EVERY = 2
    spark = local_session(conf=INTERPRETED)
    if task == "backfill":
        monday(PipelineWork.open(judged(root), spark)).publish()
    elif task == "restate":
        restate(judged(root), spark)
    elif task in ("maintain", "beside"):
        upkeep(root, spark, 0 if task == "maintain" else HOUR)
    elif task == "quarantine":
        quarantine(pipeline(root), spark, "clicks", "batch-0001.json")
    else:
        run(pipeline(root), spark, once=True, drain=task == "drain")


if __name__ == "__main__":
    main()
