"""A trigger followed in plain Python fires when that of the reference model does, which has other code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.strategies import TickInput, ticks, triggers
from tests.model import trigger_leaves as model
from tests.model.triggers import build
from windrow.drivers.inspect.explain.triggers.composites import follow
from windrow.drivers.inspect.explain.triggers.nodes import Added, Moment
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.times import MINUS_INFINITY, SECOND
from windrow.spec.triggers.all import AfterBytes, AfterMatch, Trigger, WhenResult, nodes_of

END, EXPIRY = 10 * SECOND, 15 * SECOND


@given(trigger=triggers(), steps=ticks())
def test_it_fires_in_the_same_ticks(trigger: Trigger, steps: tuple[TickInput, ...]) -> None:
    if any(isinstance(node, AfterBytes | AfterMatch | WhenResult) for node in nodes_of(trigger)):
        return  # these look at columns: the law over whole windows has them
    try:
        here = follow(trigger)
    except NotEvaluated:
        return
    there = build(trigger)
    for number, moment, other in moments(steps):
        if number:
            here.on_elements(Added(number), moment)
            there.on_elements([None] * number, other)  # type: ignore[list-item]
        here.on_watermark(moment)
        there.on_watermark(other)
        assert here.is_timer_due(moment) == there.is_timer_due(other)
        here.on_evaluated(moment)
        there.on_evaluated(other)
        assert here.ready(moment) == there.ready(other)
        if here.ready(moment):
            names = [node.trigger.NAME for node in here.path(moment)]
            assert names == [node.NAME for node in there.fired_path(other)]
            here.on_fire(moment)
            there.on_fire(other)
        else:
            assert all(words for words in here.waits_for(moment))
        assert here.finished == there.finished
        if here.finished:
            return


def moments(steps: tuple[TickInput, ...]) -> Iterator[tuple[int, Moment, model.Moment]]:
    """The number of elements of each tick, and the tick as both see it."""
    now, before = 0, MINUS_INFINITY
    for step in steps:
        now = now if step.now is None else step.now
        after = before if step.watermark is None else max(before, step.watermark)
        number = len(step.elements)

        def watermark(percentile: int, after: int = after) -> int:
            return after

        here = Moment(END, EXPIRY, now, before, after, new=number)
        yield number, here, model.Moment(END, EXPIRY, now, before, after, watermark, watermark, new=number)
        before = after


@pytest.mark.parametrize("seen", [0, 3])
def test_a_count_says_how_far_it_is(seen: int) -> None:
    from windrow.spec.triggers.all import AfterCount

    node = follow(AfterCount(3))
    moment = Moment(END, EXPIRY, 0, 0, 0)
    node.on_elements(Added(seen), moment)
    assert node.known(moment) == ("3 new elements" if seen else "0 of 3 new elements")


@given(st.integers(-20, 20))
def test_the_watermark_is_so_far_short(second: int) -> None:
    from windrow.spec.triggers.all import AtWatermark

    words = follow(AtWatermark()).known(Moment(END, EXPIRY, 0, 0, second * SECOND))
    short = f"the watermark is {10 - second}s short of the end of the window"
    assert words == (short if second < 10 else "the watermark has reached the end of the window")


def test_a_long_way_is_told_in_days_hours_and_minutes() -> None:
    from windrow.spec.triggers.all import AfterDelay, AtWatermark

    far = END - 93_784 * SECOND
    moment = Moment(END, EXPIRY, far, far, far)
    words = "1d 2h 3m 4s short of"
    assert follow(AtWatermark()).known(moment) == f"the watermark is {words} the end of the window"
    node = follow(AfterDelay(93_784 * SECOND))
    node.on_elements(Added(1), moment)
    assert f"is {words} 1970-01-01 00:00:10" in node.known(moment)
