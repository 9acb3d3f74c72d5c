"""The report's page: the sums are on it, what a user's data says is text, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.times import HOUR
from windrow.view.report import Balance, Chart, Part, Report, page
from windrow.view.text.bars import HEIGHT, LEFT, Bars

START = 1356998400 * 1_000_000
BARS = Bars(("early", "on_time", "late"), {START + i * HOUR: {"on_time": i, "late": 1} for i in range(24)})


def report(**fields: object) -> Report:
    values = {
        "pipeline": "flights", "run": "monday", "start": START, "end": START + 24 * HOUR, "made_at": START,
        "outcome": "Published: hourly.", "is_good": True, "facts": {"inserted": 1234},
        "balances": [Balance("rows", "landed", 10, [Part("good", 8), Part("rejected", 2, "a rule")])],
        "gates": [], "charts": [Chart("hourly", BARS)], "tables": {"hourly.current": "file:///lake/hourly/current"},
    }  # fmt: skip
    return Report(**{**values, **fields})  # type: ignore[arg-type]


class Balanced(HTMLParser):
    """Whether every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_parts_are_added_up_on_the_page() -> None:
    text = page(report())
    assert "= 10 read" in text and "1,234" in text and "Published: hourly." in text
    short = page(report(balances=[Balance("rows", "landed", 11, [Part("good", 10)])]))
    assert "but 11 were read" in short


def test_what_the_data_says_is_text() -> None:
    judgement = Judgement("in_set(<b>)", Severity.CRITICAL, Outcome.FAILED, "1 of 2", ("<script>alert(1)</script>",))
    text = page(report(gates=[GateResult("rows", 2, (judgement,))]))
    assert "<script>" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "✗ broken" in text


def test_an_empty_input_is_stated() -> None:
    assert "there was nothing to judge" in page(report(gates=[GateResult("rows", 0, ())]))


def test_the_page_needs_nothing_else() -> None:
    text = page(report())
    assert not re.findall(r"(?:src|href)=\"(?!file:)|url\(|@import|https?://", text)
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []


def test_bars_are_stacked_inside_of_the_drawing() -> None:
    segments = list(BARS.segments)
    assert sum(segment.number for segment in segments) == sum(BARS.totals.values()) == sum(range(24)) + 24
    assert all(p.x >= LEFT and p.x + p.width <= BARS.width and p.y >= 0 and p.y + p.height <= HEIGHT for p in segments)
    last = [segment for segment in segments if segment.label == "01-01 23:00"]
    assert last[1].y + last[1].height == pytest.approx(last[0].y)
    assert len(BARS.marks) <= 6 and BARS.lines[0][0] == 0 and BARS.lines[-1][0] == BARS.top


@pytest.mark.parametrize("most", [0, 1, 4, 5, 6, 9, 10, 11, 37, 99, 100, 101, 4321, 999_999])
def test_the_axis_ends_at_a_round_number_above_the_bars(most: int) -> None:
    bars = Bars(("on_time",), {START: {"on_time": most}})
    assert most <= bars.top <= max(5, 2 * most) and len(bars.lines) <= 6
    assert [number for number, _ in bars.lines] == sorted({number for number, _ in bars.lines})
    assert bars.lines[-1][0] == bars.top
