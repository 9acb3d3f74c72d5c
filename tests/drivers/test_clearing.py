"""Stages whose triggers decide what is cleared, and those with percentiles, on a lake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, table, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import NotInThisVersion
from windrow.spec.times import DAY, parse_time

START = parse_time("2024-01-01T00:00:00Z")
MIXED: dict[str, Any] = {
    "trigger": {
        "after_watermark": {
            "early": {"first_of": [{"after_count": 6, "then": "clear"}, {"after_match": {"where": "v > 6"}}]},
            "late": {"after_count": 1},
        }
    },
    "accumulation": "accumulate_by_default",
    "allowed_lateness": "20s",
    "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}},
    "derive": {},
}


def standing(rows: list[Any]) -> set[tuple[Any, ...]]:
    """The panes that stand after a log of changes: one that replaces another takes its place."""
    shown: set[tuple[Any, ...]] = set()
    for row in sorted(rows, key=lambda row: (row.tick, row.weight)):
        window = (row.k, row.window_start)
        if row.weight < 0:
            shown = {one for one in shown if one[:3] != (*window, row.pane_index)}
            continue
        if row.change == "update_postimage":
            shown = {one for one in shown if one[:3] != (*window, row.pane_index - 1)}
        shown.add((*window, row.pane_index, row.num, row.total, row.most))
    return shown


@pytest.mark.parametrize("retract", [pytest.param(False, marks=pytest.mark.long), True])
def test_current_has_the_panes_that_stand_and_they_make_what_a_batch_gives(
    spark, tmp_path: Path, retract: bool
) -> None:
    mixed = pipeline(tmp_path, **MIXED, retract=retract)
    write_files(tmp_path / "data", range(1))
    run(mixed, spark, once=True)
    write_files(tmp_path / "data", range(3))
    run(mixed, spark, once=True, drain=True)
    panes = table(spark, tmp_path, "panes").collect()
    assert {"insert", "update_postimage"} <= {row.change for row in panes}
    columns = ("k", "window_start", "pane_index", "num", "total", "most")
    current = {tuple(row) for row in table(spark, tmp_path, "current").select(*columns).collect()}
    assert current == standing(panes)
    assert len({one[:2] for one in current}) < len(current)
    (before,) = reconcile(mixed, spark)
    assert before.equal and before.late_rows > 0
    (result,) = backfill(mixed, spark, START, START + DAY)
    assert result.changed > 0
    (after,) = reconcile(mixed, spark)
    assert after.equal and after.late_rows == 0


def test_panes_that_cannot_be_put_together_are_refused_by_name(spark, tmp_path: Path) -> None:
    mixed = pipeline(tmp_path, **{**MIXED, "aggregates": {"middle": {"mean": "v"}}})
    write_files(tmp_path / "data", range(1))
    run(mixed, spark, once=True)
    write_files(tmp_path / "data", range(3))
    run(mixed, spark, once=True, drain=True)
    with pytest.raises(NotInThisVersion, match="of a stage whose panes clear cannot be put together"):
        reconcile(mixed, spark)


def test_the_watermark_of_a_percentile_is_kept_over_a_restart(spark, tmp_path: Path) -> None:
    trigger = {"repeat": {"first_of": [{"at_watermark": {"percentile": 50}}, {"at_watermark": {}}]}}
    made = pipeline(tmp_path, trigger=trigger, accumulation="accumulating")
    made = replace(made, sources=(replace(made.sources[0], partition="v"),))  # many, and some far behind
    seen = []
    for files in (2, 3):
        write_files(tmp_path / "data", range(files))
        run(made, spark, once=True)
        clock = PipelineWork.open(made, spark).stages[0].runner.clock
        seen.append(clock.percentiles[50])
        assert clock.percentiles[50] >= clock.watermark
    assert seen == sorted(seen)
    shares = {row.watermark_percentile for row in table(spark, tmp_path, "panes").where("timing = 'early'").collect()}
    assert shares and min(shares) >= 50
