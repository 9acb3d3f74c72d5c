"""What all ticks have counted is in each commit of a journal: whoever looks reads one control row of many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crash.runner import upkeep
from tests.lake import pipeline, write_files
from windrow.drivers.inspect.status.control_rows import _added_up
from windrow.drivers.inspect.status.status import status
from windrow.drivers.stream.stream import run
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.location import Location
from windrow.store.journal.control import CONTROL
from windrow.store.journal.totals import TOTALS
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables

COLUMNS = ("tick", LogColumn.CONTROL)


def journal_of(root: Path) -> Path:
    return root / "lake" / "sums" / "journal" / "1"


def commits(root: Path) -> list[Path]:
    return sorted((journal_of(root) / "_delta_log").glob("0*.json"))


def newest_control(root: Path) -> Path:
    """The file of the newest control row."""
    actions = [json.loads(line) for line in commits(root)[-1].read_text().splitlines()]
    (path,) = [one["add"]["path"] for one in actions if "add" in one and f"_kind={CONTROL}" in one["add"]["path"]]
    return journal_of(root) / path


def forget_totals(root: Path) -> None:
    """As if an earlier version had made the journal."""
    for file in commits(root):
        actions = [json.loads(line) for line in file.read_text().splitlines()]
        info = actions[0]["commitInfo"]
        notes = json.loads(info.get("userMetadata") or "{}")
        if notes.pop(TOTALS, None) is not None:
            info["userMetadata"] = json.dumps(notes)
        file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


def newest_rows(tables: ArrowTables | SparkTables, root: Path) -> list[dict[str, object]]:
    table = tables.open(Location(str(journal_of(root))))
    assert table is not None
    return [row for batch in table.newest_rows(COLUMNS, CONTROL, "tick") for row in batch.to_pylist()]


@pytest.fixture
def root(spark, tmp_path: Path) -> Path:
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path), spark, once=True)
    return tmp_path


def test_status_needs_the_newest_control_row_only(root: Path) -> None:
    before = status(pipeline(root))
    assert before[1][0].adds_up and before[1][0].tick >= 3
    kept = newest_control(root)
    others = [file for file in kept.parent.glob("*.parquet") if file != kept]
    assert len(others) >= 2
    for file in others:
        file.unlink()
    assert status(pipeline(root)) == before


def test_a_journal_of_an_earlier_version_is_added_up_once(spark, root: Path) -> None:
    before = status(pipeline(root))
    forget_totals(root)
    assert status(pipeline(root)) == before
    write_files(root / "data", range(3, 4))
    run(pipeline(root), spark, once=True)
    journal = ArrowTables().open(Location(str(journal_of(root))))
    assert journal is not None
    assert journal.notes()[TOTALS] == dict(_added_up(journal)[1])
    assert status(pipeline(root))[1][0].adds_up


def test_the_newest_rows_are_the_same_for_every_reader(spark, root: Path) -> None:
    rows = newest_rows(ArrowTables(), root)
    assert len(rows) == 1 and rows == newest_rows(SparkTables(spark), root)
    assert json.loads(str(rows[0][LogColumn.CONTROL]))["tick"] == rows[0]["tick"]


@pytest.mark.long
def test_the_newest_rows_are_found_where_maintenance_has_put_them(spark, root: Path) -> None:
    rows, file = newest_rows(ArrowTables(), root), newest_control(root)
    upkeep(root, spark, 0)
    assert not file.exists()
    assert newest_rows(ArrowTables(), root) == rows == newest_rows(SparkTables(spark), root)
    assert status(pipeline(root))[1][0].adds_up
