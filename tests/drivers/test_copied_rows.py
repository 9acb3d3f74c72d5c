"""A MERGE copies what is in one file with the rows that it changes: that is no more for a table that is older."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from bench.scale.opening import check_current
from bench.scale.simulation import KEYS, Stepping
from windrow.store.projections import current

TICKS = 9


def copied(root: Path) -> list[int]:
    """The rows that each MERGE of `current` has copied."""
    found = []
    for commit in reversed(DeltaTable(str(root / "lake" / "changes" / "current")).history()):
        if commit["operation"] == "MERGE":
            found.append(int(commit["operationMetrics"]["numTargetRowsCopied"]))
    return found


@pytest.mark.parametrize("splits", [False, True])
def test_rows_that_are_copied(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, splits: bool) -> None:
    monkeypatch.setattr(current, "WORTHWHILE", 0 if splits else 10**9)
    monkeypatch.setattr(current, "FAR_MORE", 1)
    stepping = Stepping.open(spark, tmp_path)
    for _ in range(TICKS):
        stepping.step()
    check_current(tmp_path)
    found = copied(tmp_path)
    assert len(found) >= TICKS - 2
    if splits:
        assert max(found) <= 4 * KEYS, found
        operations = [one["operation"] for one in DeltaTable(str(tmp_path / "lake/changes/current")).history()]
        assert "OPTIMIZE" in operations
    else:
        assert found[-1] >= (TICKS - 3) * KEYS, "without it they grow with every tick"
    again = Stepping.open(spark, tmp_path)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    again.step()
    check_current(tmp_path)
    log = tmp_path / "lake" / "changes" / "current" / "_delta_log"
    sums = json.loads(max(log.glob("0*.crc")).read_text())
    table = DeltaTable(str(log.parent))
    assert sums["numFiles"] == len(table.file_uris())
