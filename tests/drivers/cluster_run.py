"""A stream on a cluster in a process of its own: `python -m tests.drivers.cluster_run ROOT MASTER CONF [PID POINT]`.

CONF is JSON. With PID and POINT (`name#n`) that process group is killed a moment after the point is passed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tests.lake import pipeline
from windrow.drivers.pipeline.points import watched
from windrow.drivers.spark.session import local_session
from windrow.drivers.stream.stream import run

MOMENT = 0.3
"""Seconds from the point to the kill: a tick has begun to compute by then, and has not ended."""


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
    root, master, conf, *kill = sys.argv[1:]
    spark = local_session("windrow tests", master, json.loads(conf))
    with killing(int(kill[0]), kill[1]) if kill else ExitStack():
        run(pipeline(Path(root)), spark, once=True, drain=True)
    spark.stop()


if __name__ == "__main__":
    main()
