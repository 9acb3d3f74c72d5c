"""A key with half of all rows is not the work of one task where windows are aligned: rows are combined first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.lake import iso
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline

ROWS = 20_000


def skewed(root: Path, window: dict[str, Any]) -> Pipeline:
    """Rows of two minutes, half of them of one key, in one file for each of two tasks."""
    (root / "data").mkdir(parents=True)
    for half in range(2):
        lines = [
            json.dumps({"k": "most" if index % 2 else f"k{index % 100}", "v": 1, "at": iso(index % 120)})
            for index in range(ROWS // 2)
        ]
        (root / "data" / f"{half}.json").write_text("\n".join(lines) + "\n")
    source = {
        "name": "rows", "files": {"path": str(root / "data")}, "schema": "k string, v long, at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "10s"},
    }  # fmt: skip
    stage = {"name": "sums", "keys": ["k"], "window": window, "aggregates": {"n": {"count": "*"}, "v": {"sum": "v"}}}
    return Pipeline.from_mapping(
        {"pipeline": "skew", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}
    )


def most_shuffled(spark: SparkSession, after: int) -> int:
    """The most records that a task has read of a shuffle, in the stages behind that one."""
    java: Any = spark._jvm
    store = spark.sparkContext._jsc.sc().statusStore()  # type: ignore[attr-defined]
    quantiles = spark.sparkContext._gateway.new_array(java.double, 0)  # type: ignore[union-attr]
    stages = store.stageList(None, False, False, quantiles, java.java.util.ArrayList())
    most = 0
    for index in range(stages.size()):
        stage = stages.apply(index)
        if stage.stageId() > after and stage.shuffleReadRecords() > 0:
            tasks = store.taskList(stage.stageId(), stage.attemptId(), 1000)
            for number in range(tasks.size()):
                metrics = tasks.apply(number).taskMetrics()
                if metrics.isDefined():
                    most = max(most, int(metrics.get().shuffleReadMetrics().recordsRead()))
    return most


def newest_stage(spark: SparkSession) -> int:
    """The greatest number of a stage so far."""
    java: Any = spark._jvm
    store = spark.sparkContext._jsc.sc().statusStore()  # type: ignore[attr-defined]
    quantiles = spark.sparkContext._gateway.new_array(java.double, 0)  # type: ignore[union-attr]
    stages = store.stageList(None, False, False, quantiles, java.java.util.ArrayList())
    return max((stages.apply(index).stageId() for index in range(stages.size())), default=-1)


@pytest.mark.parametrize(
    "window", [{"fixed": {"size": "1m"}}, {"sliding": {"size": "1m", "period": "30s"}}], ids=["fixed", "sliding"]
)
def test_half_of_all_rows_are_of_one_key(spark: SparkSession, tmp_path: Path, window: dict[str, Any]) -> None:
    made, before = skewed(tmp_path, window), newest_stage(spark)
    run(made, spark, once=True, drain=True)
    total = spark.read.format("delta").load(str(tmp_path / "lake" / "sums" / "current"))
    assert total.where("k = 'most'").groupBy().sum("n").collect()[0][0] >= ROWS // 2
    assert 0 < most_shuffled(spark, before) < ROWS // 20
