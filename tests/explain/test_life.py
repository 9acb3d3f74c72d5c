"""What is said of one window, in words and as values."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.explain.model_lake import ModelLake, made_by_model, shown_until, with_offsets
from tests.explain.runs import LATE_RUN, STAGE, element
from tests.laws.strategies import Run, TickInput
from tests.view.browser import check_picture, needs_browser
from windrow.drivers.inspect.explain.explain import explained_in
from windrow.drivers.inspect.explain.question import Question, time_and_bounds
from windrow.spec.aggregates import Count, Sum
from windrow.spec.errors import SpecError
from windrow.spec.stages.stage import ElementTime, Stage
from windrow.spec.times import DAY, SECOND
from windrow.spec.triggers.all import Repeat, WhenResult
from windrow.spec.windows.aligned import CumulativeWindows, SlidingWindows
from windrow.view.explain.life import IN_RESULT, NOT_KNOWN, Life
from windrow.view.explain.parts import answer

KEY = {"k": "a"}


def explained(lake: ModelLake, at: int = 0, **keys: str) -> Life:
    return explained_in(lake, lake.pipeline, Question(lake.stage, keys or KEY, at))


@pytest.fixture(scope="module")
def lake() -> ModelLake:
    return with_offsets(made_by_model(LATE_RUN))


def test_where_every_row_is(lake: ModelLake) -> None:
    life = explained(lake, 9 * SECOND)
    assert life.window == (0, 10 * SECOND) and life.others == []
    assert Counter(e.place for e in life.elements) == {IN_RESULT: 4, "filtered": 1, "late": 1}
    late = next(e for e in life.elements if e.is_late)
    assert (late.event_time, late.tick, late.offset, late.restated_by) == (5 * SECOND, 5, "file-5.json", None)
    assert next(dict(e.values) for e in life.elements if e.place == IN_RESULT) == {"n": 1, "total": 5}
    assert life.missing[0] == "1 row of this key was filtered (where: v > 0 is not true)"
    assert life.missing[1].startswith("one is a dead letter `late`: of 1970-01-01 00:00:05, arrived ")
    assert life.missing[1].endswith(", in file-5.json, read by tick 5")
    assert life.differences == [] and life.unknown == []


def test_what_the_trigger_knew(lake: ModelLake) -> None:
    whys = {tick.tick: list(tick.why) for tick in explained(lake).ticks}
    assert whys[1] == [
        "not yet: 1 of 2 new elements; the watermark is 10s short of the end of the window",
    ]
    assert whys[2] == ["early: 2 new elements (after_count)"]
    assert whys[3] == [
        "on_time: the watermark has reached the end of the window (at_watermark)", "the window is complete",
    ]  # fmt: skip
    assert whys[4] == [
        "late: 1 new element (after_count)", "the window expires: an element for it is late from now on",
    ]  # fmt: skip
    assert whys[5] == []


def test_panes_and_what_has_changed(lake: ModelLake) -> None:
    life = explained(lake)
    panes = [(p.tick, p.change, p.timing, dict(p.value)) for p in life.panes]
    assert panes == [
        (2, "insert", "early", {"n": 2, "total": 11}),
        (3, "update_preimage", "early", {"n": 2, "total": 11}),
        (3, "update_postimage", "on_time", {"n": 3, "total": 18}),
        (4, "update_preimage", "on_time", {"n": 3, "total": 18}),
        (4, "update_postimage", "late", {"n": 4, "total": 26}),
    ]
    assert [dict(p.changed) for p in life.panes if not p.is_retraction][1:] == [
        {"n": (2, 3), "total": (11, 18)}, {"n": (3, 4), "total": (18, 26)},
    ]  # fmt: skip
    assert [dict(p.computed) for p in life.panes if not p.is_retraction][2] == {"n": 4, "total": 26}


def test_the_lists_that_a_drawing_takes(lake: ModelLake) -> None:
    life = explained(lake)
    assert [(p.processing_time, p.watermark) for p in life.watermarks][:3] == [
        (10 * SECOND, 0), (20 * SECOND, 4 * SECOND), (30 * SECOND, 11 * SECOND),
    ]  # fmt: skip
    assert life.windows == [(0, 10 * SECOND)]
    assert [e.processing_time for e in life.elements if e.tick == 3] == [30 * SECOND]
    assert {e.label for e in life.elements if e.is_late} == {"1, 9"}


def test_a_key_of_which_nothing_came(lake: ModelLake) -> None:
    life = explained(lake, k="nobody")
    assert life.panes == [] and life.missing[0] == "no row of this key fell into the window"
    assert "no pane has been shown" in life.text(100)


@pytest.mark.parametrize(("name", "last"), [("panes", 2), ("panes", 3), ("dead_letters", 4)])
def test_a_tick_that_a_table_does_not_show_yet_is_not_told(name: str, last: int) -> None:
    """Tables are written behind the journal; each tick of this run has panes but for the first and last, a letter."""
    lake = with_offsets(made_by_model(LATE_RUN))
    behind = lake.tables[f"stage/{name}"]
    rows = [row for row in behind.content if row["tick"] <= last]
    lake.tables[f"stage/{name}"] = replace(behind, content=rows, noted=shown_until(last))
    life = explained(lake)
    assert life.tick == last and life.differences == []
    assert {pane.tick for pane in life.panes} == {2, 3, 4} & {*range(last + 1)}
    assert {e.place for e in life.elements if (e.step or 0) > last} == {"not read yet"}


def test_tables_of_an_older_generation_are_not_explained_by_the_newest() -> None:
    lake = with_offsets(made_by_model(LATE_RUN))
    newer = {"stage": "stage", "generation": 2, "fingerprint": "{}", "step": 2}
    lake.tables["_windrow/generations"].content.append(newer)
    with pytest.raises(SpecError, match=r"stages.stage is made anew \(generation 2\), .* still show generation 1"):
        explained(lake)


def test_a_dead_row_of_the_key_is_named() -> None:
    lake = with_offsets(made_by_model(LATE_RUN))
    raw = lake.tables["source/raw"]
    dead = {**raw.content[0], "_row": 9, "_event_time": None, "_reason": "bad_timestamp", "_rule": "a time in ISO 8601"}
    unreadable = {**dead, "k": None, "v": None, "_row": 10, "_reason": "unreadable", "_raw": '{"k": '}
    raw.content.extend([dead, unreadable, {**dead, "k": "b", "_row": 11}])
    life = explained(lake)
    assert [e.place for e in life.elements].count("bad_timestamp") == 1
    (said,) = [words for words in life.missing if "bad_timestamp" in words]
    assert said.startswith("one is a dead letter `bad_timestamp` (a time in ISO 8601): without an event time")
    assert "file-1.json" in said
    assert any("1 row of source source that arrived meanwhile could not be read" in words for words in life.missing)


def test_rows_of_a_quarantined_file_that_were_dead_before() -> None:
    """No tick has counted what could not be read as a whole, had no arrival time, or came from the future."""
    lake = with_offsets(made_by_model(LATE_RUN))
    rows = lake.tables["source/raw"].content
    gone = {**rows[0], "_reason": "quarantined", "_rule": "the file was quarantined in landing step 6"}
    unreadable = {**gone, "_row": 9, "_raw": '{"k": "a", "v": 5, "d": "many"}'}
    untimed = {**gone, "_row": 10, "_arrival_time": None}
    ahead = {**gone, "_row": 11, "_arrival_time": gone["_event_time"] - DAY - 1}
    rows[:1] = [gone, unreadable, untimed, ahead]
    life = explained(lake)
    assert life.differences == []
    elements = [(e.row, e.why.endswith("after it had been read")) for e in life.elements if e.place == "quarantined"]
    assert elements == [(gone["_row"], True), (10, False), (11, False)]


def test_rows_that_no_tick_has_read() -> None:
    lake = with_offsets(made_by_model(LATE_RUN))
    raw = lake.tables["source/raw"]
    raw.content.append({**raw.content[0], "_step": 6, "_event_time": 6 * SECOND})
    lake.tables["source/raw"] = replace(raw, last=6)
    life = explained(lake)
    assert "1 element has landed, and no tick has read it yet" in life.missing and life.differences == []


def read_otherwise(stage: Stage) -> Life:
    """The life of a window of a stage whose file was changed for something that only Spark can evaluate."""
    lake = with_offsets(made_by_model(LATE_RUN))
    lake.pipeline = replace(lake.pipeline, stages=[stage])
    return explained(lake)


def test_an_aggregate_that_only_spark_can_evaluate_is_not_compared() -> None:
    aggregates = {"n": Count(), "total": Sum("cast(md5(k) as bigint)")}
    life = read_otherwise(replace(STAGE, aggregates=aggregates))
    assert life.unknown == ["stage stage, aggregates.total: the function md5"] and life.differences == []
    assert {name for pane in life.panes for name in pane.computed or ()} == {"n"}


@pytest.mark.parametrize(
    ("changed", "place", "kept"),
    [
        ({"where": "md5(k) is not null"}, "where", True),
        ({"keys": {"k": "if(md5(k) is null, k, k)"}}, "keys.k", False),
        ({"element_time": ElementTime("1s", "timestamp_micros(length(md5(k)))")}, "element_time", True),
        ({"explode": {"part": "split(k, ',')"}}, "explode.part", True),
    ],
)
def test_nothing_is_compared_where_only_spark_can_tell_the_elements(
    changed: dict[str, object], place: str, kept: bool
) -> None:
    life = read_otherwise(replace(STAGE, **changed))
    assert any(said.startswith(f"stage stage, {place}: ") for said in life.unknown)
    assert "what panes should have been shown, and with which results: only Spark can tell the elements" in life.unknown
    assert life.differences == [] and not any(pane.computed for pane in life.panes)
    places = {element.place for element in life.elements}
    assert (NOT_KNOWN in places) is kept and IN_RESULT not in places
    said = [line for line in life.missing if "may be elements or not" in line]
    assert bool(said) is kept and "no row of this key fell into the window" not in life.missing
    assert life.checked == [] and not any("of 0 elements" in line for line in answer(life))
    assert all(f"only Spark can evaluate {place}" in line for line in said)


def test_a_condition_over_results() -> None:
    stage = replace(STAGE, trigger=Repeat(WhenResult("total > 10")), where=None)
    ticks = (TickInput((element(1, 5),), SECOND, 0), TickInput((element(2, 6),), 2 * SECOND, 1))
    life = explained(with_offsets(made_by_model(Run(stage, ticks))))
    assert [tick.why for tick in life.ticks] == [
        ["not yet: total > 10 does not hold"], ["early: total > 10 holds (when_result)"],
    ]  # fmt: skip
    assert life.differences == []


def test_which_of_several_windows(lake: ModelLake) -> None:
    """The one that starts last, and of those the one that ends first; or the one that is named."""
    stage = replace(STAGE, window=SlidingWindows(10 * SECOND, 4 * SECOND))
    sliding = with_offsets(made_by_model(Run(stage, LATE_RUN.ticks)))
    life = explained(sliding, 9 * SECOND)
    assert life.window == (8 * SECOND, 18 * SECOND) and life.others == [(0, 10 * SECOND), (4 * SECOND, 14 * SECOND)]
    at, bounds = time_and_bounds("at", "1970-01-01T00:00:04Z/1970-01-01T00:00:14Z")
    named = explained_in(sliding, sliding.pipeline, Question(sliding.stage, KEY, at, bounds))
    assert named.window == (4 * SECOND, 14 * SECOND) and (0, 10 * SECOND) in named.others
    stage = replace(STAGE, window=CumulativeWindows(20 * SECOND, 5 * SECOND))
    assert explained(with_offsets(made_by_model(Run(stage, LATE_RUN.ticks))), 7 * SECOND).window == (0, 10 * SECOND)
    with pytest.raises(SpecError, match="--at must have its end behind its start"):
        time_and_bounds("--at", "1970-01-02/1970-01-01")


def test_text_json_and_html(lake: ModelLake) -> None:
    life = explained(lake)
    text = life.text(160)
    assert text.startswith("stage, k a, 1970-01-01 00:00 - 00:00:10")
    assert "n 4, total 26: pane 2 (late), shown by tick 4, of 4 elements" in text and "the rows give the same" in text
    mapping = json.loads(json.dumps(life.to_mapping()))
    assert mapping["window"] == [0, 10 * SECOND] and mapping["panes"][0]["value"] == {"n": 2, "total": 11}
    assert [e["is_late"] for e in mapping["elements"]].count(True) == 1
    html = life._repr_html_()
    assert html.count("<details") >= 6 and "<script" not in html and "http" not in html
    assert html.count("<svg") == 1


@pytest.mark.parametrize(
    ("keys", "words"),
    [({}, r"--key must name the one key to explain: k is missing. Hint: --key k=..."),
     ({"x": "1"}, r"--key names what is not a key of stage; got .x.")],
)  # fmt: skip
def test_a_wrong_key(lake: ModelLake, keys: dict[str, str], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Question(lake.stage, keys, 0)


@needs_browser
@pytest.mark.parametrize("width", [400, 1280])
def test_a_notebook_shows_it(lake: ModelLake, width: int, tmp_path: Path) -> None:
    html = explained(lake)._repr_html_()
    check_picture(f"<html><body>{html}</body></html>", f"explained-{width}", width, tmp_path)
