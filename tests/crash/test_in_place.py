"""A source that is read in place, ended at every boundary between two writes: its versions, or files, land once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.ends import Ends, Kills, Stops
from tests.crash.runner import do
from tests.crash.test_kill import equal_tables, points
from tests.lake import POISON, ROWS, STAY, content, pipeline, write_files, write_versions
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.reconcile import reconcile

POINTS = points("landing:", "source:", "tick:", "projection:")


@pytest.fixture(params=["stopped", pytest.param("killed", marks=[pytest.mark.long, pytest.mark.crash])])
def ends(request: pytest.FixtureRequest, spark) -> Ends:
    return Stops(spark) if request.param == "stopped" else Kills()


def land(spark, root: Path) -> None:
    for landing in PipelineWork.open(pipeline(root), spark).landings:
        landing.run()


def write(spark, root: Path, kind: str, numbers: range) -> None:
    if kind == "table":
        write_versions(spark, root, numbers)
    else:
        (root / STAY).touch()
        write_files(root / "data", numbers)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["table", "files"])
def test_at_every_point(spark, ends: Ends, tmp_path: Path, kind: str) -> None:
    """One lake ends at one point after the other, each run going on where the last one ended."""
    ended, calm = tmp_path / "ended", tmp_path / "calm"
    for root in (ended, calm):
        root.mkdir()
    write(spark, calm, kind, range(len(POINTS)))
    do("drain", calm, spark)
    for number, point in enumerate(POINTS, 1):
        write(spark, ended, kind, range(number))
        if not point.startswith("landing:"):
            land(spark, ended)  # as `land` of `test_kill.py`
        ends.at(point, ended)
    do("drain", ended, spark)
    equal_tables(spark, ended, calm)
    for name in ("landings", "dead_letters"):
        assert content(spark, ended, name, "clicks") == content(spark, calm, name, "clicks"), name
    rows = PipelineWork.open(pipeline(ended), spark).raws["clicks"].rows(spark, 0, len(POINTS))
    assert (
        rows.count()
        == rows.select("_offset", "_row").distinct().count()
        == len(POINTS) * (ROWS + POISON - (2 if kind == "table" else 0))
    )
    assert reconcile(pipeline(ended), spark)[0].equal
