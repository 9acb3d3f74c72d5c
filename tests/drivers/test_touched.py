"""A tick over many open cells reads those that it touches, which changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from tests.lake import content, pipeline, write_files
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.engine.tick.touched import Touched
from windrow.store.journal import sizes
from windrow.store.journal.journal import Journal

KEYS = {"keys": ["k", {"w": "v"}]}
WINDOWS = {
    "fixed": {"window": {"fixed": {"size": "5m"}}},
    "sliding": {"window": {"sliding": {"size": "60s", "period": "30s"}}},
    "global": {"window": {"global": {}}, "trigger": {"repeat": {"after_count": 3}}, "allowed_lateness": "0s"},
}


OTHERS = [pytest.param(name, marks=pytest.mark.long) for name in WINDOWS if name != "fixed"]


@pytest.mark.parametrize("window", ["fixed", *OTHERS])
def test_a_tick_that_looks_for_its_cells(spark, tmp_path: Path, monkeypatch: Any, window: str) -> None:
    some, all_cells = tmp_path / "some", tmp_path / "all"
    for root in (some, all_cells):
        write_files(root / "data", range(6))
    run(pipeline(all_cells, **KEYS, **WINDOWS[window]), spark, once=True, drain=True)
    monkeypatch.setattr(Journal, "wants_snapshot", lambda self, spark, elements: self.log.last(spark) is None)
    monkeypatch.setattr(sizes, "MANY_CELLS", 1)
    monkeypatch.setattr(sizes, "FAR_MORE", 0)
    looked: list[tuple[int, int]] = []
    of = Touched.of

    def seen(self: Touched, cells: DataFrame) -> DataFrame:
        found = of(self, cells)
        looked.append((cells.count(), found.count()))
        return found

    monkeypatch.setattr(Touched, "of", seen)
    made = pipeline(some, **KEYS, **WINDOWS[window])
    run(made, spark, once=True, drain=True)
    assert any(found < known for known, found in looked)
    for name in ("current", "panes", "dead_letters"):
        assert content(spark, some, name) == content(spark, all_cells, name), name
    assert reconcile(made, spark)[0].equal
