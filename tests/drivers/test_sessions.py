"""Sessions on a real lake: late rows beside a stream that goes on, and backfills of intervals that cut sessions."""

from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, write_files
from tests.plain import Sums, Window, summed
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import MINUTE, parse_time

FIRST = parse_time("2024-01-01T00:58:00Z")
FILES = 3


def of_sessions(root: Path, **fields: Any) -> Pipeline:
    """A stage of sessions without lateness, so that rows are late."""
    return pipeline(root, **{"window": {"sessions": {"gap": "4s"}}, "allowed_lateness": "0s", **fields})


def expected() -> dict[Window, Sums]:
    """The sessions over all rows."""
    return summed(of_sessions(Path("nowhere")).stages[0].window, range(FILES))


def shown(spark, root: Path) -> dict[Window, Sums]:
    """What the table `current` shows."""
    rows = spark.read.format("delta").load(str(root / "lake" / "sums" / "current"))
    kept = rows.selectExpr("k", "unix_micros(window_start) s", "unix_micros(window_end) e", "num", "total")
    return {(row["k"], row["s"], row["e"]): (row["num"], row["total"]) for row in kept.collect()}


def land(made: Pipeline, spark) -> None:
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()


@pytest.mark.long
def test_late_rows_wait_while_their_sessions_are_open_and_widened_ones_are_remembered(spark, tmp_path: Path) -> None:
    """A stream goes on beside restatements, and is right in the end."""
    made = of_sessions(tmp_path)
    for number in range(FILES):
        write_files(tmp_path / "data", range(number + 1))
        run(made, spark, once=True)
        restate(made, spark)
        (beside,) = reconcile(made, spark)
        assert beside.equal, beside
    run(made, spark, once=True, drain=True)
    restate(made, spark)
    assert shown(spark, tmp_path) == expected()


@pytest.mark.long
def test_backfills_of_minutes_that_cut_sessions_make_them_whole(spark, tmp_path: Path) -> None:
    minutes = [5, 3, 1, 0, 2, 4]
    made = of_sessions(tmp_path, trigger="default")
    write_files(tmp_path / "data", range(2))
    land(made, spark)
    for minute in minutes[:3]:
        backfill(made, spark, FIRST + minute * MINUTE, FIRST + (minute + 1) * MINUTE, whole=True)
    write_files(tmp_path / "data", range(FILES))
    land(made, spark)
    for minute in minutes:
        backfill(made, spark, FIRST + minute * MINUTE, FIRST + (minute + 1) * MINUTE, whole=True)
    assert shown(spark, tmp_path) == expected()
    (again,) = backfill(made, spark, FIRST, FIRST + 6 * MINUTE, whole=True)
    assert again.tick is None and again.windows == len(expected())
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == expected(), "a stream shows no session again"
    assert reconcile(made, spark)[0].equal
