"""The plan of a tick is that of the tick before: what differs in every tick is no part of the code that Spark makes."""

from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork

KINDS: dict[str, dict[str, Any]] = {
    "fixed": {}, "at the end": {"trigger": "default", "window": {"fixed": {"size": "1m"}}},
    "sessions": {"window": {"sessions": {"gap": "20s"}}},
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["fixed", *(pytest.param(one, marks=pytest.mark.long) for one in KINDS if one != "fixed")]
)
def test_a_tick_runs_code_that_was_compiled_before(spark, compiled, tmp_path: Path, kind: str) -> None:
    files = 8
    write_files(tmp_path / "data", range(files))
    unlike_any_other = {"num": {"count": "*"}, "a": {"sum": "v + 11"}, "b": {"mean": "v - 13"}, "c": {"max": "v * 17"}}
    work = PipelineWork.open(pipeline(tmp_path, aggregates=unlike_any_other, derive={}, **KINDS[kind]), spark)
    work.landings[0].run()
    (stage,) = work.stages
    head = stage.runner.upstream.head(spark)
    compilations = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics
    compiled = []
    for _ in range(files):
        before = compilations.METRIC_COMPILATION_TIME().getCount()
        assert stage.runner.advance(head) is not None
        compiled.append(compilations.METRIC_COMPILATION_TIME().getCount() - before)
    assert compiled[0] > 0 and sum(count > 0 for count in compiled[3:]) <= 1, compiled
