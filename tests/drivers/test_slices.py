"""Stages that keep slices of window time: their windows fire only as they expire. All families: `test_contract`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.lake import BEHIND, pipeline, table, write_files
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline import runner as advance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time

START = parse_time("2024-01-01T00:00:00Z")
FILES = 5
LISTS = {"aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}, "values": {"collect": "v"}}, "derive": {}}
"""With an aggregate that does not grow along a block: every slice goes into each of its windows."""


pytestmark = pytest.mark.usefixtures("compiled")


def sliding(root: Path, **stage: Any) -> Pipeline:
    """Windows of which none starts where a slice of another does alone: slices are half as long as the period."""
    fields: dict[str, Any] = {"window": {"sliding": {"size": "90s", "period": "20s", "offset": "5s"}},
                              "trigger": "default", "allowed_lateness": "0s"}  # fmt: skip
    return pipeline(root, **{**fields, **stage})


def plain(spark: SparkSession, root: Path) -> DataFrame:
    """All windows over the rows that landed, by Spark's own sliding windows: `k`, bounds, `num`, `total`."""
    raw = spark.read.format("delta").load(f"{root}/lake/clicks/raw").where("_reason is null and d <> 0")
    windows = raw.groupBy("k", F.window(F.to_timestamp("at"), "90 seconds", "20 seconds", "5 seconds").alias("w"))
    return windows.agg(F.count("*").alias("num"), F.sum("v").alias("total")).selectExpr(
        "k", "w.start AS window_start", "w.end AS window_end", "num", "total"
    )


def without_late(spark: SparkSession, root: Path, rows: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of windows for which nothing came late; there are others."""
    late = table(spark, root, "dead_letters").where("reason = 'late'")
    keys = {(row.k, row.window_start) for row in late.selectExpr("get_json_object(element, '$.k') AS k", "window_start")
            .distinct().collect()}  # fmt: skip
    assert keys
    found = rows.select("k", "window_start", "window_end", "num", "total").collect()
    return sorted((tuple(row) for row in found if (row.k, row.window_start) not in keys), key=repr)


@pytest.mark.long
def test_aggregates_that_do_not_grow_along_a_block_are_what_spark_gives(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advance, "COMPACT_EVERY", 2)
    write_files(tmp_path / "data", range(FILES))
    made = sliding(tmp_path, **LISTS)
    run(made, spark, once=True, drain=True)
    expected = without_late(spark, tmp_path, plain(spark, tmp_path))
    assert len(expected) > 20
    assert without_late(spark, tmp_path, table(spark, tmp_path, "current")) == expected
    panes = table(spark, tmp_path, "panes")
    assert {tuple(row) for row in panes.select("timing", "trigger", "pane_index", "is_last", "weight").collect()} == {
        ("on_time", "at_watermark", 0, True, 1)
    }
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows > 0


@pytest.mark.parametrize(
    "window",
    [
        {"fixed": {"size": "30s"}},
        pytest.param({"cumulative": {"size": "60s", "step": "20s"}}, marks=pytest.mark.long),
    ],
    ids=["fixed", "cumulative"],
)
def test_a_larger_lateness_opens_windows_over_partials(
    spark: SparkSession, tmp_path: Path, window: dict[str, Any]
) -> None:
    """A slice of a fixed window is the window: its partials make room for a cell of the same bounds."""
    write_files(tmp_path / "data", range(3))
    run(sliding(tmp_path, window=window), spark, once=True)
    write_files(tmp_path / "data", range(3, 5))
    larger = sliding(tmp_path, window=window, allowed_lateness="2m")
    run(larger, spark, once=True, drain=True)
    (result,) = reconcile(larger, spark)
    assert result.equal and result.windows > 0


def test_a_first_step_that_has_fired_is_still_in_the_later_ones(spark: SparkSession, tmp_path: Path) -> None:
    """Its window has the bounds of the first slice, which the other cumulative windows have yet to be formed from."""
    window = {"cumulative": {"size": "60s", "step": "20s"}}
    write_files(tmp_path / "data", range(1))
    made = sliding(tmp_path, window=window, where="unix_seconds(to_timestamp(at)) % 60 < 20")
    run(made, spark, once=True)
    assert not table(spark, tmp_path, "panes").where("unix_seconds(window_end) % 60 = 20").isEmpty()
    larger = sliding(tmp_path, window=window, where="unix_seconds(to_timestamp(at)) % 60 < 20", allowed_lateness="2m")
    run(larger, spark, once=True, drain=True)
    (result,) = reconcile(larger, spark)
    assert result.equal and result.windows > 0


@pytest.mark.long
def test_a_stream_skips_what_a_backfill_has_made(spark: SparkSession, tmp_path: Path) -> None:
    """A slice is in windows that the backfill has made and in others."""
    write_files(tmp_path / "data", range(2))
    made = sliding(tmp_path)
    PipelineWork.open(made, spark).landings[0].run()
    (done,) = backfill(made, spark, START, parse_time("2024-01-01T01:00:45Z"), whole=True)
    assert done.windows > 0
    write_files(tmp_path / "data", range(2, 5))
    run(made, spark, once=True, drain=True)
    indexes = table(spark, tmp_path, "panes").groupBy("k", "window_start").count()
    assert indexes.where("count > 1").isEmpty()
    (result,) = reconcile(made, spark)
    assert result.equal


@pytest.mark.long
def test_a_larger_lateness_opens_the_windows_over_the_slices(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(3))
    run(sliding(tmp_path), spark, once=True)
    _, (stage,) = status(sliding(tmp_path), spark)
    assert stage.watermark is not None
    is_open = F.unix_micros("window_end") > stage.watermark
    assert stage.open_cells == plain(spark, tmp_path).where(is_open).count() > 0
    write_files(tmp_path / "data", range(3, 5))
    larger = sliding(tmp_path, allowed_lateness="2m")
    run(larger, spark, once=True, drain=True)
    expected = without_late(spark, tmp_path, plain(spark, tmp_path))
    assert without_late(spark, tmp_path, table(spark, tmp_path, "current")) == expected
    ticks = table(spark, tmp_path, "ticks").orderBy("tick").collect()
    assert [tick.open_cells is None for tick in ticks[:4]] == [True, True, True, False]
    assert ticks[3].open_cells == stage.open_cells and ticks[-1].open_cells == 0
    (result,) = reconcile(larger, spark)
    assert result.equal


@pytest.mark.long
def test_a_compaction_takes_no_slices_of_later_ticks(spark: SparkSession, tmp_path: Path) -> None:
    """Maintenance compacts up to the tick that it has seen while the stream goes on: what is added twice is wrong."""
    write_files(tmp_path / "data", range(2))
    made = sliding(tmp_path)
    run(made, spark, once=True)
    (compacting,) = PipelineWork.open(made, spark).stages
    write_files(tmp_path / "data", range(2, 4))
    run(made, spark, once=True)
    compacting.runner.compact()
    run(made, spark, once=True, drain=True)
    expected = without_late(spark, tmp_path, plain(spark, tmp_path))
    assert expected and without_late(spark, tmp_path, table(spark, tmp_path, "current")) == expected


@pytest.mark.long
def test_slices_are_migrated_before_a_backfill_follows(spark: SparkSession, tmp_path: Path) -> None:
    """The stage behind has a larger lateness now, and has yet to read panes of the one that it reads."""
    behind: dict[str, Any] = {
        "name": "wide", "from": "sums", "keys": ["k"], "window": {"sliding": {"size": "90s", "period": "30s"}},
        "trigger": "default", "allowed_lateness": "0s", "aggregates": {"total": {"sum": "total"}},
    }  # fmt: skip
    first: dict[str, Any] = {"trigger": "default", "allowed_lateness": "0s", "accumulation": "discarding"}
    (tmp_path / BEHIND).write_text(json.dumps([behind]))
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path, **first), spark, once=True)
    (tmp_path / BEHIND).write_text(json.dumps([{**behind, "allowed_lateness": "2m"}]))
    larger = pipeline(tmp_path, **first)
    write_files(tmp_path / "data", range(3, 5))
    work = PipelineWork.open(larger, spark)
    work.landings[0].run()
    upstream = work.stages[0]
    upstream.catch_up()
    while upstream.tick(lambda: upstream.runner.advance(upstream.runner.upstream.head(work.spark))):
        pass
    backfill(larger, spark, START, parse_time("2024-01-01T00:59:00Z"))
    run(larger, spark, once=True, drain=True)
    sums, wide = reconcile(larger, spark)
    assert sums.equal and wide.equal and wide.windows > 0
