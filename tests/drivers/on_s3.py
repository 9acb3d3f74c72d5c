"""A pipeline with its lake on S3, in a process of its own: `python -m tests.drivers.on_s3 ROOT LAKE TASK`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from tests.lake import pipeline
from windrow.drivers.maintain import maintain
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.spark.session import local_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR


def kept_up(made: Pipeline, spark: SparkSession) -> list[str]:
    """What maintenance has looked at."""
    return [str(one) for one in maintain(made, spark, HOUR)]


TASKS: Mapping[str, Callable[[Pipeline, SparkSession], Any]] = {
    "drain": lambda made, spark: run(made, spark, once=True, drain=True),
    "reconcile": lambda made, spark: [one.number_differing for one in reconcile(made, spark)],
    "maintain": kept_up,
}


def main() -> None:
    root, lake, *tasks = sys.argv[1:]
    spark = local_session(conf=INTERPRETED, s3=True)
    made = pipeline(Path(root)).with_lake(lake)
    print(json.dumps({task: TASKS[task](made, spark) for task in tasks}, default=str))


if __name__ == "__main__":
    main()
