"""A discarding stage: its panes, put together, are what a batch gives."""

from pathlib import Path

from tests.lake import pipeline, table, write_files
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run

AGGREGATES = {
    "num": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}, "some": {"any": "v > 8"},
    "every": {"all": "v > -3"}, "kinds": {"collect_set": "v"}, "largest": {"top": {"of": "v", "count": 3}},
    "buckets": {"histogram": {"of": "v", "bounds": [0, 5]}},
}  # fmt: skip


def test_panes_of_a_window_are_put_together(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(4))
    parts = pipeline(tmp_path, accumulation="discarding", aggregates=AGGREGATES, derive={})
    run(parts, spark, once=True, drain=True)
    panes = table(spark, tmp_path, "current").groupBy("k", "window_start").count()
    assert not panes.where("count > 1").isEmpty()
    (result,) = reconcile(parts, spark)
    assert result.equal and result.windows > 0
