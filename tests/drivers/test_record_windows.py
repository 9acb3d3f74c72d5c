"""Record windows on a real lake: a stream whose rows come late and out of order, and a backfill of all of it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.lake import iso, pipeline, write_files
from tests.plain import Sums, Window, summed
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, SECOND, parse_time

START = parse_time("2024-01-01T00:00:00Z")
FILES = 2


def of_records(root: Path, **fields: Any) -> Pipeline:
    return pipeline(root, **{"window": {"record": {"difference": "4s", "resolution": "1s"}}, **fields})


def expected() -> dict[Window, Sums]:
    """The record windows over all rows."""
    return summed(of_records(Path("nowhere")).stages[0].window, range(FILES))


def shown(spark, root: Path) -> dict[Window, Sums]:
    rows = spark.read.format("delta").load(str(root / "lake" / "sums" / "current"))
    kept = rows.selectExpr("k", "unix_micros(window_start) s", "unix_micros(window_end) e", "num", "total")
    return {(row["k"], row["s"], row["e"]): (row["num"], row["total"]) for row in kept.collect()}


def test_a_stream_without_late_rows_has_every_set_once(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = of_records(tmp_path, allowed_lateness="10m")
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == expected()
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows == 0 and result.windows == len(expected())


@pytest.mark.long
def test_a_backfill_that_cuts_what_could_hold_a_row_leaves_its_letter(spark, tmp_path: Path) -> None:
    """Seven rows are late; the windows of the fourth start from 16 to 11 seconds before the hour."""
    write_files(tmp_path / "data", range(FILES))
    made = of_records(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    (cut,) = backfill(made, spark, START, START + (3600 - 13) * SECOND)
    (partly,) = reconcile(made, spark)
    assert cut.tick is not None and partly.equal and partly.late_rows == 4, partly
    (rest,) = restate(made, spark)
    assert rest.rows == 4 and rest.waiting is None
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows == 0 and result.windows == len(expected())
    assert shown(spark, tmp_path) == expected()
    (again,) = restate(made, spark)
    assert again.backfilled is None


def write_rows(root: Path, number: int, *seconds: int) -> None:
    """A file with a row of one key at each of these seconds."""
    folder = root / "data"
    folder.mkdir(exist_ok=True)
    path = folder / f"batch-{number:04}.json"
    rows = [{"k": "a", "v": at, "d": 1, "at": iso(at), "arrived": iso(number * 60)} for at in seconds]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


@pytest.mark.long
def test_a_row_that_no_open_window_could_hold_makes_none_after_a_backfill_elsewhere_either(
    spark, tmp_path: Path
) -> None:
    """The watermark is at 15 when the row of 10 comes; the window behind it ends at 16 and would hold that of 12."""
    write_rows(tmp_path, 0, 12, 25)
    write_rows(tmp_path, 1, 0, 10)
    made = of_records(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True)
    begin = START + 3600 * SECOND
    behind = ("a", begin + 11 * SECOND, begin + 16 * SECOND)
    (elsewhere,) = backfill(made, spark, begin - 10 * SECOND, begin + 6 * SECOND)
    (result,) = reconcile(made, spark)
    assert elsewhere.inserted == 1 and result.equal and result.late_rows == 1, result
    (waits,) = restate(made, spark)
    assert waits.backfilled is None and waits.waiting is not None
    run(made, spark, once=True, drain=True)
    assert behind not in shown(spark, tmp_path)
    restate(made, spark)
    assert shown(spark, tmp_path)[behind] == (1, 12)
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows == 0, result


CLOSING = {"trigger": {"after_count": 2}, "allow_closing": True}


@pytest.mark.long
def test_what_is_closed_out_of_a_window_is_left_out_on_both_sides(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = of_records(tmp_path, allowed_lateness="20s", **CLOSING)
    run(made, spark, once=True, drain=True)
    letters = spark.read.format("delta").load(str(tmp_path / "lake" / "sums" / "dead_letters"))
    assert not letters.where("reason = 'closed'").isEmpty()
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows > 0, result


@pytest.mark.long
def test_a_backfill_has_every_set_once(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = of_records(tmp_path)
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()
    for hour in range(2):
        backfill(made, spark, START + hour * 3600 * SECOND, START + (hour + 1) * 3600 * SECOND, whole=True)
    assert shown(spark, tmp_path) == expected()
    (again,) = backfill(made, spark, START, START + DAY, whole=True)
    assert again.inserted + again.changed + again.retracted == 0 and again.windows == len(expected())
    with pytest.raises(SpecError, match="cannot begin a stream of record windows"):
        run(made, spark, once=True)
