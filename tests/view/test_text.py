"""How times, windows, triggers and tables read."""

from datetime import UTC, datetime

import pytest

from windrow.spec.stages.stage import Stage
from windrow.spec.times import (
    DAY,
    EARLIEST_EVENT_TIME,
    HOUR,
    INFINITY,
    LATEST_EVENT_TIME,
    MINUS_INFINITY,
    SECOND,
    parse_time,
)
from windrow.view.plan.pipeline import StageSince, since_section
from windrow.view.run import TickLine, Ticks
from windrow.view.show import Shown
from windrow.view.status import PartitionStatus, StageStatus, status_mapping, status_sections
from windrow.view.text.sections import Section, laid_out
from windrow.view.text.table import table
from windrow.view.text.times import length, moment, window


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
    assert Stage.from_mapping(fields).trigger.plan_lines() == lines


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


def test_partitions_stand_under_the_watermark_and_idle_ones_are_named() -> None:
    parts = [PartitionStatus("b", 2 * SECOND, False), PartitionStatus(None, SECOND, False)]
    parts.append(PartitionStatus("late riser", 0, True, 5 * SECOND))
    text = laid_out(status_sections([], [StageStatus("s", 1, tick=3, watermark=SECOND, partitions=parts)]), 100)
    lines = [line.strip() for line in text.splitlines()]
    first = lines.index("null: 1970-01-01 00:00:01")
    assert lines[first + 1 : first + 3] == [
        "b: 1970-01-01 00:00:02",
        "late riser: 1970-01-01 00:00 (idle: no row since 1970-01-01 00:00:05)",
    ]
    alone = StageStatus("s", 1, tick=3, watermark=SECOND, partitions=[PartitionStatus(None, SECOND, True, SECOND)])
    assert "00:00:01 (idle: no row since" in laid_out(status_sections([], [alone]), 100)
    many = [PartitionStatus(str(number), number, number > 20) for number in range(25)]
    text = laid_out(status_sections([], [StageStatus("s", 1, tick=3, watermark=0, partitions=many)]), 100)
    assert "and 5 more partitions, 4 of them idle" in text
    (mapped,) = status_mapping([], [alone])["stages"]
    assert mapped["partitions"][0]["last_seen"] == "1970-01-01T00:00:01Z"


def test_ticks_by_line_and_in_sum() -> None:
    lines: list[str] = []
    ticks = Ticks(["sums"], False, lines.append)
    for tick in (1, 2):
        ticks.show(TickLine("sums", tick, "stream", 1000, INFINITY, 5, 2, 1, 0, behind=0, ms=20))
    ticks.end(stopped=False)
    assert lines[0].split()[-7:] == ["rows", "panes", "retracted", "late", "dead", "behind", "ms"]
    assert lines[1].split() == ["sums", "1", "the", "end", "of", "time", "1,000", "5", "2", "1", "0", "0", "20"]
    assert lines[-1] == "sums: 2 ticks, 2,000 rows, 10 panes and 4 retractions; 2 late, 0 dead"


def test_an_empty_table_is_said() -> None:
    assert Shown("s", ["k"], ["n"], ["k", "window_start", "window_end", "n"], [], 0).text(80) == "s/current: no row"


def test_windows_that_leave_the_calendar_are_shown() -> None:
    """The windows of the first and of the last element that there can be begin before it, or end behind it."""
    columns = ["k", "window_start", "window_end", "n", "timing", "pane_index", "is_last"]
    bounds = [(EARLIEST_EVENT_TIME - 1, EARLIEST_EVENT_TIME + 1), (0, LATEST_EVENT_TIME + 1), (None, None)]
    shown = Shown("s", ["k"], ["n"], columns, [("a", *b, 1, "on_time", 0, True) for b in bounds], 3)
    text = shown.text(120)
    assert "-62135596800000001us - 0001-01-01 00:00:00.000001" in text
    assert "1970-01-01 00:00 - 253402300800000000us" in text and "all of time" in text
    first, last, whole = shown.mappings()
    assert first["window_start"] == "-62135596800000001us" and first["window_end"].year == 1
    assert last["window_start"] == datetime(1970, 1, 1, tzinfo=UTC) and last["window_end"] == "253402300800000000us"
    assert whole["window_start"] is None
