"""Explanations over real lakes: of a stream with every kind of row, of a chain, of batches, restatements, quarantine.

They read without Spark, as a user does; the numbers are compared with DuckDB over the files.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

import windrow
from tests.cli.command import windrow as command
from tests.cli.test_wrong_input import write
from tests.drivers.test_joins import joining
from tests.lake import BEHIND, VIEWS, iso, pipeline, table, write_files
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.view.explain.life import IN_RESULT, Life
from windrow.view.text.times import many

FILES = 4
CHAIN = [
    {
        "name": "minutes", "from": "sums", "keys": ["k"], "window": {"fixed": {"size": "1m"}},
        "aggregates": {"n": {"sum": "num"}, "windows": {"count": "*"}}, "allowed_lateness": "60s",
        "trigger": {"after_watermark": {"late": {"after_count": 1}}}, "accumulation": "retracting",
    }
]  # fmt: skip


@pytest.fixture(scope="module")
def streamed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stream of two stages over four files, not drained."""
    root = tmp_path_factory.mktemp("explain")
    (root / BEHIND).write_text(json.dumps(CHAIN))
    write_files(root / "data", range(1, FILES + 1))
    run(pipeline(root), spark, once=True)
    return root


def explained(made: Pipeline, stage: str, key: str | None, start: int) -> Life:
    life = windrow.explain(made, stage, {"k": "null" if key is None else key}, start)
    assert list(life.differences) == [], life.text(200)
    return life


def windows_of(spark: SparkSession, root: Path, stage: str) -> list[tuple[str | None, int]]:
    rows = table(spark, root, "panes", stage).selectExpr("k", "unix_micros(window_start) AS start").distinct().collect()
    return [(row["k"], row["start"]) for row in rows]


def counted(root: Path, key: str | None, start: int, end: int) -> int:
    """How many living rows of the files fall into a window, by DuckDB."""
    columns = "{'k': 'VARCHAR', 'v': 'JSON', 'd': 'JSON', 'at': 'VARCHAR'}"
    sql = f"""
        SELECT count(*)
        FROM read_json('{root}/data/*.json', columns = {columns}, format = 'newline_delimited', ignore_errors = true)
        WHERE k IS NOT DISTINCT FROM $key AND try_cast(v::VARCHAR AS BIGINT) IS NOT NULL AND d::VARCHAR <> '0'
            AND epoch_us(try_cast("at" AS TIMESTAMPTZ)) >= $start AND epoch_us(try_cast("at" AS TIMESTAMPTZ)) < $end
    """
    ((found,),) = duckdb.execute(sql, {"key": key, "start": start, "end": end}).fetchall()
    return int(found)


def test_every_window_of_a_stream(spark: SparkSession, streamed: Path) -> None:
    made = pipeline(streamed)
    windows = windows_of(spark, streamed, "sums")
    assert len(windows) > 10
    for key, start in windows:
        life = explained(made, "sums", key, start)
        assert life.window is not None and not life.unknown
        elements = [e for e in life.elements if e.place == IN_RESULT or e.is_late]
        assert len(elements) == counted(streamed, key, *life.window)
        letters = table(spark, streamed, "dead_letters").where(
            f"reason = 'late' AND unix_micros(window_start) = {start} AND get_json_object(element, '$.k') <=> "
            + ("null" if key is None else f"'{key}'")
        )
        assert sum(e.is_late for e in life.elements) == letters.count()
        last = [pane for pane in life.panes if pane.weight > 0][-1]
        assert last.value["num"] == sum(e.place == IN_RESULT and (e.tick or 0) <= last.tick for e in life.elements)


def test_every_window_of_the_stage_behind(spark: SparkSession, streamed: Path) -> None:
    made = pipeline(streamed)
    for key, start in windows_of(spark, streamed, "minutes"):
        life = explained(made, "minutes", key, start)
        assert life.upstream and {one.stage for one in life.upstream} == {"sums"}
        above = explained(made, "sums", key, life.upstream[0].window[0])
        assert any(one.stage == "minutes" and one.window == life.window for one in above.behind)


def test_the_command(streamed: Path) -> None:
    file = write(streamed)
    done = command("explain", file, "sums", "--key", "a", "--at", iso(70))
    assert done.code == 0 and "the rows give the same" in done.out and "as the rows" in done.out
    found = command("explain", file, "sums", "--key", "k=a", "--at", iso(70), "--json").json
    assert found["differences"] == [] and found["elements"] and found["ticks"]
    refused = command("explain", file, "sums", "--at", iso(70))
    assert refused.code == 2 and "--key must name the one key to explain: k is missing" in refused.err


def test_batches_and_restatements(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, allowed_lateness="0s")
    write_files(tmp_path / "data", range(1, FILES + 1))
    run(made, spark, once=True)
    late = table(spark, tmp_path, "dead_letters").where("reason = 'late'").selectExpr(
        "get_json_object(element, '$.k') AS k", "unix_micros(window_start) AS start"
    )  # fmt: skip
    windows = {(row["k"], row["start"]) for row in late.collect()}
    assert windows
    restate(made, spark)
    for key, start in windows:
        life = explained(made, "sums", key, start)
        assert any("a restatement, made it again" in said for said in life.corrections)
        assert all(e.restated_by for e in life.elements if e.place == "late")
        members = [e for e in life.elements if e.place in ("in the result", "late")]
        assert life.checked[0].startswith(f"{many(len(members), 'element')} in the result")
        last = [pane for pane in life.panes if pane.weight > 0][-1]
        assert last.trigger == "backfill" and last.value["num"] == counted(tmp_path, key, *life.window)  # type: ignore[misc]


def test_a_lake_of_batches_only(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_files(tmp_path / "data", range(1, FILES + 1))
    backfill(made, spark, iso(0), iso(3600), whole=True)
    for key, start in windows_of(spark, tmp_path, "sums"):
        life = explained(made, "sums", key, start)
        assert [pane.trigger for pane in life.panes] == ["backfill"]
        assert life.panes[0].value["num"] == counted(tmp_path, key, *life.window)  # type: ignore[misc]


def test_rows_of_a_file_that_was_quarantined(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_files(tmp_path / "data", range(1, FILES + 1))
    run(made, spark, once=True)
    windows = windows_of(spark, tmp_path, "sums")
    quarantine(made, spark, "clicks", "batch-0001.json")
    lives = [explained(made, "sums", key, start) for key, start in windows]
    assert any(e.place == "quarantined" and e.tick is not None for life in lives for e in life.elements)


def test_a_number_that_somebody_has_changed(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_files(tmp_path / "data", range(1, FILES + 1))
    run(made, spark, once=True)
    key, start = windows_of(spark, tmp_path, "sums")[0]
    condition = f"k <=> {'null' if key is None else repr(key)} AND unix_micros(window_start) = {start} AND weight > 0"
    Lake.of(made.lake).table("sums", "panes").table(spark).update(condition, {"num": "num + 1"})
    life = windrow.explain(made, "sums", {"k": "null" if key is None else key}, start)
    assert any("num is" in said and "by the rows" in said for said in life.differences)


@pytest.mark.long
def test_stages_of_several_inputs(spark: SparkSession, tmp_path: Path) -> None:
    """A co-group, a join and a stage behind it that keeps its windows."""
    for folder in ("data", VIEWS):
        write_files(tmp_path / folder, range(FILES))
    made = joining(tmp_path)
    run(made, spark, once=True, drain=True)
    for stage in ("both", "pairs"):
        for key, start in windows_of(spark, tmp_path, stage):
            life = explained(made, stage, key, start)
            assert not life.unknown and {e.source for e in life.elements} <= {"sums", "views", "matched"}
    for key, start in windows_of(spark, tmp_path, "matched"):
        life = explained(made, "matched", key, start)
        assert any("join" in said for said in life.unknown)
        assert any(one.stage == "pairs" and one.window == life.window for one in life.behind)
