"""How window functions read in a plan."""

import pytest

from tests.extensions.windows import OfficeHours
from windrow.spec.aggregates import Count
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.files import FileFormat, Files
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import check_graph
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.view.plan.stages import stage_section

SOURCE = Source(
    "rows", Schema.parse("k string"), None, Watermark(processing_time=True), files=Files("rows", FileFormat.CSV)
)

WORDS = {
    "1h long, one after the other": {"fixed": {"size": "1h"}},
    "1h long, one after the other, 5m after the full ones": {"fixed": {"size": "1h", "offset": "5m"}},
    "1h long, one after the other; each key's begin at a time of its own": {"fixed": {"size": "1h", "phase": "by_key"}},
    "several begin every 1d, each 1h longer than the one before, up to 1d; an element is in at most 24 windows": {
        "cumulative": {"size": "1d", "step": "1h"}
    },
    "several begin every 2h, 30m after the full ones, each 1h longer than the one before, up to 2h; "
    "an element is in at most 2 windows": {"cumulative": {"size": "2h", "step": "1h", "offset": "30m"}},
}


def test_words_of_a_class_of_ones_own() -> None:
    stage = Stage(window=OfficeHours(), aggregates={"n": Count()})
    words = "those that tests.extensions.windows.OfficeHours gives to each element"
    assert ("windows", [words]) in stage_section(stage, "lake", {ONLY: SOURCE}).rows


@pytest.mark.parametrize("words", WORDS)
def test_words(words: str) -> None:
    stage = Stage.from_mapping({"keys": ["k"], "window": WORDS[words], "aggregates": {"n": {"count": "*"}}})
    assert ("windows", [words]) in stage_section(stage, "lake", {ONLY: SOURCE}).rows


def test_words_of_a_stage_that_reads_a_stage() -> None:
    first = Stage.from_mapping(
        {"name": "sums", "window": {"fixed": {"size": "1h"}}, "trigger": {"repeat": {"after_count": 1}},
         "accumulation": "retracting", "aggregates": {"n": {"count": "*"}}}
    )  # fmt: skip
    behind = Stage.from_mapping(
        {"name": "all", "from": "sums", "window": {"inherited": {}}, "aggregates": {"n": {"sum": "n"}}}
    )
    check_graph([first, behind])
    rows = dict(stage_section(behind, "lake", {ONLY: first}).rows)
    assert rows["reads"] == [
        "the panes of sums, 1 tick of it a tick",
        "the watermark comes with the panes: it is how far the stage that is read has come with what it shows",
    ]
    assert rows["windows"] == ["those of the panes that are read, as they are"]
    assert any("taken back" in line for line in rows["panes"])
