"""Formulas are fitted and checked, loads and years follow from them, and the page has all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

pytest.importorskip("matplotlib")

from bench.scale import costs, page
from bench.scale.costs import POINTS, Point
from bench.scale.formulas import UNITS, Costs, Formula, _not_below_zero, fit
from bench.scale.needs import BUSY, Load, year_of
from bench.soak.samples import SERIES

TRUE = {
    "landing": (1.0, {"rows": 4e-6}),
    "tick": (0.5, {"rows": 1e-6, "written": 3e-6, "open": 0.5e-6}),
    "tables": (0.2, {"touched": 0.0}),
    "refresh": (0.8, {"touched": 2e-6, "copied": 1e-6}),
    "compaction": (0.6, {"open": 2e-6}),
    "maintenance": (3.0, {"files": 1e-3, "bytes": 1e-8}),
    "repeated": (2.0, {}),
}
"""Fixed seconds and core-seconds a unit, from which the measurements of these tests are made."""


def measured() -> list[dict[str, Any]]:
    """Points as `costs.json` has them."""
    points = []
    for number, point in enumerate(POINTS):
        work = {**point.work, "copied": max(point.open - point.touched, 0), "files": 10 * number**2 + 5}
        work["bytes"] = 1e6 * (number % 3) + point.open * 40
        steps = {}
        for step, (fixed, each) in TRUE.items():
            seconds = fixed + sum(one * work[unit] for unit, one in each.items()) / work["cores"]
            steps[step] = [{"work": work, "seconds": seconds}]
        files = {"journal/1": 3, "panes": 2, "current": 2, "ticks": 1}
        found = {"steps": steps, "files": files, "bytes_each": {"raw row": 21.0, "pane": 14.0}}
        points.append({"name": point.name, "checks": point.checks, "point": point.work, **found})
    return points


def test_the_formulas_are_found_again() -> None:
    costs = Costs.of(measured())
    for step, (fixed, each) in TRUE.items():
        assert costs.formulas[step].fixed == pytest.approx(fixed, rel=1e-3), step
        assert costs.formulas[step].each == pytest.approx(each, rel=1e-3, abs=1e-12), step


def test_points_that_check_are_not_used_and_are_compared() -> None:
    points = measured()
    for point in points:
        if point["checks"]:
            for of_step in point["steps"].values():
                of_step[0]["seconds"] *= 2
    checked = Costs.of(points).checked(points)
    assert len(checked) == 2 * len(UNITS)
    assert all(found / seconds == pytest.approx(0.5, rel=1e-3) for _, _, seconds, found in checked)


def test_no_coefficient_is_below_zero() -> None:
    falling = [({"rows": float(rows), "cores": 1.0}, 2.0 - rows / 1e6) for rows in (1_000, 10_000, 500_000)]
    formula = fit("landing", falling)
    assert formula.each["rows"] == 0 and 1.4 < formula.fixed < 2


def test_the_best_of_all_subsets_is_taken() -> None:
    """The worst coefficient, which is left out first by its size, may be the one that is needed."""
    rows = np.array([[1.0, 1.0, 1000.0], [1.0, 2.0, 3000.0], [1.0, 4.0, 5000.0], [1.0, 8.0, 11000.0]])
    found = np.array(_not_below_zero(rows))
    assert (found >= 0).all()
    off = np.square(rows @ found - 1.0).sum()
    for kept in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        other = np.linalg.lstsq(rows[:, kept], np.ones(4), rcond=None)[0]
        assert other.min() < 0 or off <= np.square(rows[:, kept] @ other - 1.0).sum() + 1e-12


def test_a_refresh_has_to_do_with_all_ticks_of_a_minute() -> None:
    none = {step: Formula(0.0, dict.fromkeys(units, 0.0)) for step, units in UNITS.items()}
    costs = Costs({**none, "refresh": Formula(0.0, {"touched": 1e-6, "copied": 0.0})})
    often, seldom = Load(1e9, 1e7, 10), Load(1e9, 1e7, 60)
    assert often.seconds(costs, 1, 0.0) == pytest.approx(seldom.seconds(costs, 1, 0.0) / 6)
    compacts = Costs({**none, "compaction": Formula(8.0, {"open": 0.0})})
    assert (often.seconds(compacts, 1, 0.0), Load(1e9, 1e7, 3600).seconds(compacts, 1, 0.0)) == (1.0, 0.0)


def test_too_few_measurements_are_refused() -> None:
    with pytest.raises(ValueError, match="1 measurements are too few for 2 coefficients"):
        fit("landing", [({"rows": 1.0, "cores": 1.0}, 1.0)])


def test_a_load_needs_more_cores_the_more_there_is_to_do() -> None:
    costs = Costs.of(measured())
    small, large = Load(1e6, 1e4, 60), Load(1e10, 1e8, 60)
    assert small.rows == pytest.approx(694.4, abs=0.1) and small.touched < small.rows
    few, many = small.cores(costs, 0.0), large.cores(costs, 0.0)
    assert few is not None and many is not None and few < many
    assert large.seconds(costs, many, 0.0) <= BUSY * 60 < large.seconds(costs, many // 2, 0.0)
    more = large.cores(costs, large.open_cells)
    assert more is not None and more >= many


def test_fixed_seconds_are_too_many_for_some_paces() -> None:
    assert Load(1e9, 1e7, 2).cores(Costs.of(measured()), 0.0) is None


def test_a_year_of_ticks() -> None:
    year = year_of(300, {"journal/1": 3, "panes": 2}, 1e6)
    assert (year.ticks, year.commits, year.files) == (105_120, 210_240, 525_600)
    assert year.endless == 2 * (2 * 105_120 + 2102) and year.entries == 2 * (2 * 8640 + 172)
    assert year.kept_files == 1045 + 2 + 288 * 5
    often = year_of(10, {"panes": 2, "current": 4}, 1e6)
    assert (often.commits, often.files) == (3_153_600 + 525_600, 2 * 3_153_600 + 4 * 525_600), "once a minute"


HISTORY = {
    "machine": {"processor": "a processor"}, "apart": 300.0,
    "lengths": [
        {"ticks": ticks, "commits": 7 * ticks, "entries": 1000, "files": 50, "opening": 1.5, "status": 0.5,
         "landing": 0.7, "listing": 1.7, "tick": 0.4, "tables": 0.3, "refresh": 0.9}
        for ticks in (1_000, 100_000)
    ],
}  # fmt: skip
SOAK = {
    "seconds": 7200.0, "period": 600.0, "rows": 1_800_000, "kills": 23, "reads": 700,
    "batches": [{"command": name, "seconds": 20.0, "code": 0} for name in ("backfill", "maintain")],
    "growth": {"memory": 0.02, "files": None}, "wrong": [], "machine": {"cores": 2},
    "series": {name: [[5.0 * n, 1.0 + n % 3] for n in range(1440)] for name in SERIES},
}  # fmt: skip


def test_a_page_of_all_that_was_measured(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    out.mkdir()
    docs.mkdir()
    (out / "costs.json").write_text(json.dumps({"machine": {"cores": 2}, "points": measured()}))
    (out / "history.json").write_text(json.dumps(HISTORY))
    (out / "soak.json").write_text(json.dumps(SOAK))
    text = page.written(out, docs).read_text()
    assert "| landing | 1.00 | 4 |" in text and "| 1m | 694,444 |" in text
    assert "| commits ever made | 7,000 | 700,000 |" in text and "23 kills with -9" in text
    assert "Not measured" not in text
    assert "| memory | +2.0% |" in text and "| files | not known |" in text and "up to 8,000,000 rows a tick" in text
    for name in ("scale-history", "soak"):
        assert (docs / "drawings" / f"{name}.svg").read_text().startswith("<?xml")
    numbers = json.loads((docs / "drawings" / "soak.json").read_text())
    assert len(numbers["series"]["tick"]) <= 400 and numbers["kills"] == 23


def test_the_page_of_the_docs_has_what_was_measured() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "scale.md").read_text()
    assert (
        "## What each step costs" in text
        and "## Files and log entries of a year" in text
        and "## A year of ticks" in text
    )
    assert "## A soak" in text and "Not measured" not in text
    for drawing in ("scale-history.svg", "soak.svg"):
        assert f"(drawings/{drawing})" in text and (docs / "drawings" / drawing).exists()


@pytest.mark.long
def test_a_point_is_measured(spark: SparkSession, tmp_path: Path) -> None:
    found = costs.measured(spark, tmp_path / "costs", Point(rows=2_000, touched=200, open=1_000))
    assert {*found.steps} == {*UNITS} and all(one["seconds"] > 0 for those in found.steps.values() for one in those)
    work = {step: those[-1]["work"] for step, those in found.steps.items()}
    assert all({*units} <= work[step].keys() for step, units in UNITS.items())
    assert work["refresh"]["copied"] == 800, "they are in one file with those that change"
    assert found.files["journal/1"] > found.files["panes"] > 0 and found.files["source's raw"] > 0
    assert found.bytes_each["raw row"] > 1 and not (tmp_path / "costs").exists()


def test_costs_that_are_too_few_are_not_measured_yet(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(json.dumps({"machine": {}, "points": measured()[:2]}))
    assert (
        "Not measured yet, and so not on this page: what each step costs"
        in page.written(tmp_path, tmp_path).read_text()
    )


def test_a_page_of_the_costs_alone(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(json.dumps({"machine": {"cores": 2}, "points": measured()}))
    text = page.written(tmp_path, tmp_path).read_text()
    assert "## A soak" not in text and "## A year of ticks" not in text and "Where it breaks" in text
    assert "Not measured yet, and so not on this page: a year of ticks" in text


def test_a_page_of_nothing_says_so(tmp_path: Path) -> None:
    text = page.written(tmp_path, tmp_path).read_text()
    assert "Not measured yet" in text and "µs" not in text and "Where it breaks" in text
