"""What values show of themselves in a notebook: all that the plan says, as HTML that needs nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import windrow
from tests.extensions.windows import OfficeHours
from tests.spec.pages import ROOT, TEXTS, blocks
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import pane_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import read_transcripts
from windrow.spec.windows.base import WindowFunction
from windrow.view.notebook.graph import HEIGHT, Graph, graph_of
from windrow.view.notebook.windows import WIDTH, drawing_of
from windrow.view.plan.pipeline import headline, plan_sections
from windrow.view.show import Shown

FILES = [windrow.load(path, project=ROOT) for path in sorted((ROOT / "conf" / "pipelines").glob("*.yaml"))]
IN_PAGES = [
    Pipeline.from_mapping(load_yaml(text))
    for path in sorted(TEXTS)
    for text in blocks(TEXTS[path], "yaml")
    if text.startswith("pipeline:")
]
PIPELINES = [*FILES, *IN_PAGES]


class Page(HTMLParser):
    """The text of a page by its elements, and those that are open: every element is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), "no attribute twice"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert "svg" in self.open, "only drawings have elements that close themselves"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data.strip())

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def shown(value: Any) -> Page:
    text = value._repr_html_()
    assert not re.findall(r"<script|src=|href=|url\(|@import|https?://", text), "it needs nothing else"
    page = Page(text)
    for drawing in page.attributes("svg"):
        assert drawing["role"] == "img" and drawing["aria-label"]
    assert "windrow" in str(page.tags[0]) and page.tags[0][0] == "div"
    return page


@pytest.mark.parametrize("pipeline", PIPELINES, ids=range(len(PIPELINES)))
def test_a_pipeline_shows_all_that_the_plan_says(pipeline: Pipeline) -> None:
    page = shown(pipeline)
    assert headline(pipeline) in page.words
    for section in plan_sections(pipeline):
        assert section.title in page.words
        for label, lines in section.rows:
            assert label == "writes" or not lines or label in page.words
            said = [line.strip() for line in lines]
            assert label == "writes" or set(said) <= set(page.words)
    for stage in pipeline.stages:
        assert {f"{pipeline.lake}/{stage.name}/{name}" for name in ("current", "panes")} <= set(page.words)
        assert set(pane_columns(stage)) <= set(page.words)
    assert len(page.attributes("svg")) == 1 + len(page.attributes("figure"))


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "transcripts").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_stage_of_the_transcripts_shows_itself(path: Path) -> None:
    for case in read_transcripts(path):
        for stage in case.stages:
            page = shown(stage)
            assert f"Stage {stage.name}" in page.words and set(pane_columns(stage)) <= set(page.words)


def test_sources_and_tables_show_themselves() -> None:
    pipeline = FILES[1]
    stage, source = pipeline.stages[0], pipeline.sources[0]
    page = shown(pipeline.table(stage.name))
    assert {"current", "panes", "dead_letters", "ticks", *pane_columns(stage)} <= set(page.words)
    assert "reads" not in page.words and page.attributes("details")[1].keys() == {"class", "open"}
    assert {"raw", "landings", *source.columns} <= set(shown(pipeline.table(source.name)).words)
    assert "Source departures" in shown(source).words
    assert "lake/x" in shown(windrow.Table("lake", "x")).words


def test_the_tables_of_a_join_name_its_rows() -> None:
    (join,) = [stage for pipeline in PIPELINES for stage in pipeline.stages if stage.join is not None][:1]
    assert "row" in shown(join).words


HOSTILE = "<script>alert('x')</script>\"&amp;"


def hostile() -> Pipeline:
    """With markup wherever a user may write more than letters."""
    source = {
        "name": "rows", "kafka": {"servers": HOSTILE, "topic": "clicks"},
        "schema": {"at": "string", HOSTILE: "int", "v": "string"},
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    stage = {
        "name": "s", "select": {"x": "concat(v, '</style></svg><b onload=\"\">')"}, "where": "v <> '<i>' and 1 < 2",
        "keys": [{"k": "upper(concat(v, '</td><u>'))"}], "window": {"fixed": {"size": "1h"}},
        "aggregates": {"n": {"count_if": "v = '<a href=x>'"}},
    }  # fmt: skip
    return Pipeline.from_mapping({"pipeline": "p", "lake": f"lake/{HOSTILE}", "sources": [source], "stages": [stage]})


def test_what_the_user_says_is_text() -> None:
    pipeline = hostile()
    for value in (pipeline, *pipeline.sources, *pipeline.stages, pipeline.table("s"), pipeline.table("rows")):
        page = Page(value._repr_html_())
        tags = {tag for tag, _ in page.tags}
        assert not tags & {"script", "b onload", "i", "u", "a"}
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert f"JSON objects in the topic clicks of {HOSTILE}" in " ".join(Page(pipeline._repr_html_()).words)
    assert HOSTILE in Page(pipeline.table("rows")._repr_html_()).words


def test_rows_show_themselves() -> None:
    columns = ["k", "window_start", "window_end", "n", "timing", "pane_index", "is_last"]
    rows = [("<b>a</b>", 0, 3_600_000_000, 12, "on_time", 0, True), (None, None, None, None, "early", 1, False)]
    table = Shown("s", ["k"], ["n"], columns, rows, 7)
    page = shown(table)
    assert [word for word in page.words if word] == [
        "s/current: the last 2 of 7 rows", "k", "window", "n", "timing", "pane", "last",
        "<b>a</b>", "1970-01-01 00:00 - 01:00", "12", "on_time", "0", "yes",
        "-", "all of time", "-", "early", "1", "no",
    ]  # fmt: skip
    assert page.attributes("td")[2] == {"class": "windrow-number"} and page.attributes("td")[0] == {}
    assert "s/current: no row" in shown(Shown("s", ["k"], ["n"], columns, [], 0)).words


def test_it_needs_no_spark() -> None:
    program = "import sys, windrow; pipeline = windrow.load('conf/pipelines/flights.yaml'); pipeline._repr_html_(); "
    program += "sys.exit(', '.join({'pyspark', 'pandas', 'deltalake'} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- which stage reads what

SOURCE = {
    "name": "rows", "files": {"path": "data"}, "schema": "k string, v int, at string",
    "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "0s"},
}  # fmt: skip


def stage(name: str, reads: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "from": reads, "keys": ["k"], "window": {"fixed": {"size": "1h"}},
            "aggregates": {"v": {"sum": "v"}}, **fields}  # fmt: skip


def pipeline_of(*stages: dict[str, Any]) -> Pipeline:
    return Pipeline.from_mapping({"pipeline": "p", "lake": "lake", "sources": [SOURCE], "stages": list(stages)})


def apart(graph: Graph) -> bool:
    """Whether boxes are inside of the drawing and do not overlap."""
    boxes = [(box.x, box.y, box.x + box.width, box.y + HEIGHT) for box in graph.boxes]
    inside = all(x >= 0 and y >= 0 and to <= graph.width and low <= graph.height for x, y, to, low in boxes)
    overlapping = [
        (a, b) for a in boxes for b in boxes if a < b and a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]
    return inside and not overlapping


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", line)]


@pytest.mark.parametrize("number", [1, 2, 9])
def test_boxes_lie_apart_and_every_arrow_leads_from_one_to_another(number: int) -> None:
    graph = graph_of(pipeline_of(*[stage(f"s{n}", "rows") for n in range(number)], stage("last", "s0")))
    assert apart(graph) and len(graph.boxes) == number + 2 and len(graph.arrows) == number + 1
    for arrow in graph.arrows:
        x, y = points(arrow.line)[0]
        assert any(
            box.x - 1 <= x <= box.x + box.width + 1 and box.y - 1 <= y <= box.y + HEIGHT + 1 for box in graph.boxes
        )
    assert (graph.boxes[0].x < graph.boxes[1].x) == (number == 9), "beside each other where that is narrower"
    assert "s0 reads rows" in graph.words and "last reads s0" in graph.words


def test_an_arrow_that_passes_a_box_runs_beside_it() -> None:
    joined = {
        "name": "joined", "window": {"fixed": {"size": "1h"}}, "join": "inner", "accumulation": "retracting",
        "inputs": {
            "left": {"from": "rows", "keys": ["k"], "columns": ["v"]},
            "right": {"from": "sums", "keys": ["k"], "columns": [{"w": "v"}]},
        },
    }  # fmt: skip
    graph = graph_of(pipeline_of(stage("sums", "rows"), joined))
    passed = next(box for box in graph.boxes if box.name == "sums")
    by_label = {arrow.label: arrow for arrow in graph.arrows}
    assert set(by_label) == {"", "left", "right"} and apart(graph)
    beside = [x for x, y in points(by_label["left"].line) if passed.y <= y <= passed.y + HEIGHT]
    assert beside and all(x < passed.x or x > passed.x + passed.width for x in beside)


def test_long_names_are_cut_off_and_told_in_whole() -> None:
    name = "a_name_that_is_longer_than_any_box_can_be_and_goes_on"
    graph = graph_of(pipeline_of(stage(name, "rows")))
    assert graph.boxes[1].name.endswith("…") and graph.boxes[1].title.startswith(f"{name}: ")


# ---------------------------------------------------------------- how windows lie in time

WINDOWS: list[dict[str, Any]] = [
    {"fixed": {"size": "1h"}}, {"fixed": {"size": "1h", "offset": "5m"}}, {"fixed": {"size": "1us"}},
    {"fixed": {"size": "1h", "phase": "by_key"}}, {"sliding": {"size": "3h", "period": "1h"}},
    {"sliding": {"size": "5h", "period": "2h"}}, {"sliding": {"size": "1d", "period": "1m"}},
    {"sliding": {"size": "10m", "period": "1h"}}, {"sliding": {"size": "1h", "period": "1h"}},
    {"cumulative": {"size": "4h", "step": "1h"}}, {"cumulative": {"size": "1d", "step": "1m"}},
    {"cumulative": {"size": "1d", "step": "1d"}}, {"calendar": {"unit": "month", "count": 3}},
    {"sessions": {"gap": "30m"}}, {"sessions": {"gap": "v", "max_gap": "2h"}}, {"record": {"difference": "10s"}},
    {"record": {"difference": "0s"}}, {"global": {}},
]  # fmt: skip


def window_of(window: dict[str, Any]) -> WindowFunction:
    fields = {"keys": ["k"], "aggregates": {"n": {"count": "*"}}, "trigger": {"repeat": {"after_count": 1}}}
    return Stage.from_mapping({"window": window, **fields}).window


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_windows_in_full_colour_are_those_that_hold_an_element(window: dict[str, Any]) -> None:
    drawing = drawing_of(window_of(window), "words")
    assert drawing is not None
    elements = drawing.scene.elements
    for span in drawing.scene.windows:
        ends_with = "record" in window  # their last instant is that of an element
        held = [at for at in elements if span.start <= at < span.end or (ends_with and at == span.end)]
        assert span.holds == bool(held) and span.start < span.end
    hollow = drawing.scene.in_none
    assert not [span for span in drawing.scene.windows for at in hollow if span.start <= at < span.end]
    for bar in drawing.bars:
        assert bar.y + 18 <= drawing.height <= 200
        assert drawing.scene.is_endless or (bar.x >= 0 and bar.x + bar.width <= WIDTH)


def test_of_many_windows_some_are_drawn() -> None:
    drawing = drawing_of(window_of({"sliding": {"size": "1d", "period": "1m"}}), "")
    assert drawing is not None
    assert len(drawing.scene.windows) == 5 and drawing.scene.omitted == [(3, "and 1,436 between them")]
    assert [text for _, text in drawing.marks if text] == ["0", "23h 59m"]


def test_windows_that_only_elements_would_show_are_not_drawn() -> None:
    assert drawing_of(OfficeHours(), "") is None
    own = Stage(window=OfficeHours(), aggregates={"n": windrow.Count()})
    assert not shown(own).attributes("figure")


def test_inherited_windows_are_those_of_the_stage_that_is_read() -> None:
    behind = stage("behind", "sums", window={"inherited": {}})
    pipeline = pipeline_of(stage("sums", "rows"), behind)
    assert len(shown(pipeline).attributes("figure")) == 2
    assert not shown(pipeline.stage("behind")).attributes("figure")
