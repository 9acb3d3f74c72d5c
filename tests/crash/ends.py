"""Two ways in which a task ends at a point: an exception in this process, and kill -9 of a process of its own.

The exception leaves the tables as a kill does, in a fraction of the time. What it does not show: that a killed process
tidies nothing up, and that the next one knows only what stands in the tables.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from unittest.mock import patch

from pyspark.sql import SparkSession
from pyspark.sql.utils import ForeachBatchFunction

from tests.crash.runner import do
from windrow.drivers.pipeline.points import watched


class Ends(Protocol):
    """How tasks are done, and how they end."""

    def at(self, point: str, root: Path, task: str = "once") -> None:
        """A task ends at `point`, or at `point#n`: when it is passed for the n-th time. Fails if it is not passed."""

    def together(self, root: Path, tasks: Sequence[str]) -> None:
        """Tasks are done at the same time, and all succeed."""


class Stopped(BaseException):
    """Raised at a point; no `except Exception` takes it for an error."""


@contextmanager
def stopped_at(where: str) -> Iterator[None]:
    """The body ends at a point: all threads that pass one from then on are stopped, as if their process had died."""
    name, _, times = where.partition("#")
    left = int(times or 1)

    def watch(point: str) -> None:
        nonlocal left
        left -= point == name
        if left <= 0:
            raise Stopped(where)

    with watched(watch), patch.object(ForeachBatchFunction, "call", _call):
        try:
            yield
        except Stopped:
            return
        except Exception as error:
            if Stopped.__name__ not in str(error):
                raise
            return
    raise AssertionError(f"{where} was not passed" if left > 0 else f"the stop at {where} was taken for something else")


_called = ForeachBatchFunction.call


def _call(self: ForeachBatchFunction, batch: object, number: int) -> None:
    """Land a batch for a query: Py4J takes only an `Exception` from it, and for another would leave the JVM waiting.

    So a stop reaches the caller as the failure of the query, with its name in the text.
    """
    try:
        _called(self, batch, number)  # type: ignore[arg-type]
    except Stopped as stopped:
        raise RuntimeError(f"{Stopped.__name__} at {stopped}") from stopped


@dataclass(frozen=True)
class Stops:
    """Tasks are done in this process, and stop by an exception."""

    spark: SparkSession

    def at(self, point: str, root: Path, task: str = "once") -> None:
        with stopped_at(point):
            do(task, root, self.spark)

    def together(self, root: Path, tasks: Sequence[str]) -> None:
        with ThreadPoolExecutor(len(tasks)) as pool:
            list(pool.map(lambda task: do(task, root, self.spark), tasks))


@dataclass(frozen=True)
class Kills:
    """Every task is a process group of its own, and is killed."""

    def at(self, point: str, root: Path, task: str = "once") -> None:
        assert finish(start(root, task, point)) == -signal.SIGKILL, f"{point} was not passed"

    def together(self, root: Path, tasks: Sequence[str]) -> None:
        assert [finish(process) for process in [start(root, task) for task in tasks]] == [0] * len(tasks)


def start(root: Path, task: str, kill_at: str = "") -> subprocess.Popen[bytes]:
    """A task in a process group of its own."""
    environment = {**os.environ, "WINDROW_KILL_AT": kill_at}
    command = [sys.executable, "-m", "tests.crash.runner", str(root), task]
    return subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)


def finish(process: subprocess.Popen[bytes]) -> int:
    """The exit code; the whole group is gone afterwards."""
    try:
        return process.wait(timeout=300)
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
