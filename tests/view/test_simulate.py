"""What a simulation says: its front, sentences and plots, from figures that are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.view.browser import check_picture, needs_browser
from windrow.drivers.simulate.pareto import front_of
from windrow.spec.times import HOUR, MINUTE, SECOND
from windrow.spec.words import in_units
from windrow.view.pictures.values import Density, PaneCount
from windrow.view.simulate.findings import AGES, Arrival, Findings, Shown, Simulation, Spread, Suggestion
from windrow.view.simulate.plots import HEIGHT, WIDTH, Choice, Completeness
from windrow.view.simulate.words import choices, lag, share


def findings(name: str, right: int, first: int, panes: int) -> Findings:
    shown = [(age, min(1.0, right / 1000 + age / 1e6)) for age in AGES]
    return Findings(
        name=name, windows=1000, right_at_first=right, right=1000, never=0, to_first=Spread(first, 2 * first),
        to_on_time=Spread(first, 2 * first), to_right=Spread(first, 2 * first), panes=panes, early=0, corrections=0,
        retractions=0, late=3, closed=0, pairs=5000, most_open=12, evaluated=4000, rows=5000, shown_by_age=shown,
    )  # fmt: skip


SLOW, QUICK = findings("delay 2h", 991, 2 * HOUR, 1009), findings("delay 30m", 947, 30 * MINUTE, 1053)
WORSE = findings("<worse>", 940, HOUR, 1100)


def shown(name: str) -> Shown:
    """A watermark an hour behind, and a pane on time for each hour."""
    hours = [n * HOUR for n in range(1, 10)]
    panes = [PaneCount("on_time", hour, hour + HOUR, 3) for hour in hours]
    return Shown(name, [(hour, hour + HOUR) for hour in hours], [*panes, PaneCount("late", HOUR, 4 * HOUR, 1)])


def simulation(*several: Findings) -> Simulation:
    arrival = Arrival(5000, 1000, [(age, 1.0) for age in AGES], [(age, 0.5) for age in AGES])
    return Simulation(
        pipeline="flights", stage="hourly", rows=5000, ticks=90, first=0, last=9 * HOUR, unmeasured=7,
        order="by arrival time, a tick every 10m", arrivals=[("windows of 1h", arrival)], findings=several,
        suggestions=[Suggestion("complete=99%", SLOW, "{}"), Suggestion("latency=1s")], warnings=["a note"],
        front=front_of(several), shown=[shown(one.name) for one in several],
        density=Density((0, 9 * HOUR), (0, 10 * HOUR), 9, 10, {(n, n): 10 + n for n in range(9)}),
    )  # fmt: skip


def test_the_front_has_those_that_no_other_beats() -> None:
    assert front_of([SLOW, QUICK, WORSE]) == ("delay 2h", "delay 30m")
    assert front_of([SLOW, replace(SLOW, name="the same")]) == ("delay 2h", "the same")
    assert front_of([replace(SLOW, to_first=Spread()), QUICK]) == ("delay 2h", "delay 30m")


def test_a_sentence_says_what_each_buys() -> None:
    first, second = choices(simulation(SLOW, QUICK, WORSE))
    assert "delay 2h: right at first for 99.1 % of windows, 2h after their end" in first
    assert "94.7 %" in second and "1h 30m sooner" in second


@pytest.mark.parametrize(
    ("part", "text"), [(0.991, "99.1 %"), (0.9999, "> 99.9 %"), (1.0, "100 %"), (0.0, "0 %"), (0.0001, "< 0.1 %")]
)
def test_shares_are_never_rounded_to_the_whole(part: float, text: str) -> None:
    assert share(part) == text


@pytest.mark.parametrize(
    ("micros", "text"),
    [(None, "never"), (0, "0s"), (SECOND + 1, "2s"), (90 * SECOND, "2m"), (-HOUR, "-1h"), (49 * HOUR, "2d 1h")],
)
def test_lags_are_rounded_up(micros: int | None, text: str) -> None:
    assert lag(micros) == text


@pytest.mark.parametrize(
    ("micros", "text"), [(0, "0s"), (20341 * SECOND, "5h 39m 1s"), (25 * HOUR, "1d 1h"), (MINUTE + 1, "1m 1us")]
)
def test_delays_are_exact(micros: int, text: str) -> None:
    assert in_units(micros) == text


def test_the_table_has_every_figure() -> None:
    text = simulation(SLOW, QUICK, WORSE).text(200)
    said = ("7 others have not expired", "nothing that was searched gives it", "note: a note", "99.1 %", "<worse>")
    assert all(one in text for one in said)


def test_the_page_is_whole_and_names_are_text() -> None:
    page = simulation(SLOW, QUICK, WORSE).page()
    assert "<worse>" not in page and "&lt;worse&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page
    for start in (at for at in range(len(page)) if page.startswith("<svg", at)):
        svg = ElementTree.fromstring(page[start : page.index("</svg>", start) + 6])
        assert svg.attrib["role"] == "img" and (svg.attrib.get("aria-label") or svg.attrib["aria-labelledby"])
    assert page.count("<svg") == 2 + 3, "two plots, and a picture for each specification"


def test_plots_stay_within_their_frames() -> None:
    made = simulation(SLOW, QUICK, WORSE)
    for line in Completeness.of(made).lines:
        for point in line.points.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT
    assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in Choice.of(made).dots)


def test_nothing_measured_is_drawn_too() -> None:
    nothing = replace(
        SLOW, windows=0, right_at_first=0, right=0, to_first=Spread(), to_on_time=Spread(), to_right=Spread(), panes=0,
        shown_by_age=[],
    )  # fmt: skip
    made = replace(simulation(nothing), arrivals=[("windows of 1h", Arrival(0, 0))], shown=(), density=None)
    assert "never" in made.text() and "<svg" in made.page()


@needs_browser
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_fits_a_screen(width: int, tmp_path: Path) -> None:
    check_picture(simulation(SLOW, QUICK, WORSE).page(), f"simulate-{width}", width, tmp_path)
