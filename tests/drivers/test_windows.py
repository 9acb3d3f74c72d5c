"""Windows that share a start, that depend on the key, and of a user's own: stream and backfill on a real lake."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, table, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.counting import in_windows
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, MINUTE, parse_time

START = parse_time("2024-01-01T00:00:00Z")
FILES = 2
WINDOWS: Mapping[str, Mapping[str, Any]] = {
    "growing": {"cumulative": {"size": "40s", "step": "10s"}},
    "by_key": {"fixed": {"size": "20s", "phase": "by_key"}},
    "own": {"around": {"before": "v", "after": "1000000", "most": "2s"}},
}


def of_windows(root: Path, **fields: Any) -> Pipeline:
    """A stage for each kind of windows, over one source and without lateness, so that rows are late."""
    plain = pipeline(root, allowed_lateness="0s", **fields).to_mapping()
    (stage,) = plain["stages"]
    stages = [{**stage, "name": name, "window": window} for name, window in WINDOWS.items()]
    return Pipeline.from_mapping({**plain, "extensions": ["tests.extensions.windows"], "stages": stages})


@pytest.fixture(scope="module")
def streamed(spark, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("windows")
    write_files(root / "data", range(FILES))
    made = of_windows(root)
    run(made, spark, once=True)
    return root


def test_windows_that_are_open_are_the_streams(spark, streamed: Path) -> None:
    for stage in WINDOWS:
        (result,) = backfill(of_windows(streamed), spark, START, START + DAY, stage, dry_run=True)
        assert result.waiting is not None and result.waiting.windows > 0, stage
        with pytest.raises(SpecError, match="open in the stream"):
            backfill(of_windows(streamed), spark, START, START + DAY, stage, whole=True)


def test_stream_and_batch_agree_but_for_what_is_late_and_a_backfill_takes_that_in(spark, streamed: Path) -> None:
    made = of_windows(streamed)
    run(made, spark, once=True, drain=True)
    for before in reconcile(made, spark):
        assert before.equal and before.late_rows > 0 and 0 < before.late_windows <= before.late_rows, before
        (result,) = backfill(made, spark, START, START + DAY, before.stage)
        assert result.changed + result.inserted == before.late_windows and result.tick is not None
    for after in reconcile(made, spark):
        assert after.equal and after.late_rows == 0 and after.windows > 0, after
    for stage in WINDOWS:
        letters = table(spark, streamed, "dead_letters", stage).where("reason = 'late'")
        assert letters.where("restated_by is null").isEmpty() and not letters.isEmpty()
    counted_by_interval(spark, made)


def counted_by_interval(spark, made: Pipeline) -> None:
    """The rows of the windows that start in an interval are those of these windows, whatever else is near."""
    work = PipelineWork.open(made, spark)
    start = START + HOUR + MINUTE
    for item in work.stages:
        current = table(spark, Path(made.lake).parent, "current", item.name)
        inside = current.where(f"unix_micros(window_start) >= {start} AND unix_micros(window_start) < {start + MINUTE}")
        counts = in_windows(work.spark, item, ((start, start + MINUTE),), item.runner.offsets)
        assert counts["unassigned"] == 0
        assert counts["assigned"] == sum(row.num for row in inside.collect()) > 0, item.name
