"""A tick may write all open cells, so that none before it is read: what people read is the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.lake import pipeline, write_files
from windrow.compile.cells import merging as merging_cells
from windrow.compile.cells import state
from windrow.drivers.clock import clock_micros
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.maintain.maintain import Maintenance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.windows import merging
from windrow.store.journal import sizes
from windrow.store.journal.journal import Journal

FILES = 6
SESSIONS: dict[str, Any] = {"window": {"sessions": {"gap": "7s"}}}
AT_END: dict[str, Any] = {"trigger": "at_watermark", "accumulation": "accumulating", "allowed_lateness": "0s"}
STAGES: dict[str, dict[str, Any]] = {
    "windows": {},
    "sessions": SESSIONS,
    "sessions at their end": {**SESSIONS, **AT_END},
    "discarded sessions at their end": {**SESSIONS, **AT_END, "accumulation": "discarding"},
    "cumulative": {"window": {"cumulative": {"size": "60s", "step": "15s"}}},
}


def opened(spark: SparkSession, root: Path, **fields: Any) -> StageWork:
    """The stage over files that have landed, one a batch."""
    if not (root / "data").exists():
        write_files(root / "data", range(FILES))
    work = PipelineWork.open(pipeline(root, **fields), spark)
    work.landings[0].run()
    (item,) = work.stages
    item.catch_up()
    return item


def advanced(item: StageWork, ticks: int = FILES) -> None:
    runner = item.runner
    for _ in range(ticks):
        item.ticked(runner.advance(runner.upstream.head(runner.spark)))
    item.project()


def panes_of(spark: SparkSession, root: Path, *, but_for: tuple[str, ...] = ("produced_at", "writer")) -> list[str]:
    rows = spark.read.format("delta").load(str(root / "lake" / "sums" / "panes"))
    return sorted(str(row) for row in rows.drop(*but_for).collect())


def open_cells(spark: SparkSession, root: Path) -> list[int]:
    rows = spark.read.format("delta").load(str(root / "lake" / "sums" / "ticks"))
    return [row["open_cells"] for row in rows.orderBy("tick").collect()]


def decide(monkeypatch: pytest.MonkeyPatch, decisions: Iterator[bool]) -> None:
    monkeypatch.setattr(Journal, "wants_snapshot", lambda *_: next(decisions))


OTHERS = [pytest.param(fields, marks=pytest.mark.long, id=name) for name, fields in STAGES.items() if name != "windows"]


@pytest.mark.parametrize("fields", [pytest.param(STAGES["windows"], id="windows"), *OTHERS])
def test_it_does_not_matter_which_ticks_write_all_cells(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    found = {}
    for name, decisions in {"never": [False], "always": [True], "in turns": [True, False, False]}.items():
        decide(monkeypatch, cycle(decisions))
        item = opened(spark, tmp_path / name, **fields)
        advanced(item)
        found[name] = panes_of(spark, tmp_path / name), open_cells(spark, tmp_path / name)
        kept = item.runner.journal.snapshot_in_log(spark)
        assert kept == {"never": 0, "always": FILES, "in turns": 4}[name]
    assert found["never"][0] and found["never"] == found["always"] == found["in turns"]


def test_it_is_written_where_no_more_rows_are_there_than_are_read(spark: SparkSession, tmp_path: Path) -> None:
    item = opened(spark, tmp_path)
    journal = item.runner.journal
    assert journal.wants_snapshot(spark, 0)
    advanced(item, 1)
    rows = journal.rows(spark, 0, 1, "cell", "pane").count()
    assert journal.snapshot_in_log(spark) == 1 and rows > 10
    assert not journal.wants_snapshot(spark, rows - 1) and journal.wants_snapshot(spark, rows)


@pytest.mark.long
@pytest.mark.parametrize(
    "fields",
    [pytest.param(STAGES["windows"], id="windows"), pytest.param(STAGES["sessions at their end"], id="sessions")],
)
def test_maintenance_behind_one_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    """Then the table `cells` and the newest tick both have all open cells."""
    decide(monkeypatch, cycle([True]))
    for name in ("maintained", "calm"):
        for ticks in (2, 1, 3):
            advanced(opened(spark, tmp_path / name, **fields), ticks)
            if name == "maintained":
                made, kept = pipeline(tmp_path / name, **fields), Kept(0, clock_micros)
                list(Maintenance.of(made, spark, kept).run(dry_run=False))
    found = [panes_of(spark, tmp_path / name) for name in ("maintained", "calm")]
    assert found[0] == found[1] and found[0]


@pytest.mark.long
def test_how_many_cells_are_open_is_known_also_behind_maintenance(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It puts the files together that were counted."""
    monkeypatch.setattr(sizes, "MANY_CELLS", 1)
    item = opened(spark, tmp_path)
    advanced(item)
    list(Maintenance.of(pipeline(tmp_path), spark, Kept(0, clock_micros)).run(dry_run=False))
    item.runner.journal.snapshot.location.table(spark).optimize().executeCompaction()
    journal = opened(spark, tmp_path).runner.journal
    assert journal.snapshot_tick(spark) == FILES
    assert sizes.has_far_more(journal, spark, 0) and not journal.wants_snapshot(spark, 0)


@pytest.mark.long
@pytest.mark.parametrize("accumulation", ["retracting", "accumulating", "discarding"])
def test_open_sessions_go_on_where_their_lateness_grows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accumulation: str
) -> None:
    """As if they had been kept with all that a session has which may show panes before its end."""
    fields = {**SESSIONS, **AT_END, "accumulation": accumulation}
    fields["trigger"] = {"after_watermark": {"late": {"after_count": 1}}}
    later = {**fields, "allowed_lateness": "60s"}
    found = []
    for root in (tmp_path / "few", tmp_path / "all"):
        with pytest.MonkeyPatch.context() as patch:
            if root.name == "all":
                for module in (merging, state, merging_cells):
                    patch.setattr(module, "fires_at_end", lambda stage: False)
            advanced(opened(spark, root, **fields), 3)
        advanced(opened(spark, root, **later), 3)
        found.append(panes_of(spark, root))
    few, everything = found
    assert few == everything and few
