"""How times, windows, triggers and tables read."""

from datetime import UTC, datetime

import pytest

from windrow.spec.stages import Stage
from windrow.spec.times import DAY, HOUR, INFINITY, MINUS_INFINITY, parse_time
from windrow.view.plan import StageSince, since_section
from windrow.view.progress import TickLine, Ticks
from windrow.view.shown import Shown
from windrow.view.status import StageStatus, status_sections
from windrow.view.table import table
from windrow.view.text import Section, laid_out
from windrow.view.times import length, moment, window
from windrow.view.triggers import firings


def test_times() -> None:
    five = parse_time("2013-01-01T05:00:00Z")
    assert moment(five) == "2013-01-01 05:00"
    assert moment(datetime(2013, 1, 1, 5, 0, 7, tzinfo=UTC)) == "2013-01-01 05:00:07"
    assert moment(MINUS_INFINITY) == moment(None) == "not known yet" and moment(INFINITY) == "the end of time"
    assert window(five, five + HOUR) == "2013-01-01 05:00 - 06:00"
    assert window(five, five + DAY) == "2013-01-01 05:00 - 2013-01-02 05:00"
    assert window(MINUS_INFINITY, INFINITY) == window(None, None) == "all of time"
    assert [length(each) for each in (HOUR, DAY + 6 * HOUR, 90_000)] == ["1h", "1d 6h", "90ms"]


@pytest.mark.parametrize(
    ("trigger", "lines"),
    [
        ({"repeat": {"after_count": 5}}, ["again and again: when 5 new elements have come"]),
        ("at_close", ["once, when the window expires"]),
        ("never", ["never; when the window expires it gives its one pane"]),
        (
            {"after_watermark": {"early": {"after_delay": {"delay": "1m"}}, "late": {"after_count": 1}}},
            [
                "early: again and again: 1m after the first new element, by the clock",
                "on time: when the watermark reaches the end of the window",
                "late: at every tick that brings new elements",
            ],
        ),
        (
            {"repeat": {"first_of": [{"after_count": 10}, {"at_period": {"period": "1h", "domain": "event_time"}}]}},
            [
                "again and again:",
                "  once, when the first of these is ready:",
                "    when 10 new elements have come",
                "    at the next full 1h after a new element, by the watermark",
            ],
        ),
    ],
)
def test_triggers_in_words(trigger: object, lines: list[str]) -> None:
    fields = {"window": {"fixed": {"size": "1m"}}, "aggregates": {"n": {"count": "*"}}, "trigger": trigger}
    assert firings(Stage.from_mapping(fields).trigger) == lines


def test_sections_are_wrapped_and_labelled() -> None:
    words = " ".join(["word"] * 20)
    text = laid_out([Section("Title", [("first", [words]), ("empty", []), ("b", ["x", "  nested"])])], 60)
    assert text.splitlines()[0] == "Title" and "empty" not in text
    assert max(map(len, text.splitlines())) <= 60
    assert "  b      x" in text and "           nested" in text


def test_a_table() -> None:
    lines = table(["k", "n", "at"], [("a", 12, datetime(2024, 1, 1, tzinfo=UTC)), (None, 3, None)], 80).splitlines()
    assert [line.split() for line in lines[2:]] == [["a", "12", "2024-01-01", "00:00"], ["-", "3", "-"]]


def test_what_changed_since() -> None:
    section = since_section(
        [StageSince("a", 2), StageSince("b", 1, ["stage.where: x -> y"]), StageSince("c", None)], None
    )
    lines = {label: " ".join(texts) for label, texts in section.rows}
    assert "generation 2 goes on" in lines["a"]
    assert "generation 2 from raw" in lines["b"] and "stage.where: x -> y" in lines["b"]
    assert lines["c"].startswith("new")


def test_counts_that_do_not_add_up_are_said() -> None:
    good = StageStatus("s", 1, tick=3, in_raw=10, read=10, in_windows=7, filtered=2, dead={"unreadable": 1})
    bad = StageStatus("s", 1, tick=3, in_raw=11, read=10, in_windows=7, filtered=2, dead={"unreadable": 1})
    assert good.adds_up and "add up" not in laid_out(status_sections([], [good]), 100)
    assert not bad.adds_up and "does not add up to the 11 rows" in laid_out(status_sections([], [bad]), 100)


def test_ticks_by_line_and_in_sum() -> None:
    lines: list[str] = []
    ticks = Ticks(["sums"], False, lines.append)
    for tick in (1, 2):
        ticks.show(TickLine("sums", tick, "stream", 1000, INFINITY, 5, 2, 1, 0, behind=0, ms=20))
    ticks.end(stopped=False)
    assert lines[0].split()[-7:] == ["rows", "panes", "withdrawn", "late", "dead", "behind", "ms"]
    assert lines[1].split() == ["sums", "1", "the", "end", "of", "time", "1,000", "5", "2", "1", "0", "0", "20"]
    assert lines[-1] == "sums: 2 ticks, 2,000 rows, 10 panes and 4 withdrawals; 2 late, 0 dead"


def test_an_empty_table_is_said() -> None:
    assert Shown("s", ["k"], ["n"], ["k", "window_start", "window_end", "n"], [], 0).text(80) == "s/current: no row"
