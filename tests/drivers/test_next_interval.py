"""A batch over windows of which none is shown writes what one would that has compared them with what is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.drivers.test_scheduled import START, land, pipeline, table, write_hour
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.publish import commit
from windrow.drivers.recompute.reconcile import reconcile
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR

PANE = "k, window_start, window_end, num, total, change, weight, timing, pane_index, is_last, tick"
SPANS = [(-3, 1, False), (1, 4, False), (4, 6, True), (6, 7, False), (4, 7, False)]
"""The hours of one batch after the other, and whether it shows windows early: from then on all are compared."""
FEW = ("rolling", "corrected")
COMPARED = {"hourly": 2, "rolling": 2, "sessions": 4, "corrected": 2}


def _made(spark, root: Path, names: tuple[str, ...]) -> Pipeline:  # type: ignore[no-untyped-def]
    made = pipeline(root, names)
    for number, (first, last, is_early) in enumerate(SPANS):
        for hour in range(2 * number, 2 * number + 2):
            write_hour(root, hour)
        land(made, spark)
        backfill(made, spark, START + first * HOUR, START + last * HOUR, early=is_early)
    return made


def _panes(spark, made: Pipeline, stage: str, name: str) -> list[tuple[Any, ...]]:  # type: ignore[no-untyped-def]
    columns = PANE if name == "panes" else PANE.replace("change, weight, ", "")
    return sorted(map(tuple, table(spark, made, stage, name).selectExpr(*columns.split(", ")).collect()), key=repr)


@pytest.mark.parametrize("names", [FEW, pytest.param(tuple(COMPARED), marks=pytest.mark.long)])
def test_it_writes_the_same(  # type: ignore[no-untyped-def]
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    counts = dict.fromkeys(names, 0)
    compares = commit.compared

    def counted(work, item, *others):  # type: ignore[no-untyped-def]
        counts[item.name] += 1
        return compares(work, item, *others)

    monkeypatch.setattr(commit, "compared", counted)
    made = _made(spark, tmp_path / "one", names)
    assert counts == {stage: COMPARED[stage] for stage in names}
    monkeypatch.setattr(commit, "_is_unshown", lambda item, scope: commit._is_first(item.runner.last))
    other = _made(spark, tmp_path / "other", names)
    assert all(count > COMPARED[stage] for stage, count in counts.items())
    for stage in names:
        for name in ("panes", "current"):
            ours = _panes(spark, made, stage, name)
            assert ours and ours == _panes(spark, other, stage, name), (stage, name)
    assert all(found.equal and found.late_rows == 0 for found in reconcile(made, spark))
