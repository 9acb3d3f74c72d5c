"""What a run has left is told from what one is about to write."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow.store.delta.leftovers import leftovers
from windrow.store.delta.location import Location


def left(spark: SparkSession, root: Path, seconds: float) -> list[str]:
    """The folders in which nothing was written for so long."""
    before = (time.time_ns() // 1000) - int(seconds * 1_000_000)
    return [Path(one.location.path).name for one in leftovers(spark, Location(str(root)), before)]


def made_old(root: Path, seconds: float) -> None:
    at = time.time() - seconds
    for place in (*root.rglob("*"), root):
        os.utime(place, (at, at))


def test_a_run_that_has_just_begun_has_no_file_yet(spark: SparkSession, tmp_path: Path) -> None:
    """Delta makes the folder of the log before it computes the rows."""
    (tmp_path / "run" / "sums" / "_delta_log").mkdir(parents=True)
    assert left(spark, tmp_path, 60) == []
    made_old(tmp_path, 120)
    assert left(spark, tmp_path, 60) == ["run"]


@pytest.mark.parametrize(("age", "found"), [(30, []), (120, ["run"])])
def test_the_newest_file_says_when_somebody_was_at_work(
    spark: SparkSession, tmp_path: Path, age: float, found: list[str]
) -> None:
    for name in ("old", "new"):
        (tmp_path / "run" / name).mkdir(parents=True)
        (tmp_path / "run" / name / "part").write_text("rows")
    made_old(tmp_path, 600)
    file = tmp_path / "run" / "new" / "part"
    os.utime(file, (time.time() - age, time.time() - age))
    assert left(spark, tmp_path, 60) == found
