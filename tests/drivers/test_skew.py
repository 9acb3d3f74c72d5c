"""A key with half of all rows is not the work of one task: rows are combined before they are shuffled.

Of aligned windows a row for each window is left of a key, of sessions one for each stretch of time as long as the gap,
of record windows one for each instant.
"""

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


def status_store(spark: SparkSession) -> Any:
    """What Spark knows of its stages, when it has heard of all that has happened."""
    context = spark.sparkContext._jsc.sc()  # type: ignore[attr-defined]
    context.listenerBus().waitUntilEmpty()
    return context.statusStore()


def stages(spark: SparkSession) -> list[Any]:
    java: Any = spark._jvm
    quantiles = spark.sparkContext._gateway.new_array(java.double, 0)  # type: ignore[union-attr]
    found = status_store(spark).stageList(None, False, False, quantiles, java.java.util.ArrayList())
    return [found.apply(index) for index in range(found.size())]


def most_read(spark: SparkSession, after: int) -> tuple[int, int]:
    """The most records that a task has read of a shuffle, and of files, in the stages behind that one."""
    store, shuffled, scanned = status_store(spark), 0, 0
    for stage in stages(spark):
        if stage.stageId() > after:
            tasks = store.taskList(stage.stageId(), stage.attemptId(), 1000)
            for number in range(tasks.size()):
                metrics = tasks.apply(number).taskMetrics()
                if metrics.isDefined():
                    shuffled = max(shuffled, int(metrics.get().shuffleReadMetrics().recordsRead()))
                    scanned = max(scanned, int(metrics.get().inputMetrics().recordsRead()))
    return shuffled, scanned


def newest_stage(spark: SparkSession) -> int:
    """The greatest number of a stage so far."""
    return max((stage.stageId() for stage in stages(spark)), default=-1)


@pytest.mark.parametrize(
    "window",
    [
        {"fixed": {"size": "1m"}},
        {"calendar": {"unit": "day"}},
        {"sliding": {"size": "1m", "period": "30s"}},
        {"cumulative": {"size": "1m", "step": "30s"}},
        {"sessions": {"gap": "10s"}},
        {"record": {"difference": "2s"}},
    ],
    ids=lambda window: next(iter(window)),
)
def test_half_of_all_rows_are_of_one_key(spark: SparkSession, tmp_path: Path, window: dict[str, Any]) -> None:
    made, before = skewed(tmp_path, window), newest_stage(spark)
    run(made, spark, once=True, drain=True)
    current = spark.read.format("delta").load(str(tmp_path / "lake" / "sums" / "current"))
    assert current.where("k = 'most'").groupBy().sum("n").collect()[0][0] >= ROWS // 2
    shuffled, scanned = most_read(spark, before)
    assert 0 < shuffled < ROWS // 10, "a task with all rows of the key would read half of them"
    assert 0 < scanned <= ROWS // 2, "each of the two files has a task of its own"
