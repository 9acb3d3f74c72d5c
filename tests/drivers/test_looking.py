"""Who looks at a lake starts no JVM, and sees what Spark sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import windrow as package
from tests.cli.command import windrow
from tests.lake import BEHIND, VIEWS, pipeline, write_files
from windrow.compile.panes.panes import TIMINGS
from windrow.drivers.inspect.report import report_in
from windrow.drivers.inspect.show.show import shown_in
from windrow.drivers.inspect.show.wanted import Wanted
from windrow.drivers.inspect.status.status import status_in
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.waiting import waiting_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.spark.session import working_session
from windrow.drivers.stream.stream import run
from windrow.engine.tick.admission import Admission
from windrow.engine.windows.registry import strategy_of
from windrow.spec.errors import NotReadable
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import SECOND
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables
from windrow.view.status import status_mapping

FILES = 3

STAGES: list[dict[str, Any]] = [
    {
        "name": "minutes", "from": "sums", "keys": ["k"], "window": {"fixed": {"size": "1m"}},
        "aggregates": {"n": {"sum": "num"}}, "allowed_lateness": "60s",
    },
    {
        "name": "sliding", "from": "clicks", "keys": ["k", {"half": "v / 2"}],
        "window": {"sliding": {"size": "2m", "period": "15s"}}, "aggregates": {"n": {"count": "*"}},
    },
    {
        "name": "visits", "from": "views", "keys": [{"both": "array(k, cast(v > 3 as string))"}],
        "window": {"sessions": {"gap": "20s"}}, "aggregates": {"n": {"count": "*"}},
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with open windows of several families, a stage that reads a stage, and a landing that nobody has read."""
    root = tmp_path_factory.mktemp("looking")
    for folder in ("data", VIEWS):
        write_files(root / folder, range(FILES))
    (root / BEHIND).write_text(json.dumps(STAGES))
    (root / "pipeline.yaml").write_text(pipeline(root).to_yaml())
    run(pipeline(root), spark, once=True)
    write_files(root / "data", range(FILES, FILES + 1))
    for landing in PipelineWork.open(pipeline(root), spark).landings:
        landing.run()
    return root


@pytest.fixture(scope="module")
def made(lake: Path) -> Pipeline:
    return pipeline(lake)


@pytest.fixture(scope="module")
def with_spark(spark: SparkSession) -> SparkTables:
    return SparkTables(working_session(spark))


def test_both_readers_see_what_a_run_waits_for(made: Pipeline, with_spark: SparkTables) -> None:
    lake, until = Lake.of(made.lake), {stage.name: 0 for stage in made.stages}
    sources = [Arrivals.of(source).looked_at() for source in made.sources]
    found, other = (waiting_in(tables, lake, until, sources) for tables in (ArrowTables(), with_spark))
    assert (found.stages, found.has_new) == (other.stages, other.has_new)
    for one, same in zip(found.sources, other.sources, strict=True):
        assert replace(one, at=None) == replace(same, at=None)
        assert abs((one.at or 0) - (same.at or 0)) < SECOND, "a commit says when it was made, and so does its file"
    landed, stands = status_in(ArrowTables(), made)
    assert [stage.watermark for stage in found.stages] == [stage.watermark for stage in stands]
    assert [source.step for source in found.sources] == [source.batches for source in landed]
    assert found.is_left_to_streams and not any(source.at is None for source in found.sources if source.step)


def test_both_readers_see_the_same(made: Pipeline, with_spark: SparkTables) -> None:
    found = status_in(ArrowTables(), made)
    assert found == status_in(with_spark, made)
    (clicks, views), (sums, minutes, sliding, visits) = found
    assert clicks.files == clicks.batches == FILES + 1 and views.files == FILES and clicks.dead
    assert sums.batches_behind == 1 and sums.rows_behind > 0 and minutes.reads_a_stage and minutes.in_raw > 0
    assert set(sums.timings) == set(TIMINGS) and sums.retracted > 0 and sums.adds_up and minutes.adds_up
    assert sums.open_cells > 0 and sliding.open_cells > 0 and visits.open_cells > 0


def test_the_open_windows_are_those_that_the_engine_forms(spark: SparkSession, made: Pipeline) -> None:
    work = next(one for one in PipelineWork.open(made, spark).stages if one.name == "sliding")
    runner = work.runner
    assert runner.last is not None
    admission = Admission(runner.last.clock.expired_end)
    cells = runner.journal.cells(spark, None, admission.expired_end)
    assert cells is not None
    expected = strategy_of(runner.stage).open_windows(cells, admission).count()
    assert next(one.open_cells for one in status_in(ArrowTables(), made)[1] if one.stage == "sliding") == expected


@pytest.mark.long
def test_reports_are_the_same(made: Pipeline, with_spark: SparkTables) -> None:
    one, other = (report_in(tables, made, None, None, None) for tables in (ArrowTables(), with_spark))
    assert one.charts and one.arrivals == other.arrivals != ()
    assert len(other.versions) > 10 and other.versions.items() <= one.versions.items(), (
        "Delta may know of a table later"
    )
    assert replace(one, made_at=0, versions={}) == replace(other, made_at=0, versions={})


@pytest.mark.parametrize(
    ("stage", "keys"),
    [("sums", {}), ("sums", {"k": "a"}), ("sliding", {"half": "1.5"}), ("sliding", {"half": "2.0", "k": "null"}),
     ("visits", {"both": "[a, false]"}), ("visits", {"both": "[null, true]"}), ("sliding", {"half": "many"})],
    ids=str,
)  # fmt: skip
def test_the_rows_of_keys_are_the_same(
    made: Pipeline, with_spark: SparkTables, stage: str, keys: dict[str, str]
) -> None:
    for panes in (False, True):
        wanted = Wanted(made.stage(stage), panes, keys, None, 1000)
        one, other = (shown_in(tables, made, wanted) for tables in (ArrowTables(), with_spark))
        assert one[1] == other[1] == len(one[0]) and bool(one[0]) == ("many" not in keys.values())
        assert sorted(one[0], key=repr) == sorted((tuple(row) for row in other[0]), key=repr)


COMMANDS = """
import sys
from windrow.cli import main

sys.argv = ["windrow", *sys.argv[1:]]
try:
    main()
finally:
    print(sorted({"pyspark", "py4j", "pandas"} & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "command", [("status", "--json"), ("show", "sums"), ("report",), ("plan",), ("watch", "--once")], ids=" ".join
)
def test_no_jvm_starts(lake: Path, made: Pipeline, command: tuple[str, ...]) -> None:
    name, *options = command
    call = [sys.executable, "-c", COMMANDS, name, str(lake / "pipeline.yaml"), *options]
    environment = {**os.environ, "JAVA_HOME": "/nowhere", "WINDROW_MASTER": "none"}
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, cwd=lake, env=environment)
    assert done.returncode == 0 and done.stderr == "[]\n", done.stderr
    if name == "status":
        assert json.loads(done.stdout) == json.loads(json.dumps(status_mapping(*status_in(ArrowTables(), made))))


def test_a_lake_that_only_hadoop_knows_is_read_with_spark(
    spark: SparkSession, lake: Path, made: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotReadable, match="without Spark"):
        package.status(replace(made, lake="hdfs://nowhere/lake"))
    opened: list[object] = []
    monkeypatch.setattr(SparkTables, "open", _noting(opened, SparkTables.open))
    expected = windrow("status", lake / "pipeline.yaml").out
    assert "Stage sliding" in expected and not opened
    monkeypatch.setattr("windrow.store.reading.arrow.SCHEMES", frozenset())
    assert windrow("status", lake / "pipeline.yaml").out == expected and opened
    monkeypatch.undo()
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    with pytest.raises(NotReadable, match="on which file system"):
        package.status(made)
    assert package.status(made, spark)  # whose configuration says that it is this machine's


def _noting(opened: list[object], do: Any) -> Any:
    def noted(self: SparkTables, location: object) -> object:
        opened.append(location)
        return do(self, location)

    return noted
