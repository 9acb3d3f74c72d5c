"""A published example as an end-to-end run with Delta tables: sessions of a minute that merge, with retractions.

From the Dataflow model patent (figure 6J): the scores of one key, their event times and times of arrival, and the
watermark as the figure draws it. Rows without a score only tell the time.
"""

import json
import os
from pathlib import Path

import pytest

from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline

DAY = "2000-01-01T"
ARRIVALS: tuple[tuple[str, str | None, int | None, str | None], ...] = (
    ("12:05:00", None, None, "12:00:00"),
    ("12:05:10", "12:00:30", 5, None),
    ("12:05:40", "12:02:15", 7, None),
    ("12:06:00", None, None, "12:01:00"),
    ("12:06:10", "12:03:20", 3, None),
    ("12:06:20", None, None, "12:02:00"),
    ("12:06:30", "12:03:50", 4, None),
    ("12:06:50", "12:04:40", 3, None),
    ("12:07:00", None, None, "12:03:00"),
    ("12:07:10", "12:03:05", 8, None),
    ("12:07:30", None, None, "12:05:40"),
    ("12:07:40", "12:06:10", 3, None),
    ("12:08:00", None, None, "12:06:00"),
    ("12:08:10", "12:01:20", 9, None),
    ("12:08:30", "12:06:50", 8, None),
    ("12:08:50", "12:07:30", 1, None),
    ("12:09:00", None, None, "12:08:30"),
)  # fmt: skip
"""When a row came, its event time and score, and the watermark behind it."""

EMITTED = {
    "12:06:00": [("insert", 5), ("insert", 7)],
    "12:07:00": [("insert", 10)],
    "12:07:30": [("delete", 7), ("delete", 10), ("insert", 25)],
    "12:08:00": [("insert", 3)],
    "12:08:10": [("delete", 5), ("delete", 25), ("insert", 39)],
    "12:09:00": [("delete", 3), ("insert", 12)],
}


def write_files(folder: Path) -> None:
    """A file for each arrival, so that each is a tick."""
    folder.mkdir()
    for number, (arrived, at, score, watermark) in enumerate(ARRIVALS):
        row = {"k": "a", "v": score, "at": f"{DAY}{at or arrived}Z", "arrived": f"{DAY}{arrived}Z"}
        if watermark is not None:
            row["watermark"] = f"{DAY}{watermark}Z"
        path = folder / f"{number:02}.json"
        path.write_text(json.dumps(row) + "\n")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def scores(root: Path) -> Pipeline:
    until = {"repeat_until": {"repeat": {"at_period": {"period": "1m"}}, "until": {"at_watermark": {}}}}
    source = {
        "name": "scores", "files": {"path": str(root / "in"), "max_files_per_batch": 1},
        "schema": "k string, v long, at string, arrived string, watermark string",
        "event_time": {"column": "at", "format": "iso8601"}, "arrival_time": {"column": "arrived", "format": "iso8601"},
        "watermark": {"punctuated": "to_timestamp(watermark)"},
    }  # fmt: skip
    stage = {
        "name": "totals", "where": "v is not null", "keys": ["k"], "window": {"sessions": {"gap": "1m"}},
        "trigger": {"sequence_of": [until, {"repeat": {"at_watermark": {}}}]},
        "accumulation": "retracting", "allowed_lateness": "1h", "aggregates": {"total": {"sum": "v"}},
    }  # fmt: skip
    lake = str(root / "lake")
    return Pipeline.from_mapping({"pipeline": "figure", "lake": lake, "sources": [source], "stages": [stage]})


@pytest.mark.long
def test_sessions_that_were_shown_too_early_are_retracted(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "in")
    made = scores(tmp_path)
    run(made, spark, once=True, drain=True)
    folder = tmp_path / "lake" / "totals"
    panes = spark.read.format("delta").load(str(folder / "panes"))
    clock = "date_format(produced_at, 'HH:mm:ss') AS clock"
    rows = panes.selectExpr("tick", "change", "total", "pane_index", clock).orderBy("tick", "change", "total")
    emitted: dict[str, list[tuple[str, int]]] = {}
    for row in rows.collect():
        emitted.setdefault(row["clock"], []).append((row["change"], row["total"]))
        assert row["pane_index"] == 0
    assert emitted == EMITTED
    current = spark.read.format("delta").load(str(folder / "current")).orderBy("window_start")
    bounds = [f"date_format(window_{side}, 'HH:mm:ss') AS {side}" for side in ("start", "end")]
    assert [tuple(row) for row in current.selectExpr(*bounds, "total").collect()] == [
        ("12:00:30", "12:05:40", 39),
        ("12:06:10", "12:08:30", 12),
    ]
    (result,) = reconcile(made, spark)
    assert result.equal and result.late_rows == 0 and result.windows == 2
