"""A forgetting that ends between two writes: the next one goes on with it, also without its condition."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.crash.ends import Ends, Kills, Stops
from tests.crash.runner import do
from tests.crash.test_kill import points
from tests.drivers.shops import HER, WHERE, files_with, pipeline, write
from tests.drivers.test_forget import results, shows_her
from windrow.drivers.forget.forget import forget
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import NotYet

NAMES = ("shops", "minutes")


pytestmark = pytest.mark.long


@pytest.fixture(params=["stopped", pytest.param("killed", marks=pytest.mark.crash)])
def ends(request: pytest.FixtureRequest, spark: SparkSession) -> Ends:
    return Stops(spark) if request.param == "stopped" else Kills()


def begun(spark: SparkSession, root: Path) -> Path:
    """A lake with open windows and expired ones."""
    write(root, range(3))
    run(pipeline(root, *NAMES, behind=True), spark, once=True)
    return root


def test_at_every_point(spark: SparkSession, ends: Ends, tmp_path: Path) -> None:
    """One lake ends at one point after the other; in between the stream goes on, and rows of hers land."""
    ended, calm = (begun(spark, tmp_path / name) for name in ("ended", "calm"))
    for number, point in enumerate(points("forget:"), 3):
        for root in (ended, calm):
            write(root, range(number, number + 1))
        do("shops", ended, spark)
        ends.at(point, ended, "forget")
    for root in (ended, calm):
        made = pipeline(root, *NAMES, behind=True)
        do("shops", root, spark)
        forget(made, spark, WHERE)
        do("shops", root, spark)
        assert shows_her(spark, root, made) == [] and all(one.equal for one in reconcile(made, spark))
    assert results(spark, ended, pipeline(ended, *NAMES, behind=True)) == results(
        spark, calm, pipeline(calm, *NAMES, behind=True)
    )


def test_maintenance_waits_until_nothing_is_written_down_any_more(
    spark: SparkSession, ends: Ends, tmp_path: Path
) -> None:
    """The rows have lost their values, and the affected cells of the stage behind are noted yet."""
    root = begun(spark, tmp_path)
    made = pipeline(root, *NAMES, behind=True)
    ends.at("forget:after_sources", root, "forget")
    with pytest.raises(NotYet, match="has results of a person who is being forgotten"):
        maintain(made, spark, 0)
    assert forget(made, spark).rows == 0
    ends.at("erase:after_folders", root, "erase")
    maintain(made, spark, 0)
    assert files_with(root, HER) == []


def test_what_was_begun_is_finished_without_the_condition(spark: SparkSession, ends: Ends, tmp_path: Path) -> None:
    """And when maintenance ends while it erases the history of a table, the next one erases it all."""
    root = begun(spark, tmp_path)
    made = pipeline(root, *NAMES, behind=True)
    ends.at("forget:after_journal", root, "forget")
    with pytest.raises(NotYet, match="has rows of a person who is being forgotten"):
        maintain(made, spark, 0)
    assert forget(made, spark).rows > 0
    ends.at("erase:after_history#2", root, "erase")
    maintain(made, spark, 0)
    assert files_with(root, HER) == []
    assert all(one.equal for one in reconcile(made, spark))
