"""kill -9 at every boundary between two writes: what comes out is what an undisturbed run gives, bit for bit."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lake import content, write_files
from windrow.run.points import POINTS

pytestmark = pytest.mark.crash

FILES = 6
TABLES = ("current", "panes", "dead_letters")


def start(root: Path, kill_at: str = "") -> subprocess.Popen[bytes]:
    """The runner in a process group of its own; one that shall live drains in the end."""
    environment = {**os.environ, "WINDROW_KILL_AT": kill_at}
    command = [sys.executable, "-m", "tests.crash.runner", str(root), *([] if kill_at else ["drain"])]
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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("undisturbed")
    write_files(root / "data", range(FILES))
    assert finish(start(root)) == 0
    return root


def equal_tables(spark, left: Path, right: Path) -> None:
    for name in TABLES:
        assert content(spark, left, name) == content(spark, right, name), name


def test_killed_at_every_point_of_a_tick(spark, tmp_path: Path, undisturbed: Path) -> None:
    """One lake is killed at one point after the other, each process going on where the last one died."""
    write_files(tmp_path / "data", range(FILES))
    for point in [point for point in POINTS if point.startswith(("landing:", "tick:", "fold:"))]:
        assert finish(start(tmp_path, point)) == -signal.SIGKILL, f"{point} was not passed"
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)


def test_killed_at_every_point_of_the_projections(spark, tmp_path: Path, undisturbed: Path) -> None:
    """Before each kill a file is added, so that there is something to project."""
    for number, point in enumerate(point for point in POINTS if point.startswith("projection:")):
        write_files(tmp_path / "data", range(number, number + 1))
        assert finish(start(tmp_path, point)) == -signal.SIGKILL, f"{point} was not passed"
    write_files(tmp_path / "data", range(FILES))
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)


def test_killed_at_any_time(spark, tmp_path: Path, undisturbed: Path) -> None:
    chance = random.Random(7)
    write_files(tmp_path / "data", range(FILES))
    for _ in range(2):
        process = start(tmp_path, "never")
        time.sleep(chance.uniform(8, 25))
        end_group(process)
        finish(process)
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)


def test_two_runners_at_once(spark, tmp_path: Path, undisturbed: Path) -> None:
    """One of them may end with an error that says so; the tables are right."""
    write_files(tmp_path / "data", range(FILES))
    both = [start(tmp_path), start(tmp_path)]
    for process in both:
        finish(process)
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)
