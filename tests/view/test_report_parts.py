"""The parts of a report's page: what on-call asks first, the figure, the index, and the same for machines."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest

from tests.view.test_report import START, Balanced, report
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.quality.shares import Share, Shares
from windrow.spec.times import HOUR, MINUTE, SECOND
from windrow.view.diff import Diff, WindowDiffers
from windrow.view.pictures.plot import Plot, Series, Unit
from windrow.view.pictures.values import Density, PaneCount
from windrow.view.report import page
from windrow.view.reports.arrival import Arrival, OverDays
from windrow.view.reports.index import Index, RunLine, index_page
from windrow.view.reports.machines import as_json, as_junit
from windrow.view.reports.parts import Attempt, StageFigures, State, StepTime, lasted

JUDGEMENTS = (
    Judgement("column_values_to_not_be_null(k)", Severity.CRITICAL, Outcome.FAILED, "3 of 40 rows", ("null",)),
    Judgement("column_mean_to_be_between(v)", Severity.WARNING, Outcome.FAILED, "41.25"),
    Judgement("table_row_count_to_be_between()", Severity.INFO, Outcome.ERROR, "could not be checked"),
    Judgement("column_values_to_be_unique(v)", Severity.CRITICAL, Outcome.PASSED, "0 of 40 rows"),
)
WINDOW = WindowDiffers({"k": "<b>"}, START, START + HOUR, here={"num": 5, "mean": 2.0}, there={"num": 3, "mean": 2.0})
ARRIVAL = Arrival(
    "hourly",
    watermark=[(START + i * HOUR, START + i * HOUR + 30 * MINUTE) for i in range(24)],
    panes=[PaneCount("on_time", START + i * HOUR, START + i * HOUR + 40 * MINUTE, 3 + i) for i in range(1, 20)]
    + [PaneCount("late", START + 5 * HOUR, START + 9 * HOUR, 1)],
    density=Density((START, START + 20 * HOUR), (START, START + 20 * HOUR), 20, 20, {(n, n): n + 1 for n in range(20)}),
)
DAYS = OverDays(
    "hourly",
    [
        Plot("Lag", [Series("lag", [(START + i * HOUR, 30 * MINUTE + i) for i in range(24)])], unit_up=Unit.LENGTH),
        Plot("Completeness", [Series("complete", [(START + i * HOUR, 0.9) for i in range(24)])], unit_up=Unit.SHARE),
    ],
)


def stopped(**fields: object):  # type: ignore[no-untyped-def]
    values = {
        "state": State.STOPPED, "is_good": False, "run": "backfill-1", "typed": "flights.yaml",
        "gates": [GateResult("rows", 40, JUDGEMENTS)],
    }  # fmt: skip
    return report(**{**values, **fields})


def test_what_stopped_and_what_to_type_come_before_anything_else() -> None:
    text = page(stopped())
    parts = [
        "What stopped",
        "3 of 40 rows",
        "What to type next",
        "windrow backfill flights.yaml --from 2013-01-01T00:00",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and places[-1] < text.index("Where every row went")
    assert "column_mean_to_be_between" not in text[: text.index("What to type next")], "a warning stops nothing"


AGAIN = "windrow backfill flights.yaml --from 2013-01-01T00:00:00Z --to 2013-01-02T00:00:00Z"
RUN, RESTATE = "windrow run flights.yaml --once", "windrow restate flights.yaml"


@pytest.mark.parametrize(
    ("fields", "commands"),
    [
        ({}, [AGAIN]),
        ({"run": "restatement-1"}, [RESTATE]),
        ({"run": "stream"}, [RUN]),
        (
            {"run": "stream", "generations": {"sums": 2}},
            ["windrow diff flights.yaml --stage sums --generation 2", RUN],
        ),
        ({"run": "stream", "state": State.RUNNING, "facts": {"late rows to restate": 3}}, [RESTATE]),
        ({"state": State.WAITING}, ["windrow status flights.yaml", AGAIN]),
        ({"state": State.PUBLISHED}, []),
    ],
)
def test_what_to_type_next(fields: dict[str, object], commands: list[str]) -> None:
    assert [step.command for step in stopped(**fields).next] == commands


def test_a_run_of_a_scheduler_may_be_cleared_there() -> None:
    assert "clear the task in Airflow" in stopped(run="scheduled__2013-01-01").next[0].why
    assert "Airflow" not in stopped().next[0].why


def test_windows_old_and_new() -> None:
    published = Diff("hourly", "tick 7", "tick 6", 9, 0, 0, 1, differing=[WINDOW])
    text = page(report(changed=[published]))
    assert "published with tick 7" in text and "1 changed" in text and "&lt;b&gt;" in text and ">mean<" not in text
    row = re.findall(r'data-label="(old|new)">([^<]*)<', text)
    assert row == [("old", "3"), ("new", "5")]
    staged = Diff(
        "hourly", "staged", "published", 9, 1, 0, 0, differing=[WindowDiffers({"k": "a"}, 0, 1, {"num": 1}, None)]
    )
    assert re.findall(r'data-label="(published|staged)">([^<]*)<', page(report(changed=[staged]))) == [
        ("published", "–"),  # noqa: RUF001
        ("staged", "1"),
    ]  # fmt: skip


def test_every_part_is_on_a_page_that_is_well_formed() -> None:
    made = stopped(
        waiting=["hourly: window 05:00 has not expired"], arrivals=[ARRIVAL], versions={"hourly.current": 7},
        stages=[StageFigures("hourly", 10, 1, 2, 3, 4, None)], link="https://airflow.example/task",
        steps=[StepTime("begin", "", START), StepTime("published", "hourly", START + 72 * SECOND, 72 * SECOND)],
        attempts=[Attempt(START, 4, "waits: <b>")],
        changed=[Diff("hourly", "tick 7", "tick 6", 9, 0, 0, 1, differing=[WINDOW])],
    )  # fmt: skip
    text = page(made)
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    for part in (
        "What waits",
        "Stage by stage",
        "took 1 m 12 s",
        "waits: &lt;b&gt;",
        'href="https://airflow.example/task"',
    ):
        assert part in text, part
    assert re.search(r'data-label="unchanged">7<', text) and re.search(r'data-label="version">7<', text)


def test_the_figure_is_told_in_words_and_stays_in_its_frame() -> None:
    text = page(report(arrivals=[ARRIVAL]))
    (title, desc) = re.findall(r'aria-labelledby="(\S+) (\S+)"', text)[0]
    assert re.search(rf'<title id="{title}">Watermark of hourly against arrival</title>', text)
    told = re.search(rf'<desc id="{desc}">([^<]*)<', text)
    assert told is not None
    assert "210 elements." in told[1] and "248 panes: 247 on time, 1 late." in told[1]
    assert "The watermark reached 2013-01-01 23:00 at 2013-01-01 23:30." in told[1]
    for screen, drawing in ARRIVAL.drawings:
        root = xml.fromstring(drawing)
        width, height = map(float, (root.get("viewBox") or "").split()[2:])
        circles = [one for one in root.iter("circle") if "counted" in (one.get("class") or "")]
        late = [one for one in circles if "windrow-late" in (one.get("class") or "").split()]
        assert len(late) == 1 and len([one for one in root.iter("rect") if one.get("class") == "windrow-many"]) == 20
        assert all(0 <= float(one.get("cx") or -1) <= width for one in circles), screen
        assert all(0 <= float(one.get("cy") or -1) <= height for one in circles), screen
        assert [one for one in root.iter("polyline") if one.get("class") == "windrow-ideal"]


def test_a_figure_of_a_minute_has_seconds_at_its_axis() -> None:
    """In a run that is made by hand over what is there, everything happens at once."""
    panes = [PaneCount("on_time", START + i * HOUR, START + i * 5 * SECOND, 1) for i in range(4)]
    soon = Arrival("hourly", [(START, START), (START + 4 * HOUR, START + 20 * SECOND)], panes)
    for _, drawing in soon.drawings:
        labels = [one.text for one in xml.fromstring(drawing).iter("text")]
        assert len(set(labels)) == len(labels) > 1 and "00:00:10" in labels
        assert (
            "02:00" in labels
            and "event time" in " ".join(map(str, labels))
            and "2013-01-01" in " ".join(map(str, labels))
        )


def test_plots_over_time_are_on_the_page() -> None:
    text = page(report(over_days=[DAYS]))
    assert "Over time" in text and "lag: between 30m and 30m, at last 30m." in text and "90 %" in text
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert not re.findall(r"https?://", text)


def test_of_a_long_message_of_a_try_the_page_has_the_first_line() -> None:
    """What stands behind it is on the page already."""
    text = page(stopped(attempts=[Attempt(START, 3, "the gate stops: one. Hint: two\n  ten rows in one file")]))
    assert "<td>the gate stops: one. Hint: two</td>" in text


def test_a_restatement_ends_with_the_start_of_its_last_window() -> None:
    day, last = page(report(end=START + HOUR)), page(report(end=START + HOUR + 1))
    assert "start from 2013-01-01 00:00 to 2013-01-01 01:00 (UTC)" in day
    assert "start from 2013-01-01 00:00 through 2013-01-01 01:00 (UTC)" in last
    of_one = replace(line(1), end=START + HOUR + 1, lasted=29_777_800)
    text = index_page(Index("flights", START, [of_one], 1), str)
    assert "2013-01-01 00:00 - 01:00<" in text and "at most 29.8" in text


def test_json_says_what_the_page_says() -> None:
    made = stopped(changed=[Diff("hourly", "tick 7", "tick 6", 9, 0, 0, 1, differing=[WINDOW])], link="https://x/y")
    told = json.loads(as_json(made))
    assert (told["state"], told["start"], told["link"]) == ("stopped", "2013-01-01T00:00:00Z", "https://x/y")
    assert told["gates"][0]["stops"] and told["gates"][0]["judgements"][0]["figure"] == "3 of 40 rows"
    assert told["next"][0]["command"].startswith("windrow backfill flights.yaml")
    assert told["changed"][0]["differing"][0]["here"] == {"num": 5, "mean": 2.0}
    assert told["balances"][0]["adds_up"] is True


def test_where_rows_are_missing_is_on_the_page_and_in_json() -> None:
    shares = Shares(3, (Share(0, 40, "<b>", newest="2013-01-01T05:00:00Z"), Share(8, 40, file="file:/data/a.json")))
    judgement = Judgement("table_row_count_to_equal(99)", Severity.CRITICAL, Outcome.FAILED, "40", shares=shares)
    gate = GateResult("rows", 40, (judgement,))
    assert GateResult.from_mapping(json.loads(json.dumps(gate.to_mapping()))) == gate
    text = page(stopped(gates=[gate]))
    assert "<code>partition &lt;b&gt;</code>: 0 of 40 rows (0.00 %), its newest row is of 2013-01-01T05:00:00Z" in text
    assert "<code>file:/data/a.json</code>: 8 of 40 rows (20.00 %)" in text and "and 1 more" in text
    assert "windrow quarantine" not in text
    (told,) = json.loads(as_json(stopped(gates=[gate])))["gates"]
    assert told["judgements"][0]["shares"]["number"] == 3


def test_junit_has_a_case_for_each_expectation() -> None:
    suites = xml.fromstring(as_junit(stopped()))
    (suite,) = suites
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "rows", "tests": "4", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip
    assert [[child.tag for child in case] for case in suite] == [["failure"], ["skipped"], ["error"], []]
    assert suite[0][0].get("message") == "critical: 3 of 40 rows" and suite[0][0].text == "null"


def test_machines_read_any_value() -> None:
    """JSON knows no NaN, and XML no control characters."""
    judgement = Judgement("x()", Severity.CRITICAL, Outcome.FAILED, "1 of 2 rows\x00", ("a\x0b", "b\ud800c"))
    window = WindowDiffers({"k": "a"}, START, None, here={"mean": float("nan")}, there={"mean": float("-inf")})
    made = stopped(
        gates=[GateResult("rows", 2, (judgement,))],
        changed=[Diff("hourly", "tick 7", "tick 6", 9, 0, 0, 1, differing=[window])],
    )

    def refused(text: str) -> None:
        raise AssertionError(text)

    (shown,) = json.loads(as_json(made), parse_constant=refused)["changed"][0]["differing"]
    assert (shown["here"], shown["there"]) == ({"mean": "nan"}, {"mean": "-inf"})
    failure = xml.fromstring(as_junit(made))[0][0][0]
    assert (failure.get("message"), failure.text) == ("critical: 1 of 2 rows\ufffd", "a\ufffd, b\ufffdc")


def line(number: int, state: State = State.PUBLISHED) -> RunLine:
    return RunLine(
        f"backfill-{number}",
        START,
        START + HOUR,
        START,
        number * SECOND,
        state,
        "Published: <b>.",
        10 * number,
        4,
        1,
        2,
        1,
    )


def test_the_index_has_all_runs_with_trends_and_links() -> None:
    runs = [line(3, State.STOPPED), line(2), line(1)]
    made = Index("flights", START, runs, 7)
    assert [trend.name for trend in made.trends] == ["rows read", "windows that changed", "seconds"]
    assert [number for _, number in made.trends[0].numbers] == [10, 20, 30], "the newest is the last"
    text = index_page(made, lambda run: f"flights-{run}.html")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == [] and "7 runs, the newest 3" in text and "Published: &lt;b&gt;." in text
    assert re.findall(r'href="flights-(backfill-\d)\.html"', text) == ["backfill-3", "backfill-2", "backfill-1"]
    assert 'class="bad"' in text and "No run has" in index_page(Index("flights", START, [], 0), str)


@pytest.mark.parametrize(
    ("micros", "text"), [(800_000, "0.8 s"), (72 * SECOND, "1 m 12 s"), (3 * HOUR + MINUTE, "3 h 01 m")]
)
def test_how_long_it_took(micros: int, text: str) -> None:
    assert lasted(micros) == text
