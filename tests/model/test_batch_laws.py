"""Laws of batches with a watermark, in the reference model: they publish what a stream shows.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.laws.strategies import SCHEMA, TickInput, honest_ticks, stages, times, windows
from tests.model.batch import batch
from tests.model.batches import Batches
from tests.model.elements import read
from tests.model.moments import expiry
from tests.model.stream import Stream
from tests.model.table import results
from tests.model.typed_stage import TypedStage
from windrow.spec.aggregates import Count
from windrow.spec.fields.reading import Named
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.all import DEFAULT_TRIGGER, AfterCount, Repeat

KEEPING = (Accumulation.ACCUMULATING, Accumulation.RETRACTING)
WINDOWS = windows(touching=False)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[int, int]:
    start = draw(times(-10, 30))
    return start, start + draw(times(1, 30))


@given(stages(KEEPING, may_close=False, over=WINDOWS), honest_ticks(), st.data())
def test_batches_publish_what_a_stream_shows_of_what_has_expired(
    stage: Stage, ticks: tuple[TickInput, ...], data: st.DataObject
) -> None:
    """Whenever they are run, over whatever intervals, as long as nothing is late."""
    stream, batches, panes = Stream(stage, SCHEMA), Batches(stage, SCHEMA), []
    typed = TypedStage(stage, SCHEMA)
    for step in ticks[:-1]:  # the last one drains the stream
        panes += stream.tick(step.elements, step.now, step.watermark).panes
        batches.land(step.elements, step.now, step.watermark)
        if data.draw(st.booleans()):
            waiting = batches.run(*data.draw(intervals()))
            assert all(expiry(typed, pane.window) > batches.watermark for pane in waiting)
    assert batches.dead == [] and batches.watermark == stream.clock.watermark_after
    shown = {key: values for key, values in results(panes).items() if expiry(typed, key[1]) <= batches.watermark}
    published: dict[Any, Any] = {key: dict(pane.aggregates) for key, pane in batches.published.items()}
    assert published.items() <= shown.items()
    batches.run(MINUS_INFINITY, INFINITY)
    assert {key: dict(pane.aggregates) for key, pane in batches.published.items()} == shown
    batches.run(MINUS_INFINITY, INFINITY, whole=True)
    everything = results(batch(stage, SCHEMA, [element for step in ticks for element in step.elements]).panes)
    assert {key: dict(pane.aggregates) for key, pane in batches.published.items()} == everything


@given(stages(KEEPING, may_close=False, over=WINDOWS), st.lists(honest_ticks(3), min_size=1, max_size=3), st.data())
def test_every_pair_is_published_waits_or_is_dead(
    stage: Stage, parts: list[tuple[TickInput, ...]], data: st.DataObject
) -> None:
    """Also when rows come behind the watermark: those for a window that a batch has published are late."""
    counting = {"aggregates": Named({"rows": Count()}), "derive": Named({}), "having": None, "only_if_changed": False}
    trigger = Repeat(AfterCount(100)) if stage.window.IS_GLOBAL else DEFAULT_TRIGGER
    stage = replace(stage, trigger=trigger, **counting)
    batches, counted = Batches(stage, SCHEMA), 0
    typed = TypedStage(stage, SCHEMA)
    for ticks in parts:
        for step in ticks[:-1]:
            batches.land(step.elements, step.now, step.watermark)
            counted += sum(len(row.windows) for row in read(typed, step.elements, 0).rows)
            if data.draw(st.booleans()):
                batches.run(*data.draw(intervals()))
    before = {key: pane for key, pane in batches.published.items()}
    waiting = batches.run(MINUS_INFINITY, INFINITY, whole=True)
    assert waiting == [] and before.items() <= batches.published.items(), "what was published stays as it is"
    if not stage.window.MERGES:
        aggregated = sum(_number(pane) for pane in batches.published.values())
        assert aggregated + len(batches.dead) == counted


def _number(pane: Any) -> int:
    """The elements of a pane."""
    return int(pane.aggregates["rows"])
