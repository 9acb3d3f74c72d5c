"""Fields of a stage that change its elements or panes, on a real lake: the stream's tables are what a batch gives."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.lake import iso, pipeline, table, write_files
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import DAY, parse_time
from windrow.testing.panes import panes

START = parse_time("2024-01-01T00:00:00Z")


@pytest.mark.parametrize("accumulation", [pytest.param("accumulating", marks=pytest.mark.long), "retracting"])
def test_having(spark, tmp_path: Path, accumulation: str) -> None:
    """Windows are shown, retracted and shown again while they grow; in the end those stand that pass."""
    write_files(tmp_path / "data", range(4))
    made = pipeline(tmp_path, having="twice % 4 = 0", accumulation=accumulation, allowed_lateness="1d")
    run(made, spark, once=True, drain=True)
    shown = table(spark, tmp_path, "current")
    changes = {row.change: row["count"] for row in table(spark, tmp_path, "panes").groupBy("change").count().collect()}
    assert changes["delete"] > 0 and not shown.isEmpty() and shown.where("twice % 4 <> 0").isEmpty()
    net = table(spark, tmp_path, "panes").groupBy("k", "window_start").agg({"weight": "sum"})
    if accumulation == "retracting":
        assert net.where("`sum(weight)` <> 0").count() == shown.count()
    (reconciled,) = reconcile(made, spark)
    assert reconciled.equal and reconciled.late_rows == 0
    (result,) = backfill(made, spark, START, START + DAY)
    assert (result.tick, result.windows) == (None, shown.count())


def exploding(root: Path) -> Pipeline:
    """Rows with several moments each; every one is an element at its own time."""
    stage = {
        "name": "moments", "explode": {"moment": "moments"}, "where": "moment.kind <> 'skip'", "keys": ["moment.kind"],
        "element_time": {"of": "cast(moment.at as timestamp)", "backward": "60s"}, "window": {"fixed": {"size": "10s"}},
        "aggregates": {"num": {"count": "*"}},
    }  # fmt: skip
    stage["keys"] = [{"kind": "moment.kind"}]
    source = {
        "name": "rows", "files": {"path": str(root / "data"), "max_files_per_batch": 1},
        "schema": "sent string, moments array<struct<at: string, kind: string>>",
        "event_time": {"column": "sent", "format": "iso8601"}, "arrival_time": {"column": "sent", "format": "iso8601"},
        "watermark": {"bounded_delay": "5s"},
    }  # fmt: skip
    mapping = {"pipeline": "tests", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}
    return Pipeline.from_mapping(mapping)


def write_moments(folder: Path) -> list[dict[str, Any]]:
    """Three files; the last row brings a moment that lies further back than the bound."""
    folder.mkdir()
    rows = []
    for number in range(3):
        lines = []
        for second in range(number * 60, number * 60 + 60, 7):
            kinds = [(second - 3, "a"), (second - 30, "b"), (second, "skip")][: second % 4]
            if second == 176:
                kinds.append((20, "a"))
            moments = [{"at": iso(at), "kind": kind} for at, kind in kinds]
            rows += [{"second": at, "kind": kind} for at, kind in kinds if kind != "skip"]
            lines.append(json.dumps({"sent": iso(second), "moments": moments}))
        path = folder / f"{number}.json"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))  # files land in the order of their times
    return rows


def test_every_item_is_an_element_at_its_own_time(spark, tmp_path: Path) -> None:
    moments = write_moments(tmp_path / "data")
    made = exploding(tmp_path)
    run(made, spark, once=True, drain=True)
    (dead,) = table(spark, tmp_path, "dead_letters", "moments").collect()
    assert (dead.reason, json.loads(dead.element)["moment"]["kind"]) == ("late", "a")
    current = table(spark, tmp_path, "current", "moments")
    assert sum(row.num for row in current.collect()) == len(moments) - 1
    ticks = table(spark, tmp_path, "ticks", "moments").collect()
    assert sum(t.assigned for t in ticks) == len(moments) and sum(t.late for t in ticks) == 1
    assert sum(t.elements_read for t in ticks) == sum(t.assigned + t.filtered for t in ticks)
    (reconciled,) = reconcile(made, spark)
    assert reconciled.equal and reconciled.late_rows == 1
    (result,) = backfill(made, spark, START, START + DAY)
    assert (result.inserted, result.changed) == (1, 0)
    assert sum(row.num for row in table(spark, tmp_path, "current", "moments").collect()) == len(moments)
    (again,) = reconcile(made, spark)
    assert again.equal and again.late_rows == 0


def test_panes_of_a_batch_have_passed(spark) -> None:
    fields = {"keys": ["k"], "window": {"fixed": {"size": "1d"}}, "aggregates": {"num": {"count": "*"}}}
    frame = spark.sql("select timestamp'2024-01-01' event_time, k from values ('a'), ('b'), ('b') as rows(k)")
    rows = panes(Stage.from_mapping({**fields, "having": "num > 1"}), frame).results.collect()
    assert [(row.k, row.num) for row in rows] == [("b", 2)]
