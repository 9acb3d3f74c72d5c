"""Stages of two inputs on a lake: a join, a co-group and a stage behind the join, over two sources of files."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from tests.lake import VIEWS, content, pipeline, table, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.spark.session import working_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, parse_time
from windrow.store.delta.location import Lake

FILES = 3
START = parse_time("2024-01-01T00:00:00Z")
ON_BOTH = {"after_watermark": {"early": {"after_count": 8}, "late": {"after_count": 1}}}
MATCHED = {
    "name": "matched", "join": "left", "window": {"fixed": {"size": "20s"}}, "trigger": ON_BOTH,
    "accumulation": "retracting", "allowed_lateness": "30s",
    "inputs": {
        "clicks": {"from": "clicks", "keys": ["k"], "where": "v > 4", "columns": {"v": "v"}},
        "views": {"from": "views", "keys": ["k"], "where": "v < 0", "columns": {"seen": "v", "seen_at": "at"}},
    },
}  # fmt: skip
BOTH = {
    "name": "both", "window": {"fixed": {"size": "30s"}}, "trigger": ON_BOTH, "accumulation": "retracting",
    "allowed_lateness": "30s",
    "inputs": {
        "sums": {"from": "sums", "keys": ["k"], "aggregates": {"total": {"sum": "total"}, "windows": {"count": "*"}}},
        "views": {"from": "views", "keys": ["k"], "aggregates": {"views": {"count": "*"}, "least": {"min": "v"}}},
    },
}  # fmt: skip
PAIRS = {
    "name": "pairs", "from": "matched", "keys": ["k"], "window": {"inherited": {}}, "trigger": ON_BOTH,
    "accumulation": "retracting", "allowed_lateness": "30s", "aggregates": {"pairs": {"count": "*"}, "v": {"sum": "v"}},
}  # fmt: skip


def joining(root: Path, lake: Path | None = None, **fields: Any) -> Pipeline:
    """Windows of one source that retract, and the three stages; over the files of `root`."""
    (root / VIEWS).mkdir(exist_ok=True)
    one = pipeline(root, allowed_lateness="30s").to_mapping()
    one["stages"] += [{**stage, **fields} for stage in (MATCHED, BOTH, PAIRS)]
    return Pipeline.from_mapping({**one, **({} if lake is None else {"lake": str(lake)})})


@pytest.fixture(scope="module")
def streamed(spark, tmp_path_factory) -> Path:
    """A lake that was made in two runs; in the first one source is behind the other."""
    root = tmp_path_factory.mktemp("joining")
    for clicks, views in ((range(2), range(1)), (range(2, FILES), range(1, FILES))):
        write_files(root / "data", clicks)
        write_files(root / VIEWS, views)
        run(joining(root), spark, once=True, drain=clicks.stop == FILES)
    return root


def net(spark, root: Path, stage: str, *columns: str) -> DataFrame:
    """What all changes of a stage come to."""
    rows = table(spark, root, "panes", stage).groupBy("k", "window_start", *columns).agg({"weight": "sum"})
    return rows.where("`sum(weight)` <> 0")


def same(left: DataFrame, right: DataFrame) -> bool:
    return left.exceptAll(right).isEmpty() and right.exceptAll(left).isEmpty() and not left.isEmpty()


def test_the_net_of_a_join_is_current_and_a_batch(spark, streamed: Path) -> None:
    columns = ("v", "seen", "seen_at", "row")
    assert same(
        net(spark, streamed, "matched", *columns).drop("sum(weight)"),
        table(spark, streamed, "current", "matched").select("k", "window_start", *columns),
    )
    weights = net(spark, streamed, "matched", *columns).select("sum(weight)").distinct().collect()
    assert [row[0] for row in weights] == [1]
    for found in reconcile(joining(streamed), spark):
        assert found.equal and found.windows > 0, found
    assert table(spark, streamed, "panes", "matched").where("change = 'update_preimage'").count() > 0


@pytest.mark.long
def test_late_rows_of_either_input_are_restated(spark, streamed: Path) -> None:
    """Restated down the stages, a join is what Spark joins, and the others what SQL says of it."""
    letters = table(spark, streamed, "dead_letters", "matched").where("reason = 'late'")
    assert {row[0] for row in letters.select("source").distinct().collect()} == {"clicks", "views"}
    assert any(result.rows for result in restate(joining(streamed), spark))
    rows = {name: spark.read.format("delta").load(f"{streamed}/lake/{name}/raw").where("_reason IS NULL")
            for name in ("clicks", "views")}  # fmt: skip
    for name, frame in rows.items():
        window = "timestamp_micros(_event_time - pmod(_event_time, 20000000)) AS window_start"
        frame.selectExpr("k", "v", "at", window).createOrReplaceTempView(f"raw_{name}")
    expected = spark.sql(
        "SELECT c.k, c.window_start, c.v, w.v AS seen, w.at AS seen_at FROM (SELECT * FROM raw_clicks WHERE v > 4) c "
        "LEFT JOIN (SELECT * FROM raw_views WHERE v < 0) w ON c.k <=> w.k AND c.window_start = w.window_start"
    )
    current = table(spark, streamed, "current", "matched").select("k", "window_start", "v", "seen", "seen_at")
    assert same(current, expected)
    pairs = current.groupBy("k", "window_start").agg({"*": "count", "v": "sum"})
    pairs = pairs.select("k", "window_start", "count(1)", "sum(v)")
    assert same(table(spark, streamed, "current", "pairs").select("k", "window_start", "pairs", "v"), pairs)
    for found in reconcile(joining(streamed), spark):
        assert found.equal and found.late_rows == 0, found


@pytest.mark.long
def test_a_backfill_into_a_lake_of_its_own(spark, streamed: Path, tmp_path: Path) -> None:
    """All of it made by a backfill, where nothing was late, is what the restated stream shows."""
    restate(joining(streamed), spark)
    fresh = joining(streamed, tmp_path / "lake")
    for source in fresh.sources:
        Landing(working_session(spark), source, Lake.of(fresh.lake), clock_micros).run()
    results = {result.stage: result for result in backfill(fresh, spark, START, START + DAY, whole=True)}
    assert all(results[name].inserted > 0 for name in ("sums", "matched", "both", "pairs"))
    kept = {"matched": ("v", "seen", "seen_at", "row"), "pairs": ("pairs", "v"), "both": ("total", "views", "least")}
    for stage, columns in kept.items():
        made = table(spark, tmp_path, "current", stage).select("k", "window_start", *columns)
        assert same(made, table(spark, streamed, "current", stage).select("k", "window_start", *columns)), stage
    again = backfill(fresh, spark, START, START + DAY, whole=True)
    assert [result.tick for result in again] == [None] * 4


def test_status_knows_both_inputs(spark, streamed: Path) -> None:
    _, stages = status(joining(streamed), spark)
    matched = next(one for one in stages if one.stage == "matched")
    assert matched.batches_behind == 0 and matched.adds_up and matched.read > 0
    assert content(spark, streamed, "ticks", "matched")
