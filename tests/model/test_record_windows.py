"""Record windows beside all windows on the grid, by trial: of those with the same records, the first one exists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.assign import Window
from tests.model.batch import batch
from tests.model.stream import Stream
from tests.model.table import results
from windrow.spec.aggregates import Collect
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import INFINITY
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.spec.triggers.all import AfterCount, Repeat
from windrow.spec.windows.records import RecordWindows

SCHEMA = {"k": "string", "n": "int"}
RECORDS = st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-15, 15))))
WINDOWS = st.builds(lambda steps, grain: RecordWindows(steps * grain, grain), st.integers(0, 4), st.integers(1, 4))


def numbered(ticks: Sequence[Sequence[tuple[str, int]]]) -> list[list[TranscriptElement]]:
    numbers = iter(range(sum(map(len, ticks))))
    return [[TranscriptElement(at, None, {"k": k, "n": next(numbers)}) for k, at in tick] for tick in ticks]


def stage_of(window: RecordWindows, lateness: int = 0) -> Stage:
    return Stage(
        keys=["k"],
        window=window,
        trigger=Repeat(AfterCount(2)),
        accumulation=Accumulation.RETRACTING,
        allowed_lateness=lateness,
        aggregates={"all": Collect("n")},
    )


def by_trial(window: RecordWindows, elements: Sequence[TranscriptElement]) -> Mapping[object, list[int]]:
    """The records of each window that begins where the set of records has just changed to another, not empty one."""
    found = {}
    by_key = defaultdict(list)
    for one in elements:
        by_key[one.columns["k"]].append(one)
    for key, records in by_key.items():
        before: list[int] = []
        for start in range(-20 * window.resolution - window.length, 20 * window.resolution, window.resolution):
            end = start + window.difference + window.resolution
            inside = [one.columns["n"] for one in records if start <= one.at < end]
            if inside and inside != before:
                found[(key,), (start, end)] = inside
            before = inside
    return found


@given(RECORDS, WINDOWS)
def test_each_distinct_set_of_records_has_one_window(ticks: list[list[tuple[str, int]]], window: RecordWindows) -> None:
    elements = [one for tick in numbered(ticks) for one in tick]
    found = batch(stage_of(window), SCHEMA, elements).panes
    assert {(pane.key, pane.window): sorted(pane.aggregates["all"]) for pane in found} == by_trial(window, elements)
    sets = [(pane.key, tuple(pane.aggregates["all"])) for pane in found]
    assert len(sets) == len(set(sets))


@given(RECORDS, WINDOWS)
def test_in_a_stream_too(ticks: list[list[tuple[str, int]]], window: RecordWindows) -> None:
    """A record is in windows that arise later, and in those that were there before it."""
    stream = Stream(stage_of(window, INFINITY - 1), SCHEMA)
    panes = [pane for tick in numbered(ticks) for pane in stream.tick(tick).panes]
    panes += stream.tick(watermark=INFINITY).panes
    elements = [one for tick in numbered(ticks) for one in tick]
    found = {place: sorted(aggregates["all"]) for place, aggregates in results(panes).items()}
    assert found == by_trial(window, elements)


@given(RECORDS, WINDOWS, st.integers(0, 3), st.data())
def test_with_a_watermark_that_is_ahead_of_records(
    ticks: list[list[tuple[str, int]]], window: RecordWindows, lateness: int, data: st.DataObject
) -> None:
    """Every window that is shown holds just the records of its span that came before it had expired."""
    marks = sorted(data.draw(st.lists(st.integers(-20, 25), min_size=len(ticks), max_size=len(ticks))))
    stream = Stream(stage_of(window, lateness), SCHEMA)
    panes, came, before = [], [], -INFINITY
    for tick, mark in zip(numbered(ticks), marks, strict=True):
        result = stream.tick(tick, watermark=mark)
        panes += result.panes
        came += [(one, before) for one in tick]
        before = mark
        late = [letter for letter in result.dead if letter.reason == "late"]
        assert len({id(letter.element) for letter in late}) == len(late)
    panes += stream.tick(watermark=INFINITY).panes
    for (key, (start, end)), shown in results(panes).items():
        in_time = [one for one, watermark in came if watermark < end + lateness and one.columns["k"] == key[0]]
        assert sorted(shown["all"]) == [one.columns["n"] for one in in_time if start <= one.at < end]


@pytest.mark.parametrize("watermark, arises", [(10, [Window(1, 12)]), (11, [])])
def test_a_record_that_is_late_altogether_makes_no_window(watermark: int, arises: list[Window]) -> None:
    """A record at 0 could be in windows that end up to 11; the one behind it has a record, and ends at 12."""
    stream = Stream(stage_of(RecordWindows(10, 1)), SCHEMA)
    stream.tick(numbered([[("a", 5)]])[0], watermark=watermark)
    late = stream.tick(numbered([[("a", 0)]])[0])
    assert [(letter.reason, letter.window) for letter in late.dead] == [("late", (-10, 1))]
    assert [window for _, window in late.cells] == arises
