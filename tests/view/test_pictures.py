"""Pictures of event time against processing time: what is drawn, where, and in which words."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as xml

import duckdb
import pyarrow as pa
import pytest

from tests.spec.pages import ROOT
from windrow.spec.times import HOUR, INFINITY, MINUS_INFINITY, MINUTE, SECOND, parse_time
from windrow.spec.transcripts.cases import Case, read_transcripts
from windrow.view.pictures.density import MOST_DOTS, density_of, density_of_grid, grid_query
from windrow.view.pictures.drawing import MOST_KEYS, svg
from windrow.view.pictures.lives import picture_of
from windrow.view.pictures.transcripts import pictures
from windrow.view.pictures.values import Element, Pane, Picture, WatermarkPoint, Window

TRANSCRIPTS = ROOT / "tests" / "transcripts"
PAPER = {case.name: case for case in read_transcripts(TRANSCRIPTS / "paper.yaml")}
RESULTS = {
    "paper-06": [51], "paper-07": [12, 22, 33, 51], "paper-08": [12, 10, 11, 18], "paper-09": [12, 7, 11, 12, 9],
    "paper-10": [14, 22, 3, 12], "paper-11": [5, 7, 14, 3, 22, 3, 14, 12], "paper-12": [5, 22, 3, 14, 12],
    "paper-13": [5, 7, 14, 3, 22, 3, 14, 12], "paper-14": [5, 7, 10, -7, -10, 25, 3, -5, -25, 39, -3, 12],
}  # fmt: skip
"""What the text of the patent says comes out of each figure, in the order of emission; retractions are negative."""
POINTS = [5, 7, 3, 4, 3, 8, 3, 9, 8, 1]
DRAWN = [
    pytest.param(picture, id=f"{file.stem}: {picture.title}")
    for file in sorted(TRANSCRIPTS.glob("*.yaml"))
    for case in read_transcripts(file)
    for picture in pictures(case)
]
NS = "{http://www.w3.org/2000/svg}"
START = parse_time("2024-01-01T00:00:00Z")


def shapes(text: str, name: str, kind: str = "") -> list[xml.Element]:
    """The elements of a drawing by their name and class."""
    wanted = {f"windrow-{one}" for one in kind.split()}
    found = xml.fromstring(text).iter(f"{NS}{name}")
    return [one for one in found if wanted <= set((one.get("class") or "").split())]


def texts(text: str, kind: str) -> list[str]:
    return [one.text or "" for one in shapes(text, "text", kind)]


def points(line: xml.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in (line.get("points") or "").split())]


@pytest.mark.parametrize("name", RESULTS)
def test_the_figures_of_the_paper_show_its_results(name: str) -> None:
    (case,) = (case for title, case in PAPER.items() if title.startswith(name))
    (picture,) = pictures(case)
    signed = [-int(pane.value) if pane.is_retraction else int(pane.value) for pane in picture.panes]
    assert signed == RESULTS[name]
    assert [int(one.label) for one in picture.elements] == POINTS and not picture.by_tick
    drawn = svg(picture)
    shown = Counter(texts(drawn, "value")) + Counter(texts(drawn, "minus"))
    assert shown == Counter(f"\N{MINUS SIGN}{-one}" if one < 0 else str(one) for one in RESULTS[name])
    assert Counter(texts(drawn, "inside")) == Counter(map(str, POINTS))


def test_only_the_nine_is_late_and_behind_the_watermark() -> None:
    (picture,) = pictures(PAPER["paper-12-fixed-streaming"])
    assert [one.label for one in picture.elements if one.is_late] == ["9"]
    drawn = svg(picture)
    (late,) = shapes(drawn, "circle", "element behind")[1:]  # the first is in the legend
    (line,) = shapes(drawn, "polyline", "watermark")
    at = max(x for x, y in points(line) if y >= float(late.get("cy") or 0))
    assert float(late.get("cx") or 0) < at, "it stands left of where the watermark was"
    for circle in shapes(drawn, "circle", "element"):
        if "windrow-behind" not in (circle.get("class") or "") and float(circle.get("r") or 0) == 9:
            before = [x for x, y in points(line) if y >= float(circle.get("cy") or 0) + 9]
            assert float(circle.get("cx") or 0) >= max(before, default=0.0), "the others stand on its right"


def test_a_pane_on_time_closes_where_the_watermark_passes() -> None:
    drawn = svg(pictures(PAPER["paper-12-fixed-streaming"])[0])
    (line,) = shapes(drawn, "polyline", "watermark")
    moves = list(zip(points(line), points(line)[1:], strict=False))
    boxes = [box for box in shapes(drawn, "rect", "box on_time") if float(box.get("width") or 0) > 20]
    assert len(boxes) == 4
    for box in boxes:
        right, top = float(box.get("x") or 0) + float(box.get("width") or 0), float(box.get("y") or 0)
        assert any(a[1] == b[1] == top and a[0] <= right + 1 and b[0] >= right - 1 for a, b in moves)


def test_accumulating_boxes_are_inside_each_other_and_discarding_ones_are_not() -> None:
    def heights(name: str) -> list[tuple[float, float]]:
        boxes = shapes(svg(pictures(PAPER[name])[0]), "rect", "box early")
        spans = [(float(b.get("y") or 0), float(b.get("y") or 0) + float(b.get("height") or 0)) for b in boxes]
        return sorted(span for span in spans if span[1] - span[0] > 13)

    accumulating = heights("paper-07-global-at-period-accumulating")
    assert len(accumulating) == 4 and len({round(bottom) for _, bottom in accumulating}) == 1
    discarding = heights("paper-08-global-at-period-discarding")
    assert len(discarding) == 4
    assert all(one[1] <= other[0] for one, other in pairwise(discarding))


@pytest.mark.parametrize("picture", DRAWN)
def test_every_transcript_can_be_drawn(picture: Picture) -> None:
    """Within its frame, as XML, with words for who cannot see it, and the same each time."""
    drawn = svg(picture)
    root = xml.fromstring(drawn)
    assert root.get("role") == "img"
    title, description = (root.find(f"{NS}{name}") for name in ("title", "desc"))
    assert title is not None and title.text == picture.title
    assert description is not None and "Event time runs across" in (description.text or "")
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    assert width == 480 and 80 < height < 3000
    for one in root.iter():
        for across, up in (("x", "y"), ("cx", "cy"), ("x1", "y1"), ("x2", "y2")):
            if one.get(across) is not None:
                assert -1 <= float(one.get(across) or 0) <= width + 1, one.attrib
                assert -1 <= float(one.get(up) or 0) <= height + 1, one.attrib
        assert float(one.get("width") or 1) > 0 and float(one.get("height") or 1) > 0, one.attrib
    assert svg(picture) == drawn
    assert re.findall(r"https?://", drawn) == ["http://"], "the name of SVG, and nothing else of the network"
    assert "<script" not in drawn and "prefers-color-scheme: dark" in drawn


def test_values_of_one_window_are_not_written_over_each_other() -> None:
    for case in PAPER.values():
        areas = []
        for one in shapes(svg(pictures(case)[0]), "text", "value"):
            x, y, half = float(one.get("x") or 0), float(one.get("y") or 0), len(one.text or "") * 3.4
            areas.append((x - half, x + half, y - 9, y))
        for number, (left, right, top, bottom) in enumerate(areas):
            for a, b, c, d in areas[number + 1 :]:
                assert min(right, b) <= max(left, a) or min(bottom, d) <= max(top, c), case.name


def test_labels_beside_dots_are_not_written_over_each_other() -> None:
    """Neither those of one moment nor those of two that are close: each has a line of text."""
    (table,) = (
        case for case in read_transcripts(TRANSCRIPTS / "atlas.yaml") if case.name == "table 1 - without watermarks"
    )
    (picture,) = pictures(table)
    lines = [(float(one.get("x") or 0), float(one.get("y") or 0)) for one in shapes(svg(picture), "text", "label")]
    assert len(lines) == len(picture.elements) == 10
    for number, (x, y) in enumerate(lines):
        assert all(abs(y - other_y) >= 12 or abs(x - other_x) > 50 for other_x, other_y in lines[number + 1 :])


def test_ticks_that_the_clock_does_not_tell_apart_have_rows() -> None:
    (case,) = (
        case for case in read_transcripts(TRANSCRIPTS / "drawings.yaml") if case.name == "accumulation-discarding"
    )
    (picture,) = pictures(case)
    assert picture.by_tick and picture.clears
    drawn = svg(picture)
    assert texts(drawn, "end")[:3] == ["1", "2", "3"] and texts(drawn, "value") == ["2", "7", "5"]


def test_each_key_has_a_panel_and_those_beyond_are_named() -> None:
    elements = [Element(START + n * MINUTE, START + n * MINUTE, label=str(n), key=f"k{n}") for n in range(9)]
    picture = Picture("keys", elements)
    drawn = svg(picture)
    assert [text for text in texts(drawn, "label start") if text.startswith("k")] == [f"k{n}" for n in range(MOST_KEYS)]
    assert f"and {9 - MOST_KEYS} more keys" in texts(drawn, "start")


@pytest.mark.parametrize("label", ["", "1"])
def test_dots_that_say_nothing_stand_where_their_times_are(label: str) -> None:
    """To scale a dot only moves for its label; no time is read off it that it does not have."""
    close = [Element(START + second * SECOND, START + HOUR, label=label) for second in (0, 5, 10)]
    drawn = svg(Picture("close", [*close, Element(START + HOUR, START + 2 * HOUR, label=label)]))
    circles = shapes(drawn, "circle", "element" if label else "point")
    heights = Counter(float(one.get("cy") or 0) for one in circles)
    assert sorted(heights.values()) == ([1, 3] if not label else [1, 1, 1, 1])


@pytest.mark.parametrize("label", ["", "1"])
def test_a_firing_moves_the_dots_of_no_other_moment(label: str) -> None:
    """An element that arrives at once lies on the line of no delay, whatever else is in the picture."""
    at_once, fired = Element(START + HOUR, START + HOUR, label=label), START + 3 * HOUR
    pane = Pane(START, START + 2 * HOUR, fired, 1, "late", "2")
    drawn = svg(Picture("moments", [at_once, Element(START, fired, label=label)], panes=[pane]))
    heights = sorted(float(one.get("cy") or 0) for one in shapes(drawn, "circle", "element" if label else "point"))
    (line,) = shapes(drawn, "polyline", "ideal")
    (left, low), (right, high) = (tuple(map(float, point.split(","))) for point in (line.get("points") or "").split())
    across = float(shapes(drawn, "circle", "element" if label else "point")[0].get("cx") or 0)
    assert heights[-1] == pytest.approx(low + (high - low) * (across - left) / (right - left), abs=0.2)
    _, box = shapes(drawn, "rect", "box late")  # behind its sample in the legend
    assert heights[0] == pytest.approx(float(box.get("y") or 0) + (11 if label else 0), abs=0.2)


def test_many_elements_are_counted_and_none_is_lost() -> None:
    many = [Element(START + n * SECOND, START + n * SECOND + n % 7 * MINUTE, is_late=n % 10 == 0) for n in range(5000)]
    density = density_of(many)
    assert density.number == 5000 and sum(density.late.values()) == 500
    drawn = svg(Picture("many", many))
    assert not shapes(drawn, "circle", "point") and len(shapes(drawn, "rect", "many")) == len(density.counts)
    assert len(shapes(drawn, "rect", "many-late")) == len(density.late)
    assert "5,000 elements, 500 late." in drawn
    few = svg(Picture("few", many[:MOST_DOTS]))
    assert len(shapes(few, "circle", "point")) >= MOST_DOTS and not shapes(few, "rect", "many")


def test_an_engine_counts_as_python_does() -> None:
    """With times before 1970, nulls, and rows that are outside."""
    many = [Element(n * SECOND - HOUR, n * SECOND * 3 % HOUR) for n in range(1000)]
    expected = density_of(many)
    times = pa.array([one.event_time for one in many] + [None, 10 * HOUR, -10 * HOUR])
    arrivals = pa.array([one.processing_time for one in many] + [0, 0, 0])
    spans = expected.event_times, expected.processing_times
    landed = pa.table({"times": times, "arrivals": arrivals})
    with duckdb.connect() as connection:
        connection.register("landed", landed)
        rows = connection.sql(grid_query('"times"', '"arrivals"', "landed", *spans)).to_arrow_table().to_pylist()
    found = density_of_grid(rows, *spans)
    assert found.counts == expected.counts and found.number == 1000


def test_what_the_data_says_is_text() -> None:
    evil = "</text><script>alert(1)</script>\x00"
    picture = Picture(
        evil, [Element(START, START, label=evil, key=evil)], [WatermarkPoint(START, START)],
        [Window(START, START + HOUR)],
        [Pane(START, START + HOUR, START + SECOND, value=evil, key=evil)], note=evil,
    )  # fmt: skip
    drawn = svg(picture)
    assert "<script" not in drawn and xml.fromstring(drawn) is not None


def test_inline_in_a_page_it_does_not_say_what_svg_is() -> None:
    assert "http" not in svg(Picture("p", [Element(START, START)]), is_inline=True)


def test_a_watermark_that_is_infinite_ends_at_the_edge() -> None:
    known = [
        WatermarkPoint(START, MINUS_INFINITY),
        WatermarkPoint(START + SECOND, START),
        WatermarkPoint(START + 2 * SECOND, INFINITY),
    ]
    picture = Picture("w", [Element(START, START), Element(START + HOUR, START + SECOND)], known)
    (line,) = shapes(svg(picture), "polyline", "watermark")
    assert points(line)[-1][0] == 480 - 16
    assert "The watermark reached the end of time" in svg(picture)


def test_an_open_window_is_drawn_without_a_pane() -> None:
    picture = Picture("open", [Element(START, START, label="1")], windows=[Window(START, START + HOUR)])
    assert len(shapes(svg(picture), "rect", "open")) == 1
    closed = replace(picture, panes=[Pane(START, START + HOUR, START + HOUR, value="1")])
    assert not shapes(svg(closed), "rect", "open")


def test_a_stage_of_a_chain_has_a_picture_of_its_own() -> None:
    chains = [case for case in read_transcripts(TRANSCRIPTS / "chains.yaml") if case.is_chain and case.steps]
    for case in chains:
        assert [one.title for one in pictures(case)] == [f"{case.name}: {stage.name}" for stage in case.stages]


def test_a_notebook_shows_a_case_as_its_picture() -> None:
    case: Case = PAPER["paper-14-sessions-retracting"]
    html = case._repr_html_()
    assert html is not None and html.startswith("<div><svg") and "xmlns" not in html and "39" in html


def test_the_drawings_of_the_pages(tmp_path: Path) -> None:
    """What `windrow check --draw` writes, of a case whose name has signs that no file should have."""
    from windrow.cli.commands.check import _draw

    (case, *_) = read_transcripts(TRANSCRIPTS / "atlas.yaml")
    _draw([replace(case, name="a/b: c?")], tmp_path / "drawn")
    assert [path.name for path in (tmp_path / "drawn").iterdir()] == ["a-b-c.svg"]


@dataclass(frozen=True)
class LivingElement:
    """What is known of a row, as `windrow explain` knows it."""

    event_time: int | None
    arrival_time: int | None
    processing_time: int | None
    place: str
    label: str = "1"
    tick: int | None = 1


@dataclass(frozen=True)
class LivingPane:
    tick: int
    processing_time: int | None
    value: dict[str, object]
    is_retraction: bool = False
    timing: str = "on_time"
    window: tuple[int, int] = (START, START + HOUR)


@dataclass(frozen=True)
class Living:
    elements: list[LivingElement]
    panes: list[LivingPane]
    stage: str = "sums"
    key: dict[str, object] = field(default_factory=lambda: {"k": "a"})
    window: tuple[int, int] | None = (START, START + HOUR)
    watermarks: list[WatermarkPoint] = field(default_factory=lambda: [WatermarkPoint(START + HOUR, START + HOUR, 2)])
    clears: bool = False


def test_the_life_of_a_window_is_a_picture() -> None:
    elements = [
        LivingElement(START, START + SECOND, START + MINUTE, "in the result"),
        LivingElement(START + 1, None, START + MINUTE, "late"),
        LivingElement(START + 3, START + 2 * HOUR, START + 2 * HOUR, "in the result", "4, 2, 2.25", tick=3),
        LivingElement(None, START, START, "bad_timestamp"), LivingElement(START, START, START, "filtered"),
        LivingElement(START + 2, None, None, "not read yet"),
    ]  # fmt: skip
    panes = [
        LivingPane(2, START + HOUR, {"n": 1}), LivingPane(3, None, {"n": 2}),
        LivingPane(4, START + 2 * HOUR, {"n": 2, "m": None}),
    ]  # fmt: skip
    picture = picture_of(Living(elements, panes))
    assert picture.title == "sums: k a, 2024-01-01 00:00 - 01:00"
    assert [(one.processing_time, one.is_dead, one.is_late) for one in picture.elements] == [
        (START + SECOND, False, False), (START + MINUTE, True, False), (START + 2 * HOUR, False, True),
    ]  # fmt: skip
    assert [one.label for one in picture.elements] == ["1", "1", ""], "what fits beside a dot"
    assert [pane.value for pane in picture.panes] == ["1", "n 2"] and picture.windows == [Window(START, START + HOUR)]
    assert "2 on time" in svg(picture)
    assert svg(picture_of(Living([], [], window=None))), "of nothing, too"
