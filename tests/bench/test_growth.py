"""Growth is measured at every size, and both tables are the same there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import growth
from bench.growth import SHAPES, Line, Sizes

SIZES = Sizes(20_000_000)


def test_sizes_are_those_of_their_names() -> None:
    assert SIZES.history == (100_000, 1_000_000, 10_000_000)
    assert SIZES.open_cells == (10_000, 100_000, 1_000_000) and SIZES.touched == 2000
    assert SIZES.tick_rows == (2000, 20_000, 200_000, 2_000_000) and SIZES.keys == 100_000


@pytest.mark.parametrize("name", SHAPES)
def test_one_tick_more_than_is_counted(name: str) -> None:
    before, ticks = SHAPES[name](replace(SIZES, ticks=5), 1_000_000)
    assert sum(rows.count for rows in before) in (1_000_000, SIZES.keys) and len(ticks) == 6


@pytest.mark.parametrize(("most", "cores"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6])])
def test_cores_are_doubled(most: int, cores: list[int]) -> None:
    assert [*growth._doubled(most)] == cores


@pytest.mark.long
@pytest.mark.spark
def test_growth_is_measured_beside_spark(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes, found = Sizes(20_000, ticks=1), {}
    for name, size in ((growth.HISTORY, 1000), (growth.OPEN_CELLS, 100), (growth.TICK_ROWS, 200)):
        found[name] = Line()
        growth._add(found[name], spark, tmp_path / "root", name, size, *SHAPES[name](sizes, size))
    growth.report(spark, sizes, found, tmp_path / "growth.json")
    assert "speed: in all" in capsys.readouterr().out
    written = json.loads((tmp_path / "growth.json").read_text())["lines"]
    assert {name: line["sizes"] for name, line in written.items()} == {
        growth.HISTORY: [1000], growth.OPEN_CELLS: [100], growth.TICK_ROWS: [200],
    }  # fmt: skip
    for line in written.values():
        ((to_pane,),), ((whole,),), ((other,),) = line["panes"], line["windrow"], line["spark"]
        assert 0 < to_pane < whole and other > 0
