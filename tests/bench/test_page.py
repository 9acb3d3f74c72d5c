"""The page of the benchmark is made of what was measured, and has no seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from bench import page

MACHINE = {"processor": "a processor", "cores": 2, "Spark": "4.2.0"}
NEXMARK = {
    "machine": {**MACHINE, "Flink": "2.2.1"},
    "scale": {"title": "1,000 events"},
    "queries": {"q5": "hot items", "q7": "highest bid"},
    "ratios": {
        "speed: q5 windrow / Spark": {"value": 2.0}, "speed: q7 windrow / Spark": {"value": 0.5},
        "speed: q7 windrow / Flink": {"value": 0.25},
    },
    "checks": {"q5 Spark": "equal (7 rows)"},
}  # fmt: skip
BENCH = {
    "machine": MACHINE,
    "scale": {"rows": 1000, "keys": 10, "batches": 2},
    "ratios": {"speed: on time": {"value": 1.5}, "seconds: small tick": {"value": 98.7}},
}
GROWTH = {
    "machine": MACHINE,
    "scale": {},
    "lines": {
        "open cells": {
            "sizes": [10, 100],
            "panes": [[1.5], [3.0]],
            "windrow": [[2.0, 4.0, 3.0], [6.0]],
            "spark": [[3.0], [30.0]],
        }
    },
}


def test_a_page_of_all_that_was_measured(tmp_path: Path) -> None:
    text = page.write({"nexmark": NEXMARK, "bench": BENCH, "growth": GROWTH}, tmp_path).read_text()
    assert "| q7: highest bid | 0.50 | 0.25 |" in text and "| q5: hot items | 2.00 |  |" in text
    assert "| q5 Spark | equal (7 rows) |" in text
    assert "| speed: on time | 1.50 |" in text and "98.7" not in text
    assert "| open cells, few of which a tick touches | 100 | 1.00 | 2.00 | 10.00 | 5.00 |" in text
    assert text.count("Measured with: processor a processor, cores 2, Spark 4.2.0") == 3 and "Flink 2.2.1" in text
    for name in ("nexmark", "spark", "growth"):
        assert f"(drawings/benchmark-{name}.svg)" in text
        assert (tmp_path / "drawings" / f"benchmark-{name}.svg").read_text().startswith("<?xml")


def test_the_same_numbers_give_the_same_plots(tmp_path: Path) -> None:
    pages = [page.write({"growth": GROWTH}, tmp_path / name) for name in ("one", "other")]
    plots = [(made.parent / "drawings" / "benchmark-growth.svg").read_bytes() for made in pages]
    assert plots[0] == plots[1]


def test_without_anything_measured_there_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        page.main(["--out", str(tmp_path), "--docs", str(tmp_path)])
    assert "run `make nexmark` or `make bench` first" in capsys.readouterr().err
