"""Windows that were asserted to be whole stay published, whatever a later batch is asked for."""

from __future__ import annotations

from pathlib import Path

from tests.lake import content, pipeline, table, write_files
from windrow.run.backfill import backfill
from windrow.run.stream import run
from windrow.run.work import PipelineWork
from windrow.spec.times import DAY, MINUTE, parse_time

START = parse_time("2024-01-01T00:00:00Z")
HOUR_ONE = START + 60 * MINUTE


def test_a_wider_early_batch_leaves_them_and_so_does_the_stream_behind_it(spark, tmp_path: Path) -> None:
    """The watermark has not passed their ends."""
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()
    (first,) = backfill(made, spark, START, HOUR_ONE + 2 * MINUTE, whole=True)
    assert first.waiting is None and first.inserted > 0
    before = content(spark, tmp_path, "current")
    (again,) = backfill(made, spark, START, HOUR_ONE + MINUTE)
    assert again.waiting is None and again.tick is None, "what was asserted to be whole does not wait"
    (wider,) = backfill(made, spark, START, START + DAY, early=True)
    assert wider.inserted + wider.changed + wider.withdrawn == 0
    assert content(spark, tmp_path, "current") == before
    run(made, spark, once=True, drain=True)
    assert content(spark, tmp_path, "current") == before
    assert table(spark, tmp_path, "panes").where("weight < 0").isEmpty()
