"""Maintenance puts the rows of a large table in an order by which a query of a time, or of a key, reads few files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.lake import content, iso, pipeline, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.maintain import tables
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.maintain.maintain import Maintenance
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time
from windrow.store.delta.location import Location
from windrow.store.delta.log.log_store import delta_log, newest_snapshot
from windrow.store.delta.upkeep import FILE_SIZE, is_done

FILES = 10
KEYS = 40


def write_rows(folder: Path) -> None:
    """Files of rows of many keys; each file has some that are late by any time, so that ticks are wide."""
    write_files(folder, range(FILES))
    for number, path in enumerate(sorted(folder.iterdir())):
        rows = [
            {"k": f"key-{key:02}", "v": key, "d": 1, "at": iso(max(number * 60 - back, 0)), "arrived": iso(number * 60)}
            for key in range(KEYS)
            for back in (0, 20, 60 * (key % (number + 1)))
        ]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize("name", [pytest.param("current", marks=pytest.mark.long), "panes"])
def test_a_large_table_is_put_in_order(spark, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MANY", 2)
    write_rows(tmp_path / "data")
    made = pipeline(tmp_path, allowed_lateness="1h")
    run(made, spark, once=True, drain=True)
    before = content(spark, tmp_path, name)
    table = tmp_path / "lake" / "sums" / name
    unordered = share_read(spark, table, A_KEY)
    caller = spark.newSession()
    caller.conf.set(FILE_SIZE, str(sum(one["size_bytes"] for one in files_of(table)) // 12))
    assert maintained(made, caller, name) == ("ordered by window_start, k",)
    files = files_of(table)
    assert len(files) >= 8
    a_key = [one for one in files if one["min.k"] <= "key-07" <= one["max.k"]]
    a_time = [one for one in files if one["min.window_start"] <= AT <= one["max.window_start"]]
    assert len(a_key) <= 0.5 * len(files) and len(a_time) <= 0.7 * len(files)
    assert share_read(spark, table, A_KEY) <= len(a_key) / len(files) < unordered
    assert share_read(spark, table, "window_start = timestamp'2024-01-01T01:05:00Z'") <= len(a_time) / len(files)
    assert content(spark, tmp_path, name) == before
    assert reconcile(made, spark)[0].equal
    forget_old_commits(spark, table)
    assert maintained(made, caller, name) == (), "nothing is new, so nothing is rewritten"


A_KEY = "k = 'key-07'"


def share_read(spark: SparkSession, table: Path, condition: str) -> float:
    """Which share of the files of a table a query with that condition reads, as Spark counts them."""
    reader = spark.newSession()
    reader.conf.set("spark.sql.adaptive.enabled", "false")
    frame = reader.read.format("delta").load(str(table)).where(condition)
    assert frame.collect()
    scan = frame._jdf.queryExecution().executedPlan().collectLeaves().head()
    return int(scan.metrics().apply("numFiles").value()) / len(files_of(table))


def maintained(made: Pipeline, spark: SparkSession, name: str) -> tuple[str, ...]:
    """What maintenance says that it has done to a table."""
    maintenance = Maintenance.of(made, spark, Kept(0, clock_micros))
    (done,) = [one for one in maintenance.run(dry_run=False) if one.table == f"sums/{name}"]
    return done.notes


def forget_old_commits(spark: SparkSession, table: Path) -> None:
    """Leave nothing but the newest commit, which is no Z-order, as a busy stream does within hours."""
    statement = f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES (mine = 'yes')"
    assert is_done(spark, Location(str(table)), lambda: spark.sql(statement))
    newest_snapshot(spark, str(table))  # Delta makes one of what it has seen
    delta_log(spark, str(table)).checkpoint()
    for file in sorted((table / "_delta_log").glob("*.json"))[:-1]:
        file.unlink()


AT = parse_time(iso(5 * 60))


def files_of(table: Path) -> list[dict[str, Any]]:
    """The least and greatest values that Delta has of each live file."""
    actions = pa.table(DeltaTable(str(table)).get_add_actions(flatten=True))
    rows: list[dict[str, Any]] = []
    for row in actions.to_pylist():
        times = {
            name: value for name, value in row.items() if name.endswith("window_start") and name[:3] in ("min", "max")
        }
        rows.append({**row, **{name: int(value.timestamp() * 1_000_000) for name, value in times.items() if value}})
    return rows
