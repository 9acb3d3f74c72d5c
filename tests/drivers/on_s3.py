"""A pipeline with its lake on S3, in a process of its own: `python -m tests.drivers.on_s3 ROOT LAKE TASK`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from tests.lake import pipeline
from windrow.drivers.forget.forget import forget
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.spark.session import local_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, parse_time
from windrow.store.delta.lease import Lease
from windrow.store.delta.location import Lake

DAY_OF_ROWS = parse_time("2024-01-01T00:00:00Z")


def kept_up(made: Pipeline, spark: SparkSession) -> list[str]:
    """What maintenance has looked at."""
    return [str(one) for one in maintain(made, spark, HOUR)]


def leased(made: Pipeline, spark: SparkSession) -> list[bool]:
    """Whether the lease is taken: by nobody, by a batch, and when that has given it back."""
    lease = Lease.of(spark, Lake.of(made.lake))
    found = [lease.is_taken()]
    lease.take()
    found.append(lease.is_taken())
    lease.give_back()
    return [*found, lease.is_taken()]


TASKS: Mapping[str, Callable[[Pipeline, SparkSession], Any]] = {
    "drain": lambda made, spark: run(made, spark, once=True, drain=True),
    "reconcile": lambda made, spark: [one.number_differing for one in reconcile(made, spark)],
    "maintain": kept_up,
    "restate": lambda made, spark: [one.rows for one in restate(made, spark)],
    "backfill": lambda made, spark: [one.changed for one in backfill(made, spark, DAY_OF_ROWS, DAY_OF_ROWS + DAY)],
    "forget": lambda made, spark: forget(made, spark, "k = 'b'").sources[0].rows,
    "erase": lambda made, spark: [str(one) for one in maintain(made, spark, 0)],
    "lease": leased,
}


def done(made: Pipeline, spark: SparkSession, tasks: Sequence[str]) -> dict[str, Any]:
    """Do tasks in order; what each gives."""
    return {task: TASKS[task](made, spark) for task in tasks}


def main() -> None:
    root, lake, *tasks = sys.argv[1:]
    spark = local_session(conf=INTERPRETED, s3=True)
    print(json.dumps(done(pipeline(Path(root)).with_lake(lake), spark, tasks), default=str))


if __name__ == "__main__":
    main()
