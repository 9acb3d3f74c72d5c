"""A pipeline watched: rates, what waits for what, the text, and the page with what its policy lets it do."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from tests.view.looks import HOLDER, HOURLY, NOW, ROLLING, TICKS, UNREAD, busy, untouched
from tests.view.test_report import Balanced
from windrow.spec.stages.freshness import Freshness
from windrow.spec.times import HOUR, INFINITY, MINUS_INFINITY, MINUTE, SECOND
from windrow.view.freshness import StageFreshness
from windrow.view.metrics import Standing
from windrow.view.status import InputStatus, PartitionStatus, SourceStatus, StageStatus
from windrow.view.watch.look import Look, StoppedGate, Tone, age
from windrow.view.watch.page import SECURITY_POLICY, page
from windrow.view.watch.text import look_mapping, look_text, watermark_lag
from windrow.view.watch.ticks import RATE_TICKS, Rate, ReadingTick, plots_of
from windrow.view.watch.waits import waits_of


def ticks(*pairs: tuple[int, int]) -> list[ReadingTick]:
    """By second and rows."""
    return [ReadingTick(number, second * SECOND, rows) for number, (second, rows) in enumerate(pairs, 1)]


def of(*stages: StageStatus, **fields: object) -> Look:
    return Look(Standing("p", NOW, [], stages), **fields)  # type: ignore[arg-type]


# ---------------------------------------------------------------- rates


def test_a_rate_is_what_was_read_since_the_first_of_the_last_ticks() -> None:
    assert Rate.of(ticks((0, 1000), (10, 50), (20, 150))) == Rate(10.0, 2)
    assert Rate(10.0, 2).text("rows") == "10 rows/s over the last 2 ticks"
    many = ticks(*((10 * n, 100) for n in range(50)))
    assert Rate.of([*many[:20], *(replace(one, rows=200) for one in many[20:])]) == Rate(20.0, RATE_TICKS)


def test_there_is_no_rate_without_two_moments() -> None:
    assert Rate.of([]) is None and Rate.of(ticks((5, 10))) is None and Rate.of(ticks((5, 10), (5, 20))) is None
    assert Rate.of(ticks((0, 10), (4, 1))) == Rate(0.25, 1)
    assert Rate(0.25, 1).text("panes") == "0.25 panes/s over the last tick"


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0, "0"), (0.7334, "0.733"), (999.4, "999"), (999.6, "1,000"), (123456.7, "123,457")]
)
def test_a_rate_is_short(rate: float, text: str) -> None:
    assert Rate(rate, 1).number == text


def test_plots_of_ticks() -> None:
    rate, lag = plots_of("s", "rows", TICKS)
    (line,) = rate.series
    assert line.points[0] == (TICKS[1].now, TICKS[1].rows / 10) and len(line.points) == len(TICKS) - 1
    assert lag.series[0].points[-1] == (TICKS[-1].now, float(TICKS[-1].now - (TICKS[-1].watermark or 0)))
    assert not [*plots_of("s", "rows", TICKS[:1])] and not [*plots_of("s", "rows", ticks((1, 2), (1, 3)))]


def test_ticks_of_one_moment_are_one_of_a_plot() -> None:
    (rate,) = plots_of("s", "rows", ticks((0, 5), (10, 20), (10, 30), (20, 10)))
    assert rate.series[0].points == [(10 * SECOND, 5.0), (20 * SECOND, 1.0)]


# ---------------------------------------------------------------- what waits for what


def waits(look: Look) -> dict[str, str]:
    return {one.what: one.waits_for for one in waits_of(look)}


def test_everything_that_waits_is_told_with_what_it_waits_for() -> None:
    assert waits(busy()) == {
        "6,012 rows of departures": "departures_hourly to read 2 landing batches",
        "1,312 open windows of departures_hourly": f"the watermark, which stands at 2024-01-01 11:00: {HOLDER}",
        "the tables of departures_hourly": "the projection of 1 tick",
        "current of departures_hourly": "its refresh: it lacks the panes of 3 ticks",
        "842 late rows of departures_hourly": "a restatement: windrow restate conf/pipelines/flights.yaml",
        "214 panes of departures_hourly": "rolling to read 1 tick",
        "96 open windows of rolling": f"the watermark, which stands at 2024-01-01 09:00: {ROLLING.held_by}",
        "visits": "its first tick: windrow run conf/pipelines/flights.yaml",
    }


def test_nothing_waits_where_all_is_done() -> None:
    done = StageStatus("s", 1, tick=3, watermark=INFINITY, projected_to=3, open_cells=0)
    assert waits(of(done)) == {}
    assert waits(of(replace(done, open_cells=4))) == {}, "a backfill may leave some, and no watermark will come"


def test_a_watermark_that_is_not_known_and_a_changed_stage() -> None:
    first = StageStatus("s", 1, tick=1, watermark=MINUS_INFINITY, projected_to=1, open_cells=1, held_by="all are idle")
    assert waits(of(first)) == {"1 open window of s": "a first watermark: all are idle"}
    assert waits(of(replace(first, held_by=""))) == {"1 open window of s": "a first watermark"}
    changed = waits(of(replace(first, open_cells=0, changed=["stage.where: x -> y"])))
    assert changed == {"what the file says of s now": "a new generation: windrow run FILE --from-start"}


def test_a_gate_that_stops() -> None:
    done = StageStatus("s", 1, tick=3, watermark=INFINITY, projected_to=3)
    gate = "its gate, which stops it: windrow report FILE"
    assert waits(of(done, gates=[StoppedGate("s")])) == {"s": gate}
    assert waits(of(done, gates=[StoppedGate("s", is_new=True)])) == {"a new generation of s": gate}


def test_an_upstream_that_two_inputs_read_is_told_once() -> None:
    twice = [InputStatus("clicks", 2, 10), InputStatus("clicks", 2, 10), InputStatus("views", 0, 0)]
    done = StageStatus("s", 1, tick=3, watermark=INFINITY, projected_to=3, batches_behind=2, inputs=twice)
    assert waits(of(done)) == {"10 rows of clicks": "s to read 2 landing batches"}


# ---------------------------------------------------------------- one sentence


def test_the_headline() -> None:
    done = StageStatus("s", 1, tick=3, watermark=INFINITY, projected_to=3)
    stale = StageFreshness("s", Freshness(error="1h"), NOW - 2 * HOUR, 2 * HOUR)
    warned = StageFreshness("s", Freshness(warn="1h"), NOW - 2 * HOUR, 2 * HOUR)
    assert of(done).headline == (Tone.GOOD, "Everything that has landed has been read.")
    assert of(replace(done, freshness=warned)).headline[0] is Tone.GOOD
    assert of(replace(done, batches_behind=1)).headline == (Tone.WAIT, "s has rows to read.")
    assert of(done, UNREAD, StageStatus("t")).headline == (Tone.WAIT, "visits, t have not run yet.")
    assert of(replace(done, freshness=stale)).headline == (Tone.BAD, "The results of s are too old.")
    assert of(replace(done, in_raw=1)).headline == (Tone.BAD, "The rows of s do not add up.")
    assert of(done, gates=[StoppedGate("s")]).headline == (Tone.BAD, "Stopped by the gate of s.")
    assert of(done, failure="The look has failed.").headline == (Tone.BAD, "The look has failed.")


@pytest.mark.parametrize(
    ("micros", "text"),
    [(-5, "0s"), (5 * SECOND + 7, "5s"), (61 * SECOND, "1m 1s"), (HOUR + MINUTE, "1h 1m"), (30 * HOUR, "1d 6h")],
)
def test_ages(micros: int, text: str) -> None:
    assert age(micros) == text


# ---------------------------------------------------------------- text and plain values


def test_the_text_is_that_of_status_with_rate_age_and_what_waits() -> None:
    text = look_text(busy(), 110)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:2] == ["flights, looked at 2024-01-01 12:00:07 UTC", "visits has not run yet."]
    assert lines.index("What waits for what") < lines.index("Stage departures_hourly") < lines.index("Stage rolling")
    for words in (
        "rate       420 rows/s over the last 10 ticks", "rate       440 panes/s over the last 2 ticks",
        "committed 3s ago: 0.3 s planning, 1.2 s commit, 0.4 s projection",
        "watermark  2024-01-01 11:00, 1h 1m behind the last tick", "panes      52,204 emitted (9,123 early",
        "1,312 open windows of departures_hourly, for the watermark, which", "visits, for its first tick: windrow run",
        "dead rows  3 unreadable, 521 bad_timestamp, 118 bad_expression", "3: 2024-01-01 11:00", "Source departures",
    ):  # fmt: skip
        assert words in text, words
    assert max(map(len, text.splitlines())) <= 110 and max(map(len, look_text(busy(), 70).splitlines())) <= 70


def test_control_characters_of_the_data_do_not_reach_a_terminal() -> None:
    part = PartitionStatus("\x1b[2Jgone\x07", 0, False)
    text = look_text(of(replace(HOURLY, partitions=[part, PartitionStatus("b", 0, False)])), 100)
    assert "\x1b" not in text and "\x07" not in text and "\N{REPLACEMENT CHARACTER}[2Jgone" in text


def test_there_is_no_lag_of_a_watermark_without_a_time() -> None:
    for watermark in (None, INFINITY, MINUS_INFINITY):
        assert watermark_lag(replace(HOURLY, watermark=watermark)) == ""
    assert watermark_lag(replace(HOURLY, now=None)) == "" and watermark_lag(HOURLY) == "1h 1m"


def test_for_machines_it_is_what_status_says_and_more() -> None:
    found = json.loads(json.dumps(look_mapping(busy())))
    assert (found["pipeline"], found["looked_at"], found["tone"]) == ("flights", "2024-01-01T12:00:07Z", "wait")
    assert {"what": "visits", "stage": "visits"}.items() <= found["waits"][-1].items()
    hourly, rolling, visits = found["stages"]
    assert hourly["rate"] == {"per_second": pytest.approx(420), "ticks": 10} and visits["rate"] is None
    assert hourly["late_to_restate"] == 842 and rolling["late_to_restate"] == 0
    assert hourly["inputs"] == [
        {"upstream": "departures", "batches_behind": 2, "rows_behind": 6012, "reads_a_stage": False}
    ]
    assert hourly["committed_at"] == "2024-01-01T12:00:04Z" and found["sources"][0]["rows"] == 1_234_654


# ---------------------------------------------------------------- the page


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def directives() -> dict[str, str]:
    return dict(one.split(" ", 1) for one in SECURITY_POLICY.split("; "))


def test_the_page_says_what_the_text_says() -> None:
    made = page(busy(), 5)
    checker = Balanced()
    checker.feed(re.sub(r"<(rect|line|circle|polyline)([^>]*)/>", "", made).replace("<!doctype html>", ""))
    assert not checker.open
    plain = re.sub(r"<[^>]+>", "", made)
    for what, waits_for in waits(busy()).items():
        assert what in plain and waits_for in plain
    for words in ("420", "6,012", "9,123 early", "41,877 on time", "1,204 late", "an expression failed on it", HOLDER):
        assert words in plain, words
    assert 'aria-label="9,123 early, 41,877 on time, 1,204 late"' in made and made.count("<caption>") >= 3
    assert "Rate of departures_hourly" in plain and "Lag of the watermark of rolling" in plain
    assert 'data-every="5"' in made and 'role="status"' in made and 'class="outcome wait"' in made


def test_partitions_are_a_table_where_there_are_several() -> None:
    made = page(busy(), 5)
    (holding,) = re.findall(r'<tr class="holds">.*?</tr>', made)
    assert [*re.findall(r"<td[^>]*>(.*?)</td>", holding)] == [
        "3",
        "2024-01-01 11:00",
        "55m",
        "holds the watermark back",
    ]
    assert "idle: no row since 2024-01-01 08:00:07" in made
    assert made.count('partitions">') == 1, "the stage behind reads one"
    even = [PartitionStatus(name, NOW - HOUR, False) for name in "ab"]
    assert "holds the watermark back" not in page(of(replace(HOURLY, partitions=even)), 5), "nobody holds anybody back"
    odd = [PartitionStatus("a", MINUS_INFINITY, False), PartitionStatus("b", NOW, False), PartitionStatus("c", 0, True)]
    assert "not known yet" in page(of(replace(HOURLY, partitions=odd)), 5)


def test_what_has_not_run_is_a_page_too() -> None:
    made = page(untouched(), 0.5)
    assert "departures_hourly has not run yet." in made and "nothing yet" in made and 'data-every="0.5"' in made
    assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in made, "not without a pause"
    empty = page(of(StageStatus("s", 1, tick=1, watermark=INFINITY, projected_to=1)), 5)
    assert "<td>none</td>" in empty and "What waits for what" not in empty and 'aria-label="0 early' in empty


def test_what_comes_from_data_is_text() -> None:
    evil = "</style><script>alert(1)</script>"
    stage = replace(HOURLY, stage=evil, held_by=evil, partitions=[PartitionStatus(evil, 0, False)] * 2, changed=[evil])
    look = Look(Standing(evil, NOW, [SourceStatus(evil, 1, dead={evil: 1})], [stage]), {evil: TICKS}, typed=evil)
    made = page(look, 5)
    assert "<script>alert" not in made and "</style><script>" not in made
    assert made.count("<script>") == 1 and "&lt;script&gt;alert(1)" in made


def test_its_policy_knows_its_script_and_styles_and_nothing_else() -> None:
    made = page(busy(), 5)
    rules = directives()
    assert rules["default-src"] == "'none'" and rules["connect-src"] == "'self'"
    assert rules["base-uri"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in SECURITY_POLICY and "*" not in SECURITY_POLICY and "http" not in SECURITY_POLICY
    scripts, styles = (re.findall(rf"<{tag}>(.*?)</{tag}>", made, re.DOTALL) for tag in ("script", "style"))
    assert [digest(one) for one in scripts] == [rules["script-src"]]
    assert len(styles) > 2 and {digest(one) for one in styles} == set(rules["style-src"].split())


def test_nothing_in_it_needs_more_than_that() -> None:
    made = page(busy(), 5)
    markup = re.sub(r"<(script|style)>.*?</\1>", "", made, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\s(style|on\w+|src|href|action)=", markup), "attributes that the policy forbids"
    assert "://" not in made, "nothing comes from elsewhere"
