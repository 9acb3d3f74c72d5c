"""What an explanation computes of a window is what the reference model has shown of it, for random stages and ticks."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.explain.model_lake import ModelLake, made_by_model, with_offsets
from tests.laws import strategies
from tests.laws.test_engine_equals_model import without_floats
from windrow.drivers.inspect.explain.explain import explained_in
from windrow.view.explain.life import Life

EXAMPLES = int(os.environ.get("EXAMPLES", "60"))
LAW = settings(suppress_health_check=list(HealthCheck), max_examples=EXAMPLES)


def lives(lake: ModelLake) -> list[Life]:
    """The life of each window that has shown something."""
    found = []
    for question, window in lake.questions():
        life = explained_in(lake, lake.pipeline, question)
        if life.window == window:  # a session that has become part of another is explained with that one
            found.append(life)
        else:
            assert lake.stage.window.depends_on_others, (life.window, window)
    return found


def agree(run: strategies.Run, weighted: bool = False) -> None:
    lake = with_offsets(made_by_model(run, weighted))
    for life in lives(lake):
        assert list(life.differences) == [], (run, life.key, life.window)
        for pane in life.panes:
            assert not pane.differs
        assert life.text(120) and life.to_mapping() and "<details" in life._repr_html_()


@LAW
@given(run=strategies.runs().map(without_floats))
def test_windows_of_any_kind(run: strategies.Run) -> None:
    agree(run)


@LAW
@given(run=strategies.runs(over=strategies.lone_windows()).map(without_floats))
def test_windows_that_stand_for_themselves(run: strategies.Run) -> None:
    agree(run)


@settings(LAW, max_examples=EXAMPLES // 2)
@given(run=strategies.runs(over=strategies.record_windows()).map(without_floats))
def test_record_windows(run: strategies.Run) -> None:
    agree(run)


@settings(LAW, max_examples=EXAMPLES // 2)
@given(run=strategies.weighted_runs().map(without_floats))
def test_elements_that_are_taken_back(run: strategies.Run) -> None:
    agree(run, weighted=True)


@settings(LAW, max_examples=EXAMPLES // 2)
@given(run=strategies.runs(over=strategies.lone_windows()).map(without_floats))
def test_a_number_that_somebody_has_changed_is_found(run: strategies.Run) -> None:
    """The number of elements of each pane in turn, and its timing."""
    lake = with_offsets(made_by_model(run))
    counted = [name for name, aggregate in lake.stage.aggregates.items() if aggregate.NAME == "count"]
    for row in [row for row in lake.panes if row["weight"] > 0]:
        for name in counted:
            changed(lake, row, name, row[name] + 1)
        if _is_followed(lake, row):
            changed(lake, row, "timing", "on_time" if row["timing"] != "on_time" else "late")


def changed(lake: ModelLake, row: dict[str, Any], name: str, value: Any) -> None:
    before, row[name] = row[name], value
    found = [words for life in lives(lake) for words in life.differences]
    followed = _is_followed(lake, row)
    row[name] = before
    if followed:
        assert any(f"tick {row['tick']}: {name} is" in words for words in found), (name, value, found)


def _is_followed(lake: ModelLake, row: dict[str, Any]) -> bool:
    """Whether nothing of the row's window is unknown."""
    return all(not life.unknown for life in lives(lake) if any(pane.tick == row["tick"] for pane in life.panes))


@settings(LAW, max_examples=EXAMPLES // 2)
@given(run=strategies.runs(over=strategies.lone_windows()).map(without_floats))
def test_every_late_element_is_told(run: strategies.Run) -> None:
    """As often as the model has a dead letter for the window."""
    lake = with_offsets(made_by_model(run))
    letters = Counter(
        (letter["window_start"], letter["window_end"], letter["tick"])
        for letter in lake.tables["stage/dead_letters"].content
        if letter["reason"] in ("late", "closed")
    )
    for life in lives(lake):
        if life.window is None or not life.elements:
            continue
        late = Counter(element.tick for element in life.elements if element.is_late)
        for tick, number in late.items():
            bounds = life.window if life.window[0] > -(2**63) else (None, None)
            assert number <= letters[(*bounds, tick)]


@pytest.mark.parametrize("lost", ["pane", "letter"])
def test_what_is_gone_from_the_tables_is_missed(lost: str) -> None:
    """A pane that the rows ask for, and a dead letter of a late row."""
    from tests.explain.runs import LATE_RUN

    lake = with_offsets(made_by_model(LATE_RUN))
    assert [list(life.differences) for life in lives(lake)] == [[]]
    table = lake.tables["stage/panes" if lost == "pane" else "stage/dead_letters"].content
    del table[-1]
    (life,) = lives(lake)
    words = "no pane is there" if lost == "pane" else "has no dead letter"
    assert [words in said for said in life.differences] == [True]
