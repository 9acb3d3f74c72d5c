"""Pages as a browser shows them, as wide as a desk and a phone. The pictures stay in out/screens."""

from dataclasses import replace
from pathlib import Path

import pytest

import windrow
from tests.spec.pages import ROOT
from tests.view.browser import check_picture, needs_browser
from tests.view.looks import busy
from tests.view.test_notebook import pipeline_of, stage
from tests.view.test_pictures import PAPER
from tests.view.test_report import START, report
from tests.view.test_report_parts import ARRIVAL, DAYS, line
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.times import HOUR
from windrow.view.diff import Diff, WindowDiffers
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.transcripts import pictures
from windrow.view.report import Balance, Part, page
from windrow.view.reports.index import Index, index_page
from windrow.view.reports.parts import Attempt, StageFigures, State, StepTime
from windrow.view.watch.page import page as page_of_look

WIDTHS = {"desktop": 1200, "phone": 390}

pytestmark = needs_browser


def full_page() -> str:
    """With everything that a page can hold: long names, many digits, every outcome."""
    long = "column_pair_values_a_to_be_greater_than_b(column_A=arrived_at, column_B=departed_at, or_equal=true)"
    judgements = (
        Judgement("column_values_to_not_be_null(origin)", Severity.CRITICAL, Outcome.PASSED, "0 of 842 rows (0.00 %)"),
        Judgement(long, Severity.CRITICAL, Outcome.FAILED, "84 of 842 rows (9.98 %)", ("-1400", "x" * 80, "null")),
        Judgement("column_mean_to_be_between(delay, max_value=40)", Severity.INFO, Outcome.FAILED, "41.25"),
        Judgement(
            "table_row_count_to_be_between(min_value=1)", Severity.WARNING, Outcome.ERROR, "could not be checked"
        ),
    )
    parts = [Part("aggregated", 1_234_567), Part("rejected", 84, "a rule of the suite"), Part("unreadable", 3)]
    made = report(
        outcome="Stopped by the gate of departures_hourly: nothing was published.", is_good=False,
        run="backfill__2013-01-04T03:00:00+00:00", gates=[GateResult("departures_hourly", 842, judgements)],
        facts={"windows": 1_234_567, "inserted": 1_234_567, "changed": 0, "retracted": 0},
        balances=[Balance("departures", "rows of the windows of this interval", 1_234_654, parts)],
        tables={"departures_hourly.current": "file:///data/lakes/flights/of/2013/departures_hourly/current"},
        start=START, state=State.STOPPED, typed="conf/pipelines/flights.yaml --set lake=/data/lakes/flights/of/2013",
        waiting=["departures_hourly: 57 windows from 2013-01-01 06:00 - 07:00 to 12:00 - 13:00 have not expired"],
        stages=[StageFigures("departures_hourly", 1_234_567, 1_234_567, 84, 0, 57, None), StageFigures("rolling")],
        changed=[Diff("departures_hourly", "staged", "published", 842, 1, 0, 1, differing=[WINDOW, ALONE])],
        arrivals=[ARRIVAL], over_days=[DAYS], link="https://airflow.example.org/dags/flights_backfill/runs/scheduled__2013-01-04",
        steps=[StepTime("begin", "", START), StepTime("computed", "departures_hourly", START + HOUR, HOUR)],
        attempts=[Attempt(START, 3, "the gate of departures_hourly stops: " + long)],
        versions={"departures_hourly.current": 1_234},
    )  # fmt: skip
    return page(made)


WINDOW = WindowDiffers(
    {"origin": "JFK", "carrier": "x" * 40},
    START,
    START + HOUR,
    {"flights": 5, "mean_delay": 1 / 3},
    {"flights": 7, "mean_delay": 1e9},
)
ALONE = WindowDiffers({"origin": None, "carrier": "UA"}, START, START + HOUR, {"flights": 5, "mean_delay": -4.5}, None)


def all_runs() -> str:
    """Many runs, which ended in every way."""
    states = [*State] * 6
    lines = [
        replace(line(number, state), run=f"scheduled__2013-01-{number:02}T03:00:00+00:00")
        for number, state in enumerate(states, 1)
    ]
    return index_page(Index("flights", START, lines, 400), lambda run: f"{run}.html")


def notebook(theme: str) -> str:
    """A pipeline of many stages and one of few, and the tables of a stage, which has a column with a long name."""
    long = "a_result_with_a_name_that_is_much_longer_than_others"
    wide = pipeline_of(*[stage(f"stage_{number}", "rows") for number in range(6)], stage(long, "stage_0"))
    named = pipeline_of(stage("s", "rows", aggregates={long: {"count": "*"}})).table("s")
    shown = [wide, windrow.load("conf/pipelines/aircraft.yaml", project=ROOT), named]
    texts = "".join(value._repr_html_() for value in shown)
    return f'<!doctype html><body style="margin: 0" data-theme="{theme}">{texts}</body>'


def paper() -> str:
    """The figures of the paper beside each other, as the page of the docs has them: two on a desk, one on a phone."""
    drawn = "".join(
        f"<div>{svg(picture, is_inline=True)}</div>" for case in PAPER.values() for picture in pictures(case)
    )
    grid = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(400px, 100%), 1fr)); gap: 12px"
    return f'<!doctype html><body style="margin: 0"><div style="{grid}">{drawn}</div></body>'


PAGES = {
    "paper": paper, "paper-dark": lambda: dark(paper()),
    "report": full_page, "report-dark": lambda: dark(full_page()),
    "index": all_runs,
    "watch": lambda: page_of_look(busy(), 5), "watch-dark": lambda: dark(page_of_look(busy(), 5)),
    "notebook": lambda: notebook("light"), "notebook-dark": lambda: notebook("dark"),
}  # fmt: skip


def dark(text: str) -> str:
    """The page as a dark screen shows it."""
    return text.replace("(prefers-color-scheme: dark)", "all")


@pytest.mark.parametrize("page_name", PAGES)
@pytest.mark.parametrize("device", WIDTHS)
def test_it_fits_and_is_not_blank(device: str, page_name: str, tmp_path: Path) -> None:
    check_picture(PAGES[page_name](), f"{page_name}-{device}", WIDTHS[device], tmp_path)
