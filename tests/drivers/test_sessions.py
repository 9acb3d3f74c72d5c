"""Sessions on a real lake: a stream, late rows, restatements and backfills of intervals that cut sessions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, rows_of, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, MINUTE, SECOND, parse_time

START = parse_time("2024-01-01T00:00:00Z")
FIRST = parse_time("2024-01-01T00:58:00Z")
FILES = 3
GAP = 4 * SECOND

Sessions = dict[tuple[Any, int, int], tuple[int, int]]


def of_sessions(root: Path, **fields: Any) -> Pipeline:
    """A stage of sessions without lateness, so that rows are late."""
    return pipeline(root, **{"window": {"sessions": {"gap": "4s"}}, "allowed_lateness": "0s", **fields})


def expected(files: range) -> Sessions:
    """The sessions over all rows that are not dead: their number and the sum of `v`, found by plain Python."""
    times: dict[Any, list[tuple[int, int]]] = {}
    for number in files:
        for line in rows_of(number):
            row = json.loads(line) if line.endswith("}") else {"d": 0}
            if row["d"] != 0 and isinstance(row["v"], int) and row["at"] < "3":
                times.setdefault(row["k"], []).append((parse_time(row["at"]), row["v"]))
    found: Sessions = {}
    for key, several in times.items():
        start = end = count = total = 0
        for at, value in sorted(several):
            if count and at >= end:
                found[key, start, end] = (count, total)
                count = total = 0
            start = at if count == 0 else start
            end, count, total = at + GAP, count + 1, total + value
        found[key, start, end] = (count, total)
    return found


def shown(spark, root: Path) -> Sessions:
    """What the table `current` shows."""
    rows = spark.read.format("delta").load(str(root / "lake" / "sums" / "current"))
    kept = rows.selectExpr("k", "unix_micros(window_start) s", "unix_micros(window_end) e", "num", "total")
    return {(row["k"], row["s"], row["e"]): (row["num"], row["total"]) for row in kept.collect()}


def land(made: Pipeline, spark) -> None:
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()


def test_a_stream_ends_as_the_batch_and_a_restatement_takes_late_rows_in(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = of_sessions(tmp_path, window={"sessions": {"gap": "4s", "max_session": "5s"}})
    run(made, spark, once=True)
    ticks = spark.read.format("delta").load(str(tmp_path / "lake" / "sums" / "ticks"))
    longer = [end - start > 5 * SECOND for _, start, end in shown(spark, tmp_path)]
    assert ticks.selectExpr("sum(outgrown)").first()[0] >= sum(longer) > 0
    (before,) = reconcile(made, spark)
    assert before.equal and before.late_rows > 0, before
    (beside,) = backfill(made, spark, START, START + DAY, dry_run=True)
    assert beside.waiting is not None and beside.waiting.windows > 0
    with pytest.raises(SpecError, match="open in the stream"):
        backfill(made, spark, START, START + DAY, whole=True)
    run(made, spark, once=True, drain=True)
    (drained,) = reconcile(made, spark)
    assert drained.equal and drained.late_rows == before.late_rows, drained
    assert shown(spark, tmp_path) != expected(range(FILES))
    (restated,) = restate(made, spark)
    assert restated.rows == drained.late_rows and restated.backfilled is not None
    assert shown(spark, tmp_path) == expected(range(FILES))
    (after,) = reconcile(made, spark)
    assert after.equal and after.late_rows == 0, after
    assert restate(made, spark)[0].rows == 0


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
    assert shown(spark, tmp_path) == expected(range(FILES))


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
    assert shown(spark, tmp_path) == expected(range(FILES))
    (again,) = backfill(made, spark, FIRST, FIRST + 6 * MINUTE, whole=True)
    assert again.tick is None and again.windows == len(expected(range(FILES)))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == expected(range(FILES)), "a stream shows no session again"
    assert reconcile(made, spark)[0].equal
