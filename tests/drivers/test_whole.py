"""Windows that were asserted to be whole stay published, whatever a later batch is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.lake import content, iso, pipeline, table, write_files
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, MINUTE, format_time, parse_time

START = parse_time("2024-01-01T00:00:00Z")
HOUR_ONE = START + 60 * MINUTE


def land(made: Pipeline, spark) -> None:
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()


def test_a_wider_early_batch_leaves_them_and_so_does_the_stream_behind_it(spark, tmp_path: Path) -> None:
    """The watermark has not passed their ends."""
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    land(made, spark)
    (first,) = backfill(made, spark, START, HOUR_ONE + 2 * MINUTE, whole=True)
    assert first.waiting is None and first.inserted > 0
    before = content(spark, tmp_path, "current")
    (again,) = backfill(made, spark, START, HOUR_ONE + MINUTE)
    assert again.waiting is None and again.tick is None, "what was asserted to be whole does not wait"
    (wider,) = backfill(made, spark, START, START + DAY, early=True)
    assert wider.inserted + wider.changed + wider.retracted == 0
    assert content(spark, tmp_path, "current") == before
    run(made, spark, once=True, drain=True)
    assert content(spark, tmp_path, "current") == before
    assert table(spark, tmp_path, "panes").where("weight < 0").isEmpty()


def test_a_row_for_record_windows_that_were_asserted_to_be_whole_is_late(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(1))
    made = pipeline(
        tmp_path, window={"record": {"difference": "4s", "resolution": "1s"}},
        allowed_lateness="10m",
    )  # fmt: skip
    land(made, spark)
    (first,) = backfill(made, spark, START, START + DAY, whole=True)
    assert first.inserted > 0
    before = content(spark, tmp_path, "current")
    late = {"k": "a", "v": 5, "d": 1, "at": iso(20), "arrived": iso(50)}
    (tmp_path / "data" / "late.json").write_text(json.dumps(late) + "\n")
    land(made, spark)
    backfill(made, spark, START + DAY, START + 2 * DAY)
    assert content(spark, tmp_path, "current") == before
    (stage,) = status(made, spark)[1]
    assert stage.late == 1 and stage.adds_up
    (taken,) = restate(made, spark)
    assert taken.rows == 1 and content(spark, tmp_path, "current") != before


def test_time_that_passes_without_rows_publishes_a_stage_behind_others(spark, tmp_path: Path) -> None:
    """The source is idle, which the stage in front knows by the clock, and the stage behind it by that one."""
    (tmp_path / "data").mkdir()
    rows = [{"at": format_time(START + minutes * MINUTE), "v": 1} for minutes in range(0, 210, 10)]
    (tmp_path / "data" / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = Pipeline.from_mapping({
        "pipeline": "idle", "lake": str(tmp_path / "lake"),
        "sources": [{
            "name": "rows", "files": {"path": str(tmp_path / "data"), "format": "json"}, "schema": "at string, v int",
            "event_time": {"column": "at", "format": "iso8601"},
            "watermark": {"bounded_delay": "0s", "idle_timeout": "1h"},
        }],
        "stages": [
            {"name": name, "from": above, "window": {"fixed": {"size": size}}, "aggregates": {"v": {"sum": "v"}}}
            for name, above, size in (("hourly", "rows", "1h"), ("behind", "hourly", "2h"))
        ],
    })  # fmt: skip
    for hour, windows in ((4, 1), (6, 2)):
        work = PipelineWork.open(made, spark, clock=lambda hour=hour: START + hour * HOUR)  # type: ignore[misc]
        for landing in work.landings:
            landing.run()
        hourly, behind = Backfill(work, f"at {hour}", START, START + 4 * HOUR).whole(dry_run=False)
        assert (behind.waiting is None) == (hourly.waiting is None) == (hour == 6)
        assert table(spark, tmp_path, "current", "behind").count() == windows


@pytest.mark.parametrize(
    ("window", "key"),
    [({"fixed": {"size": "10s"}}, "k"), ({"sessions": {"gap": "3s"}}, {"k": "CAST(v AS DECIMAL(5, 2))"})],
)
def test_every_reader_sees_columns_without_values_that_files_lack(spark, tmp_path: Path, window, key) -> None:
    """The first windows of a stage are written without them, and what comes later with them."""
    write_files(tmp_path / "data", range(1))
    made = pipeline(tmp_path, keys=[key], window=window)
    land(made, spark)
    (first,) = backfill(made, spark, START, HOUR_ONE, whole=True)
    assert first.inserted == first.windows > 0
    lacking = set()
    for file in (tmp_path / "lake" / "sums" / "panes").glob("*.parquet"):
        lacking |= {"watermark_percentile", "_closed", "_state"} - set(pq.read_schema(file).names)
    assert lacking == {"watermark_percentile", "_closed", *(("_state",) if "fixed" in window else ())}
    write_files(tmp_path / "data", range(1, 3))
    run(made, spark, once=True, drain=True)
    path, whole = str(tmp_path / "lake" / "sums" / "panes"), table(spark, tmp_path, "panes")
    rows, nulls = whole.count(), whole.where("watermark_percentile IS NULL").count()
    assert rows > nulls >= first.windows
    arrow = DeltaTable(path).to_pyarrow_table()
    assert (len(arrow), arrow["watermark_percentile"].null_count) == (rows, nulls)
    polars = pl.scan_delta(path).select(pl.len(), nulls=pl.col("watermark_percentile").is_null().sum()).collect()
    assert polars.row(0) == (rows, nulls)
    assert all(one.equal for one in reconcile(made, spark))
