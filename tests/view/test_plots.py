"""Plots of numbers over time: lag, completeness, lateness."""

from xml.etree import ElementTree as xml

import pytest

from tests.view.test_pictures import NS, points, shapes, texts
from windrow.spec.times import DAY, HOUR, MINUTE, SECOND, parse_time
from windrow.view.pictures.plot import Plot, Series, Unit, plot_svg, said

START = parse_time("2013-01-01T00:00:00Z")
LAG = Series("lag", [(START + n * HOUR, (2 + n % 5) * HOUR) for n in range(72)], is_steps=True)
RIGHT = Series("complete", [(START + n * DAY, 1 - n / 1000) for n in range(31)])


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.991, Unit.SHARE, "99.1 %"), (1.0, Unit.SHARE, "100 %"), (90 * MINUTE, Unit.LENGTH, "90m"),
        (0, Unit.LENGTH, "0"), (30 * SECOND + 4, Unit.LENGTH, "30s"), (1_234_567, Unit.NUMBER, "1,234,567"),
        (0.25, Unit.NUMBER, "0.25"), (START, Unit.TIME, "2013-01-01 00:00"), (26 * HOUR, Unit.LENGTH, "1d 2h"),
    ],
)  # fmt: skip
def test_numbers_are_said_in_their_unit(value: float, unit: Unit, text: str) -> None:
    assert said(value, unit) == text


def test_a_line_of_steps_has_a_corner_for_each_move_and_stays_in_the_frame() -> None:
    drawn = plot_svg(Plot("Lag", [LAG], "processing time", "behind", unit_up=Unit.LENGTH))
    (line,) = shapes(drawn, "polyline", "line")
    found = points(line)
    assert len(found) == 2 * 72 - 1
    assert all(0 <= x <= 480 - 16 for x, _ in found)
    assert min(y for _, y in found) > 30
    root = xml.fromstring(drawn)
    description = root.find(f"{NS}desc")
    assert description is not None and description.text == "lag: between 2h and 6h, at last 3h."


def test_shares_have_a_scale_on_which_they_differ() -> None:
    drawn = plot_svg(Plot("Right", [RIGHT], "day", "right at first", unit_up=Unit.SHARE))
    labels = [text for text in texts(drawn, "end") if text.endswith("%")]
    assert "100 %" in labels and 3 <= len(labels) <= 7 and len(set(labels)) == len(labels)
    found = points(shapes(drawn, "polyline", "line")[0])
    assert max(y for _, y in found) - min(y for _, y in found) > 60


def test_small_shares_have_a_scale_on_which_they_differ_too() -> None:
    points_of = [(START + n * DAY, n / 1000) for n in range(31)]
    drawn = plot_svg(Plot("Late", [Series("late", points_of)], unit_up=Unit.SHARE))
    found = points(shapes(drawn, "polyline", "line")[0])
    assert max(y for _, y in found) - min(y for _, y in found) > 150
    nothing = plot_svg(Plot("None", [Series("late", [(START, 0.0), (START + DAY, 0.0)])], unit_up=Unit.SHARE))
    assert "1 %" in texts(nothing, "end") and "100 %" not in texts(nothing, "end")


def test_several_lines_have_names_and_hints() -> None:
    drawn = plot_svg(Plot("Two", [LAG, Series("other", [(START, HOUR), (START + DAY, DAY)])], unit_up=Unit.LENGTH))
    assert {"lag", "other"} <= set(texts(drawn, "start"))
    hints = [one.text for circle in shapes(drawn, "circle") for one in circle]
    assert "other: 1h at 2013-01-01 00:00" in hints


def test_an_axis_of_lengths() -> None:
    series = Series("x", [(n * 10 * MINUTE, n / 12) for n in range(13)])
    drawn = plot_svg(Plot("By age", [series], "age", "complete", Unit.LENGTH, Unit.SHARE))
    assert {"0", "30m", "1h"} & {one.text for one in shapes(drawn, "text")}


def test_a_line_of_one_value() -> None:
    for value in (0.0, 1.0, 5.0):
        drawn = plot_svg(Plot("Flat", [Series("x", [(START, value), (START + DAY, value)])]))
        assert len(points(shapes(drawn, "polyline", "line")[0])) == 2
