"""Rows far ahead of their arrival: they are dead letters, and what comes behind them is not late."""

from pathlib import Path
from typing import Any

import pytest

from tests.drivers.test_sources import pipeline, write
from tests.lake import iso, table
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError

ARRIVES = {"schema": "k string, v long, at string, arrived string",
           "event_time": {"column": "at", "format": "iso8601"},
           "arrival_time": {"column": "arrived", "format": "iso8601"}}  # fmt: skip


def row(at: str, v: int) -> dict[str, Any]:
    return {"k": "a", "v": v, "at": at, "arrived": iso(0)}


def counted(spark: Any, root: Path) -> int:
    return sum(row["num"] for row in table(spark, root, "current").collect())


def of_two_files(root: Path, spark: Any, **watermark: str) -> None:
    """A row of the year 3000 beside an ordinary one in a first file, and two ordinary ones in a second."""
    made = pipeline(root, **ARRIVES, watermark={"bounded_delay": "5s", **watermark})
    write(root, "1.json", row(iso(1), 1), row("3000-01-01T00:00:00Z", 2))
    run(made, spark, once=True)
    write(root, "2.json", row(iso(2), 3), row(iso(3), 4))
    run(made, spark, once=True, drain=True)


def test_a_row_of_the_year_3000_moves_no_watermark(spark, tmp_path: Path) -> None:
    of_two_files(tmp_path, spark)
    (dead,) = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert (dead["reason"], dead["rule"]) == ("future_timestamp", "the event time is at most 1d after the arrival")
    assert dead["event_time"].year == 3000
    assert counted(spark, tmp_path) == 3
    assert table(spark, tmp_path, "dead_letters").count() == 0


def test_an_arrival_of_the_year_3000_moves_no_clock(spark, tmp_path: Path) -> None:
    """It would take its event time with it, and let partitions be idle for ever."""
    far = "3000-01-01T00:00:00Z"
    made = pipeline(tmp_path, **ARRIVES, watermark={"bounded_delay": "5s"})
    write(tmp_path, "1.json", row(iso(1), 1), {**row(far, 2), "arrived": far})
    run(made, spark, once=True)
    write(tmp_path, "2.json", row(iso(2), 3), row(iso(3), 4))
    run(made, spark, once=True, drain=True)
    (dead,) = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert (dead["reason"], dead["rule"]) == ("future_timestamp", "the arrival time is at most 1d after the clock")
    assert counted(spark, tmp_path) == 3
    assert table(spark, tmp_path, "dead_letters").count() == 0


def test_without_a_bound_everything_behind_it_is_late(spark, tmp_path: Path) -> None:
    of_two_files(tmp_path, spark, max_future="none")
    assert table(spark, tmp_path, "dead_letters", "rows").count() == 0
    assert [letter["reason"] for letter in table(spark, tmp_path, "dead_letters").collect()] == ["late", "late"]


def test_a_lake_that_landed_without_a_bound_is_not_migrated_in_silence(spark, tmp_path: Path) -> None:
    unbounded = pipeline(tmp_path, **ARRIVES, watermark={"bounded_delay": "5s", "max_future": "none"})
    write(tmp_path, "1.json", row(iso(1), 1))
    run(unbounded, spark, once=True)
    bounded = pipeline(tmp_path, **ARRIVES)
    words = r"source\.watermark\.max_future: none -> 1d.*Hint: write `watermark: \{max_future: none\}`"
    for from_start in (False, True):
        with pytest.raises(SpecError, match=words):
            run(bounded, spark, once=True, from_start=from_start)
    run(unbounded, spark, once=True)


def test_what_reads_tables_without_spark_reads_times_far_from_ours(spark, tmp_path: Path) -> None:
    """Nanoseconds reach from 1677 to 2262 only: a reader that takes them for the times of a file breaks on others."""
    import polars
    from deltalake import DeltaTable

    made = pipeline(tmp_path, **ARRIVES, watermark={"bounded_delay": "5s"})
    write(tmp_path, "1.json", row(iso(1), 1), row("3000-01-01T00:00:00Z", 2))
    write(tmp_path, "2.json", row("0001-01-02T00:00:00Z", 3), row(iso(2), 4))
    run(made, spark, once=True, drain=True)
    for owner, name, column, year in (
        ("rows", "dead_letters", "event_time", 3000),
        ("sums", "current", "window_start", 1),
    ):
        path = str(tmp_path / "lake" / owner / name)
        seen = DeltaTable(path).to_pyarrow_table().column(column).to_pylist()
        assert year in {time.year for time in seen}, name
        assert polars.read_delta(path)[column].dt.year().to_list() == [time.year for time in seen]
