"""Sketches: nothing else in a stage, and how near their estimates are. Beside a count, see `test_contract`."""

from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, table, write_files
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.stage import Stage
from windrow.spec.times import DAY, parse_time
from windrow.spec.transcripts.cases import Step, TranscriptElement
from windrow.testing.memory.stage import MemoryStage

START = parse_time("2024-01-01T00:00:00Z")
SKETCHES: dict[str, Any] = {
    "about": {"approx_count_distinct": "v"},
    "ranks": {"quantiles": {"of": "v", "at": [0.5]}},
    "frequent": {"approx_top": {"of": "v", "count": 2}},
}


@pytest.mark.long
def test_a_stage_that_has_nothing_else_restates_late_rows(spark, tmp_path: Path) -> None:
    """Nothing of its windows is compared but that they are there."""
    only = pipeline(tmp_path, allowed_lateness="0s", aggregates=SKETCHES, derive={})
    for files in (range(2), range(2, 4)):
        write_files(tmp_path / "data", files)
        run(only, spark, once=True)
    run(only, spark, once=True, drain=True)
    (before,) = reconcile(only, spark)
    assert before.equal and before.late_windows > 0 and before.not_compared == tuple(SKETCHES)
    (result,) = backfill(only, spark, START, START + DAY)
    assert result.changed + result.inserted == before.late_windows
    (again,) = backfill(only, spark, START, START + DAY)
    assert again.tick is None
    shown = table(spark, tmp_path, "current").where("about > 0 and size(frequent) > 0 and size(ranks) = 1")
    assert not shown.isEmpty()


def test_estimates_stay_within_their_bounds_over_ticks(spark) -> None:
    fields = {
        "name": "s",
        "window": {"fixed": {"size": "10s"}},
        "aggregates": {
            "about": {"approx_count_distinct": "v"},
            "ranks": {"quantiles": {"of": "v", "at": [0.1, 0.5, 0.9]}},
            "frequent": {"approx_top": {"of": "if(v % 2 = 0, 0, v)", "count": 1}},
        },
    }
    memory = MemoryStage.of(spark, Stage.from_mapping(fields), Schema.parse("v bigint"), None)
    number, panes = 6000, []
    for tick in range(3):
        added = tuple(TranscriptElement(1, None, {"v": v}) for v in range(tick, number, 3))
        panes = memory.step(Step(added, 10_000_000 if tick == 2 else None, None, None, (), None, None)).panes
    (pane,) = panes
    assert pane["about"] == pytest.approx(number, rel=0.05)
    for rank, value in zip([0.1, 0.5, 0.9], pane["ranks"], strict=True):
        assert value / number == pytest.approx(rank, abs=0.03)
    assert pane["frequent"][0]["item"] == 0 and pane["frequent"][0]["count"] == pytest.approx(number / 2, rel=0.01)
