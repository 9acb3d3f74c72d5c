"""`windrow diff`: which windows of two lakes differ and by how much, read without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.cli.command import windrow as command
from tests.cli.test_without_spark import COMMANDS, SCHEMA, child, of_current
from tests.cli.test_wrong_input import refused, write

ROWS = [of_current("b", 0), of_current(None, 1), of_current("a", 0)]


def lake(root: Path, name: str, rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> Path:
    write_deltalake(root / name / "sums" / "current", pa.Table.from_pylist(rows, schema))
    return root / name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lake(tmp_path, "lake", ROWS)
    return write(tmp_path)


def test_the_windows_that_differ_with_both_values(file: Path, tmp_path: Path) -> None:
    """A null key is equal to itself, and floating-point numbers may be a little apart."""
    changed = [
        {**ROWS[0], "num": 5, "middle": 0.5 * (1 + 1e-12)},
        {**ROWS[1], "tick": 9, "timing": "late", "pane_index": 3},
        of_current("z", 4),
    ]
    other = lake(tmp_path, "other", changed)
    found = command("diff", file, "--against", other)
    assert (found.code, found.err) == (1, "")
    assert "sums: 3 windows of 4 differ: 1 only here, 1 only there, 1 different (not compared: twice)" in found.out
    assert "num differs in 1 window, by 5 at most" in found.out and "middle differs" not in found.out
    lines = [line.split() for line in found.out.splitlines()]
    assert ["b", "2024-01-01", "00:00", "-", "01:00", "num", "5", "0", "-5"] in lines
    (one,) = command("diff", file, "--against", other, "--json").json
    assert (one["only_here"], one["only_there"], one["different"], one["windows"]) == (1, 1, 1, 4)
    assert one["columns"] == [{"name": "num", "windows": 1, "greatest": 5}]
    assert [row["key"]["k"] for row in one["differing"]] == ["a", "b", "z"]
    assert one["differing"][0]["there"] is None and one["differing"][2]["here"] is None


def test_equal_lakes_and_a_span(file: Path, tmp_path: Path) -> None:
    other = lake(tmp_path, "other", [*ROWS, of_current("a", 5)])
    assert command("diff", file, "--against", other).code == 1
    found = command("diff", file, "--against", other, "--to", "2024-01-01T05:00:00Z")
    assert found.code == 0 and "sums: equal: 3 windows" in found.out
    found = command("diff", file, "--against", other, "--from", "2024-01-01T05:00:00Z", "--json")
    assert found.code == 1 and found.json[0]["only_there"] == found.json[0]["windows"] == 1


def test_many_windows_are_counted_and_the_first_are_named(file: Path, tmp_path: Path) -> None:
    other = lake(tmp_path, "other", [of_current("c", hour) for hour in range(50)])
    found = command("diff", file, "--against", other)
    assert "53 windows of 53 differ: 3 only here, 50 only there" in found.out and "the first 20:" in found.out
    assert len(command("diff", file, "--against", other, "--json").json[0]["differing"]) == 20


def test_what_cannot_be_compared(file: Path, tmp_path: Path) -> None:
    refused(command("diff", file), "--against is missing", "or --generation N")
    refused(command("diff", file, "--against", tmp_path, "--generation", 1), "--against does not go with --generation")
    refused(command("diff", file, "--against", tmp_path / "no"), "stages.sums has not run in this lake", "no")
    refused(command("diff", file, "--generation", 3), "--generation names a generation", "no journal of sums; got 3")
    renamed = [{**{name: value for name, value in row.items() if name != "k"}, "j": row["k"]} for row in ROWS]
    other = lake(tmp_path, "other", renamed, SCHEMA.set(0, pa.field("j", pa.string())))
    refused(command("diff", file, "--against", other), "stages.sums has other keys in", '"k"')


def test_without_spark(file: Path, tmp_path: Path) -> None:
    import json

    other = lake(tmp_path, "other", ROWS)
    ((code, out, err),) = json.loads(child(COMMANDS, json.dumps([["diff", str(file), "--against", str(other)]])))
    assert (code, err) == (0, "") and "equal: 3 windows" in out
