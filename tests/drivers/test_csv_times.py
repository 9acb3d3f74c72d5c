"""Times of CSV files as people write them, from the files to the tables: by a pattern, and in two columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lake import table
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time

LINES = [
    "day;clock;k",
    "30.03.2025;00:30;a",
    "30.03.2025;03:30;a",
    "30.03.2025;03:59;b",
    "31.03.2025;noon;a",
    "Total;3",
]


def pipeline(root: Path, copy: bool) -> Pipeline:
    source = {
        "name": "rows", "files": {"path": str(root / "data"), "format": "csv", "separator": ";", "copy": copy},
        "schema": "day string, clock string, k string", "watermark": {"bounded_delay": "0s"},
        "event_time": {"column": "day", "time_of_day": "clock", "format": "dd.MM.yyyy HH:mm", "zone": "Europe/Berlin"},
    }  # fmt: skip
    stage: dict[str, Any] = {
        "name": "counts", "keys": ["k"], "window": {"fixed": {"size": "1h"}}, "trigger": {"repeat": {"after_count": 1}},
        "aggregates": {"number": {"count": "*"}},
    }  # fmt: skip
    return Pipeline.from_mapping({"pipeline": "p", "lake": str(root / "lake"), "sources": [source], "stages": [stage]})


@pytest.mark.parametrize("copy", [True, False], ids=["copied", "in place"])
def test_the_date_and_the_time_of_day_are_read_from_two_columns(spark, tmp_path: Path, copy: bool) -> None:
    """The clocks of Berlin are put forward in that night; a time that is none, and a total, are dead letters."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "1.csv").write_text("\n".join([*LINES, ""]))
    made = pipeline(tmp_path, copy)
    run(made, spark, once=True, drain=True)
    rows = table(spark, tmp_path, "current", "counts").selectExpr("k", "unix_micros(window_start)", "number").collect()
    found = {(k, start): number for k, start, number in rows}
    hours = {("a", "2025-03-29T23:00:00Z"): 1, ("a", "2025-03-30T01:00:00Z"): 1, ("b", "2025-03-30T01:00:00Z"): 1}
    assert found == {(k, parse_time(start)): number for (k, start), number in hours.items()}
    letters = table(spark, tmp_path, "dead_letters", "rows").collect()
    said = {row["reason"]: row["rule"] for row in letters}
    assert said["bad_timestamp"] == "day and clock is an event time (dd.MM.yyyy HH:mm)"
    assert sorted(said) == ["bad_timestamp", "unreadable"]
    assert reconcile(made, spark)[0].equal
