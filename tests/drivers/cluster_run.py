"""Work on a cluster in a process of its own: `python -m tests.drivers.cluster_run TASK ROOT MASTER CONF [PID POINT]`.

CONF is JSON. With PID and POINT (`name#n`) that process group is killed while tasks run, when the point is passed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.lake import pipeline
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import watched
from windrow.drivers.recompute.backfill import Backfill
from windrow.drivers.recompute.scope.request import Mode
from windrow.drivers.spark.session import local_session
from windrow.drivers.stream.stream import run
from windrow.spec.times import DAY, parse_time

MONDAY = parse_time("2024-01-01T00:00:00Z")
LONGEST = 60.0
"""Seconds from the point in which every executor comes to have a task."""


def drain(root: Path, spark: SparkSession) -> None:
    """A stream over all files, to its end."""
    run(pipeline(root), spark, once=True, drain=True)


def publish(root: Path, spark: SparkSession) -> None:
    """A backfill over all files, published as last."""
    made = Backfill(PipelineWork.open(pipeline(root), spark), "monday", MONDAY, MONDAY + DAY, mode=Mode.WHOLE)
    made.land()
    made.publish()


TASKS: Mapping[str, Callable[[Path, SparkSession], None]] = {"drain": drain, "publish": publish}


def killing(spark: SparkSession, group: int, where: str) -> ExitStack:
    """Kill a process group when a point was passed and every executor has a task."""
    name, _, times = where.partition("#")
    left = int(times or 1)

    def kill() -> None:
        java: Any = spark.sparkContext._jsc
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            known = java.sc().statusTracker().getExecutorInfos()
            executors = [one for one in known if one.host() != java.sc().getConf().get("spark.driver.host")]
            if executors and all(one.numRunningTasks() for one in executors):
                return os.killpg(group, signal.SIGKILL)  # a worker that is left alive fails the test

    def watch(point: str) -> None:
        nonlocal left
        left -= point == name
        if point == name and left == 0:
            threading.Thread(target=kill).start()

    stack = ExitStack()
    stack.enter_context(watched(watch))
    return stack


def main() -> None:
    task, root, master, conf, *kill = sys.argv[1:]
    spark = local_session("windrow tests", master, json.loads(conf))
    with killing(spark, int(kill[0]), kill[1]) if kill else ExitStack():
        TASKS[task](Path(root), spark)
    spark.stop()


if __name__ == "__main__":
    main()
