"""What crash tests do to a lake, in this process, or in one of its own: `python -m tests.crash.runner ROOT TASK`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from tests.drivers import shops
from tests.lake import judged, pipeline
from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.forget import forget
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.maintain import tables
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.maintain.maintain import Maintenance, maintain
from windrow.drivers.maintain.tables import Maintained
from windrow.drivers.pipeline import runner as advance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.restate import restate
from windrow.drivers.spark.session import local_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, parse_time
from windrow.store.journal.journal import Journal

MONDAY = parse_time("2024-01-01T00:00:00Z")


def monday(work: PipelineWork) -> Backfill:
    """The run of a backfill that is tried again under its name."""
    return Backfill(work, "monday", MONDAY, MONDAY + DAY)


def upkeep(root: Path, spark: SparkSession, keep: int) -> list[Maintained]:
    """Maintenance of every table that has two files; with `keep` 0 nothing that is not in use is kept."""
    with patch.object(tables, "MANY", 2):
        maintenance = Maintenance.of(pipeline(root), spark, Kept(keep, clock_micros, log=keep))
        return list(maintenance.run(dry_run=False))


def _shops(root: Path) -> Pipeline:
    return shops.pipeline(root, "shops", "minutes", behind=True)


TASKS: Mapping[str, Callable[[Path, SparkSession], object]] = {
    "once": lambda root, spark: run(pipeline(root), spark, once=True),
    "snapshots": lambda root, spark: run(pipeline(root), spark, once=True),
    "drain": lambda root, spark: run(pipeline(root), spark, once=True, drain=True),
    "from_start": lambda root, spark: run(judged(root), spark, once=True, drain=True, from_start=True),
    "judged": lambda root, spark: run(judged(root), spark, once=True, drain=True),
    "backfill": lambda root, spark: monday(PipelineWork.open(judged(root), spark)).publish(),
    "early": lambda root, spark: backfill(pipeline(root), spark, MONDAY, MONDAY + DAY, early=True),
    "restate": lambda root, spark: restate(judged(root), spark),
    "maintain": lambda root, spark: upkeep(root, spark, 0),
    "beside": lambda root, spark: upkeep(root, spark, HOUR),
    "shops": lambda root, spark: run(_shops(root), spark, once=True),
    "forget": lambda root, spark: forget(_shops(root), spark, shops.WHERE),
    "erase": lambda root, spark: maintain(_shops(root), spark, 0),
    "quarantine": lambda root, spark: quarantine(pipeline(root), spark, "clicks", "batch-0001.json"),
}


SNAPSHOTS = "snapshots"
"""The task whose ticks write all open cells."""


def do(task: str, root: Path, spark: SparkSession) -> None:
    """Do a task. The journal is compacted every other tick, so that its points are passed."""
    wants = task == SNAPSHOTS
    with patch.object(advance, "COMPACT_EVERY", 2), patch.object(Journal, "wants_snapshot", lambda *_: wants):
        TASKS[task](root, spark)


if __name__ == "__main__":
    do(sys.argv[2], Path(sys.argv[1]), local_session(conf=INTERPRETED))
