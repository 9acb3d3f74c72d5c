"""Work on a cluster in a process of its own: `python -m tests.drivers.cluster_run TASK ROOT MASTER CONF [PID POINT]`.

CONF is JSON. With PID and POINT (`name#n`) that process group is killed a moment after the point is passed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

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
MOMENT = 0.3
"""Seconds from the point to the kill: a tick has begun to compute by then, and has not ended."""


def drain(root: Path, spark: SparkSession) -> None:
    """A stream over all files, to its end."""
    run(pipeline(root), spark, once=True, drain=True)


def publish(root: Path, spark: SparkSession) -> None:
    """A backfill over all files, published as last."""
    made = Backfill(PipelineWork.open(pipeline(root), spark), "monday", MONDAY, MONDAY + DAY, mode=Mode.WHOLE)
    made.land()
    made.publish()


TASKS: Mapping[str, Callable[[Path, SparkSession], None]] = {"drain": drain, "publish": publish}


def killing(group: int, where: str) -> ExitStack:
    """Kill a process group a moment after a point."""
    name, _, times = where.partition("#")
    left = int(times or 1)

    def watch(point: str) -> None:
        nonlocal left
        left -= point == name
        if point == name and left == 0:
            threading.Timer(MOMENT, os.killpg, (group, signal.SIGKILL)).start()

    stack = ExitStack()
    stack.enter_context(watched(watch))
    return stack


def main() -> None:
    task, root, master, conf, *kill = sys.argv[1:]
    spark = local_session("windrow tests", master, json.loads(conf))
    with killing(int(kill[0]), kill[1]) if kill else ExitStack():
        TASKS[task](Path(root), spark)
    spark.stop()


if __name__ == "__main__":
    main()
