"""The plan of a tick is that of the tick before: what differs in every tick is no part of the code that Spark makes.

So is that of a landing.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, write_files, write_versions
from windrow.drivers.clock import clock_micros
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.spec.pipelines.pipeline import Pipeline

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
    counts = [compilations(spark)]
    for _ in range(files):
        assert stage.runner.advance(head) is not None
        counts.append(compilations(spark))
    assert counts[1] > counts[0], "it was compiled, and not by another test"
    check(counts)


@pytest.mark.parametrize("connector", ["files", pytest.param("delta", marks=pytest.mark.long)])
def test_a_landing_runs_code_that_was_compiled_before(spark, compiled, tmp_path: Path, connector: str) -> None:
    batches, counts = 8, []

    def clock() -> int:
        counts.append(compilations(spark))
        return clock_micros()

    if connector == "delta":
        write_versions(spark, tmp_path, range(batches))
    write_files(tmp_path / "data", range(batches))
    document = pipeline(tmp_path).to_mapping()
    (source,) = document["sources"]
    source[connector] = {**source[connector], "copy": True}
    (landing,) = PipelineWork.open(Pipeline.from_mapping(document), spark, clock=clock).landings
    landing.run()
    assert len(counts) == batches
    check([*counts, compilations(spark)])


def compilations(spark) -> int:
    """How often Spark has compiled so far."""
    return int(spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME().getCount())


def check(counts: list[int]) -> None:
    compiled = [after - before for before, after in pairwise(counts)]
    assert sum(count > 0 for count in compiled[3:]) <= 1, compiled
