"""Stages that read stages on a real lake: streams, late rows, restatements and backfills that go down the chain."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.lake import STAGE, pipeline, write_files
from windrow.drivers.inspect.report import report_in
from windrow.drivers.inspect.status.status import status
from windrow.drivers.inspect.telling.runs import published_in
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.reports.parts import State

START = parse_time("2024-01-01T00:00:00Z")
FILES = 3

TOTALS: dict[str, Any] = {
    "name": "totals", "from": "sums", "window": {"fixed": {"size": "60s"}},
    "trigger": {"after_watermark": {"early": {"after_count": 2}, "late": {"after_count": 1}}},
    "accumulation": "retracting", "allowed_lateness": "60s",
    "aggregates": {"keys": {"count": "*"}, "num": {"sum": "num"}, "most": {"max": "num"}},
}  # fmt: skip
SPREAD: dict[str, Any] = {
    "name": "spread", "from": "totals", "window": {"inherited": {}}, "keys": [{"big": "num > 30"}],
    "accumulation": "retracting", "allowed_lateness": "60s",
    "aggregates": {"windows": {"count": "*"}, "num": {"sum": "num"}},
}  # fmt: skip


def chain(root: Path, *behind: dict[str, Any], **first: Any) -> Pipeline:
    """The pipeline of the tests with stages behind its own."""
    made = pipeline(root, **first).to_mapping()
    return Pipeline.from_mapping({**made, "stages": [*made["stages"], *behind]})


def three(root: Path) -> Pipeline:
    return chain(root, {**TOTALS, "allowed_lateness": "0s"}, {**SPREAD, "allowed_lateness": "0s"})


def table(spark, root: Path, stage: str, name: str = "current"):
    return spark.read.format("delta").load(str(root / "lake" / stage / name))


def net(spark, root: Path, stage: str, *columns: str) -> Counter[Any]:
    """What all changes of a stage leave, by their weights."""
    left: Counter[Any] = Counter()
    for row in table(spark, root, stage, "panes").select("weight", *columns).collect():
        left[tuple(row)[1:]] += row["weight"]
    return +left


def shown(spark, root: Path, stage: str, *columns: str) -> Counter[Any]:
    return Counter(tuple(row) for row in table(spark, root, stage).select(*columns).collect())


OF_TOTALS = ("window_start", "keys", "num", "most")
OF_SPREAD = ("window_start", "big", "windows", "num")

BY_SQL = """
    WITH sums AS (
        SELECT k, window(at, '30 seconds') w, count(*) num FROM good GROUP BY 1, 2
    ), totals AS (
        SELECT window(w.end - interval 1 microsecond, '60 seconds') w, count(*) keys, sum(num) num, max(num) most
        FROM sums GROUP BY 1
    )"""


def by_sql(spark, root: Path, query: str) -> Counter[Any]:
    """The same over all rows that landed alive, by plain SQL."""
    rows = table(spark, root, "clicks", "raw").where("_reason IS NULL AND d <> 0")
    rows.selectExpr("k", "timestamp_micros(_event_time) at").createOrReplaceTempView("good")
    return Counter(tuple(row) for row in spark.sql(f"{BY_SQL} {query}").collect())


SQL_OF_TOTALS = "SELECT w.start, keys, num, most FROM totals"
SQL_OF_SPREAD = "SELECT w.start, num > 30, count(*), sum(num) FROM totals GROUP BY 1, 2"


def equal(made: Pipeline, spark) -> bool:
    found = reconcile(made, spark)
    assert all(one.windows for one in found)
    return all(one.equal for one in found)


@pytest.fixture(scope="module")
def streamed(spark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three stages, streamed to the end; rows are late in the first."""
    root = tmp_path_factory.mktemp("chain")
    write_files(root / "data", range(FILES))
    (root / STAGE).write_text(json.dumps({"allowed_lateness": "0s"}))
    run(three(root), spark, drain=True)
    return root


@pytest.mark.long
def test_the_net_of_the_last_of_three_stages_is_what_sql_gives_over_the_rows(spark, tmp_path: Path) -> None:
    """Nothing is late here, so that SQL over the raw rows is what all of them must come to."""
    write_files(tmp_path / "data", range(FILES))
    made = chain(
        tmp_path, {**TOTALS, "allowed_lateness": "1h"}, {**SPREAD, "allowed_lateness": "1h"}, allowed_lateness="1h"
    )
    run(made, spark, drain=True)
    assert net(spark, tmp_path, "totals", *OF_TOTALS) == by_sql(spark, tmp_path, SQL_OF_TOTALS)
    assert net(spark, tmp_path, "spread", *OF_SPREAD) == by_sql(spark, tmp_path, SQL_OF_SPREAD)
    assert shown(spark, tmp_path, "spread", *OF_SPREAD) == by_sql(spark, tmp_path, SQL_OF_SPREAD)
    assert table(spark, tmp_path, "spread", "panes").where("weight < 0").count() > 0
    assert equal(made, spark)


def test_stream_and_batch_agree_stage_by_stage(spark, streamed: Path) -> None:
    assert equal(three(streamed), spark)
    assert net(spark, streamed, "spread", *OF_SPREAD) == shown(spark, streamed, "spread", *OF_SPREAD)


def test_the_status_says_how_far_each_stage_has_read(spark, streamed: Path) -> None:
    _, (first, second, third) = status(three(streamed), spark)
    assert first.late > 0
    assert (second.reads_a_stage, second.batches_behind, third.batches_behind) == (True, 0, 0)
    assert second.adds_up and third.adds_up and second.read > 0
    assert [part.partition for part in second.partitions] == ["sums"]
    assert second.watermark == first.watermark


@pytest.mark.long
def test_inherited_windows_of_sessions_and_of_calendar_days(spark, tmp_path: Path) -> None:
    """Nobody knows how long they are; a restatement touches none that is open, and shuts none for later panes."""
    write_files(tmp_path / "data", range(FILES - 1))
    inherits = {
        "name": "by_session", "from": "sums", "window": {"inherited": {}}, "accumulation": "retracting",
        "allowed_lateness": "10m", "aggregates": {"keys": {"count": "*"}, "num": {"sum": "num"}},
    }  # fmt: skip
    days = {
        "name": "days", "from": "by_session", "window": {"calendar": {"unit": "day"}}, "accumulation": "retracting",
        "allowed_lateness": "10m", "aggregates": {"num": {"sum": "num"}},
    }  # fmt: skip
    of_days = {**days, "name": "of_days", "from": "days", "window": {"inherited": {}}}
    made = chain(
        tmp_path, inherits, days, of_days, window={"sessions": {"gap": "4s", "max_session": "10m"}},
        allowed_lateness="0s",
    )  # fmt: skip
    run(made, spark, once=True)
    late = restate(made, spark)
    assert late[0].backfilled is not None
    write_files(tmp_path / "data", range(FILES - 1, FILES))
    run(made, spark, drain=True)
    assert equal(made, spark)
    restate(made, spark)
    assert equal(made, spark)
    rows = table(spark, tmp_path, "clicks", "raw").where("_reason IS NULL AND d <> 0").count()
    for name in ("by_session", "days", "of_days"):
        assert table(spark, tmp_path, name).selectExpr("sum(num)").collect()[0][0] == rows, name


@pytest.mark.long
def test_late_rows_are_restated_down_the_chain(spark, streamed: Path) -> None:
    """As one run, which tells of every stage that it has changed, and whose page shows them all."""
    made = three(streamed)
    first, second, third = restate(made, spark, run="night")
    assert first.rows > 0 and first.backfilled is not None
    assert second.rows > 0 and second.backfilled is not None, "its windows had expired when the correction came"
    assert third.rows > 0 and third.backfilled is not None
    assert net(spark, streamed, "totals", *OF_TOTALS) == by_sql(spark, streamed, SQL_OF_TOTALS)
    assert net(spark, streamed, "spread", *OF_SPREAD) == by_sql(spark, streamed, SQL_OF_SPREAD)
    assert equal(made, spark)
    assert all(one.rows == 0 and one.backfilled is None for one in restate(made, spark)), "the second finds nothing"
    lake, tables = Lake.of(made.lake), ArrowTables()
    told = {one.stage: one.tick for one in published_in(tables, lake, "night")}
    assert told == {one.stage: one.backfilled.tick for one in (first, second, third)}
    found = report_in(tables, made, "night", None, None)
    assert {one.stage: one.tick for one in found.stages} == told and found.state is State.PUBLISHED
