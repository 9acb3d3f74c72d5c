"""A window that was made again because rows of it were forgotten: nothing is told of these, and nothing is missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.explain.model_lake import ModelLake, made_by_model, shown_until, with_offsets
from tests.explain.runs import LATE_RUN
from windrow.drivers.inspect.explain.explain import explained_in
from windrow.drivers.inspect.explain.question import Question
from windrow.engine.tick.counters import Counters
from windrow.spec.times import SECOND
from windrow.store.journal.control import FORGETTING, Control
from windrow.view.explain.life import IN_RESULT

TICK = 6


@pytest.fixture
def lake() -> ModelLake:
    """The element of second 2 was forgotten, whose value was 6: what is left are 5, 7 and 8, and 9, which is late."""
    lake = with_offsets(made_by_model(LATE_RUN))
    (hers,) = [row for row in lake.tables["source/raw"].content if row["_event_time"] == 2 * SECOND]
    kept = ("_step", "_row", "_offset", "_arrival_time")
    hers |= {name: None for name in hers if name not in kept}
    hers |= {"_reason": "forgotten", "_rule": "the person was forgotten"}
    journal = lake.tables["stage/journal/1"].content
    last = Control.from_json(max(journal, key=lambda row: row["tick"])["_control"])
    made = Counters(panes=1)
    control = replace(last, tick=TICK, kind=FORGETTING, watermark_before=last.clock.watermark, counters=made)
    journal.append({"tick": TICK, "_control": control.to_json(), "_kind": "control"})
    pane = {**next(row for row in lake.panes if row["weight"] > 0), "tick": TICK, "n": 3, "total": 20}
    pane |= {"change": "insert", "timing": "on_time", "trigger": "backfill", "pane_index": 0, "is_last": True}
    lake.tables["stage/panes"] = replace(lake.tables["stage/panes"], content=[pane], noted=shown_until(TICK))
    return lake


def test_nothing_is_told_of_forgotten_rows_and_the_others_give_what_is_shown(lake: ModelLake) -> None:
    life = explained_in(lake, lake.pipeline, Question(lake.stage, {"k": "a"}, 0))
    assert [one.event_time for one in life.elements if one.place == IN_RESULT] == [SECOND, 9 * SECOND, 4 * SECOND]
    assert "forgotten" not in {one.place for one in life.elements} and not any(
        "forgotten" in one for one in life.missing
    )
    (pane,) = life.panes
    assert (pane.kind, dict(pane.value), dict(pane.computed)) == (FORGETTING, {"n": 3, "total": 20}, dict(pane.value))
    assert life.differences == []
    assert life.unknown == ["which panes its trigger should have shown: tick 6 has forgotten rows since"]
    (tick,) = [one for one in life.ticks if one.tick == TICK]
    assert tick.why[0] == "on_time: a forgetting made the window from the rows (backfill)"


def test_while_a_row_is_being_forgotten_it_has_its_values_and_is_not_shown(lake: ModelLake) -> None:
    hers = next(row for row in lake.tables["source/raw"].content if row["_reason"] == "forgotten")
    hers |= {"k": "a", "v": 6, "_event_time": 2 * SECOND, "_rule": "the person is being forgotten"}
    life = explained_in(lake, lake.pipeline, Question(lake.stage, {"k": "a"}, 0))
    assert 2 * SECOND not in {one.event_time for one in life.elements}


def test_a_wrong_number_is_found_all_the_same(lake: ModelLake) -> None:
    lake.panes[0]["total"] = 26
    life = explained_in(lake, lake.pipeline, Question(lake.stage, {"k": "a"}, 0))
    assert life.differences == ["tick 6: total is 26, and 20 by the rows"]
