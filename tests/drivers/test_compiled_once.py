"""The plan of a tick is that of the tick before: what differs in every tick is no part of the code that Spark makes."""

from pathlib import Path

from tests.lake import pipeline, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork


def test_a_tick_runs_code_that_was_compiled_before(spark, compiled, tmp_path: Path) -> None:
    files = 7
    write_files(tmp_path / "data", range(files))
    unlike_any_other = {"num": {"count": "*"}, "a": {"sum": "v + 11"}, "b": {"mean": "v - 13"}, "c": {"max": "v * 17"}}
    work = PipelineWork.open(pipeline(tmp_path, aggregates=unlike_any_other, derive={}), spark)
    work.landings[0].run()
    (stage,) = work.stages
    head = stage.runner.upstream.head(spark)
    compilations = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics
    compiled = []
    for _ in range(files):
        before = compilations.METRIC_COMPILATION_TIME().getCount()
        assert stage.runner.advance(head) is not None
        compiled.append(compilations.METRIC_COMPILATION_TIME().getCount() - before)
    assert compiled[0] > 0 and min(compiled[3:]) <= 1, compiled
