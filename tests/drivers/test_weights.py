"""A change feed on a real lake: what was taken back is in no table, and the stream is what a batch over it gives."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.lake import iso, pipeline, table
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import DAY, parse_time
from windrow.testing.panes import panes

START = parse_time("2024-01-01T00:00:00Z")
FILES, ROWS = 4, 30
AGGREGATES: dict[str, Any] = {
    "num": {"count": "*"},
    "total": {"sum": "v"},
    "spread": {"variance": "v"},
    "most": {"max": "v"},
    "final": {"last": "v"},
    "kinds": {"count_distinct": "v"},
    "all_v": {"collect": "v"},
    "some": {"any": "v > 5"},
}
RULES = {
    "num": "count(v)", "total": "sum(v)", "spread": "var_samp(v)", "most": "max(v)", "kinds": "count(distinct v)",
    "some": "bool_or(v > 5)",
}  # fmt: skip


def weighted(root: Path, **stage: Any) -> Pipeline:
    fields = {"aggregates": AGGREGATES, "derive": {}, "select": {}, **stage}
    mapping = pipeline(root, **fields).to_mapping()
    mapping["sources"][0].update(weight="sign", schema="k string, v long, sign int, at string, arrived string")
    return Pipeline.from_mapping(mapping)


def write_feed(folder: Path, numbers: range) -> list[dict[str, Any]]:
    """Files of a feed: each adds rows and takes some back, in the end all of key c. What is left of it."""
    chance, there = random.Random(7), []
    folder.mkdir(exist_ok=True)
    for number in numbers:
        arrived = iso(60 * number + ROWS)
        added = [
            {"k": chance.choice("abc"), "v": chance.randint(0, 9), "at": iso(60 * number + chance.randint(-50, 20))}
            for _ in range(ROWS)
        ]
        is_last = number == numbers[-1]
        gone = [row for row in [*there, *(added if is_last else [])] if row["k"] == "c"]
        there = [row for row in [*there, *added] if not any(row is other for other in gone)]
        gone += [there.pop(chance.randrange(len(there))) for _ in range(ROWS // 2)]
        lines = [{**row, "sign": 1} for row in added] + [{**row, "sign": -1} for row in gone]
        lines.append({**added[0], "sign": 3})
        path = folder / f"batch-{number:04}.json"
        path.write_text("".join(json.dumps({**line, "arrived": arrived}) + "\n" for line in lines))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return there


@pytest.mark.parametrize("accumulation", [pytest.param("accumulating", marks=pytest.mark.long), "retracting"])
def test_what_was_taken_back_is_in_no_table(spark, tmp_path: Path, accumulation: str) -> None:
    left = write_feed(tmp_path / "data", range(FILES))
    feed = weighted(tmp_path, accumulation=accumulation, allowed_lateness="10m")
    run(feed, spark, once=True)
    run(feed, spark, once=True, drain=True)
    (result,) = reconcile(feed, spark)
    assert result.equal and result.late_rows == 0 and result.windows > 0
    current = table(spark, tmp_path, "current")
    rules = ", ".join(f"{rule} {name}" for name, rule in RULES.items())
    spark.createDataFrame(left, "k string, v long, at string").createOrReplaceTempView("feed_left")
    start = "timestamp_seconds(30 * floor(unix_timestamp(to_timestamp(at)) / 30))"
    expected = spark.sql(f"SELECT k, {start} window_start, {rules} FROM feed_left GROUP BY ALL")
    names = ["k", "window_start", *RULES]
    rounded = {"spread": "round(spread, 9)"}
    one, other = (
        sorted((tuple(row) for row in frame.selectExpr(*[rounded.get(n, n) for n in names]).collect()), key=repr)
        for frame in (current, expected)
    )
    assert one == other and not any(row[0] == "c" for row in one)
    deleted = table(spark, tmp_path, "panes").where("change = 'delete'")
    assert not deleted.isEmpty() and deleted.where("weight <> -1").isEmpty()
    (source,), (stage,) = status(feed, spark)
    assert source.dead == stage.dead == {"bad_expression": FILES} and stage.adds_up
    assert backfill(feed, spark, START, START + DAY)[0].tick is None


@pytest.mark.long
def test_late_rows_of_either_weight_are_restated(spark, tmp_path: Path) -> None:
    write_feed(tmp_path / "data", range(FILES))
    feed = weighted(tmp_path, allowed_lateness="0s")
    run(feed, spark, once=True, drain=True)
    (before,) = reconcile(feed, spark)
    assert before.equal and before.late_rows > 0
    (result,) = backfill(feed, spark, START, START + DAY)
    assert result.tick is not None and result.retracted > 0
    (after,) = reconcile(feed, spark)
    assert after.equal and after.late_rows == 0
    assert table(spark, tmp_path, "current").where("k = 'c'").isEmpty()


def test_panes_of_a_frame_with_weights(spark) -> None:
    rows = [("a", 1, 1), ("a", 2, 1), ("a", 1, -1), ("b", 5, 1), ("b", 5, -1), ("a", 7, 3), ("a", 7, None)]
    frame = spark.createDataFrame(rows, "k string, v long, sign int").selectExpr("*", "timestamp_seconds(v) AS at")
    fields = {
        "keys": ["k"],
        "window": {"fixed": {"size": "1m"}},
        "aggregates": {"num": {"count": "*"}, "most": {"max": "v"}},
    }
    found = panes(Stage.from_mapping(fields), frame, "at", weight="sign")
    (row,) = found.results.collect()
    assert (row["k"], row["num"], row["most"]) == ("a", 1, 2)
    dead = [(row.reason, row.rule, json.loads(row.element).get("sign")) for row in found.dead_letters.collect()]
    assert sorted(dead, key=str) == [("bad_expression", "sign is +1 or -1", sign) for sign in (3, None)]
    with pytest.raises(SpecError, match="weight"):
        panes(Stage.from_mapping(fields), frame, "at", weight="k")
    with pytest.raises(SpecError, match="a sketch cannot give back"):
        panes(Stage.from_mapping({**fields, "aggregates": {"n": {"approx_count_distinct": "v"}}}), frame, "at", "sign")
