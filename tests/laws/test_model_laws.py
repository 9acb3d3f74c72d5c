"""Laws of the reference model, over random stages and ticks: what must hold whatever the trigger and the bundling."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from tests.laws.strategies import (
    CLEARING,
    SCHEMA,
    WEIGHT,
    Run,
    TickInput,
    honest_ticks,
    rebundled,
    record_windows,
    runs,
    sessions,
    source_ticks,
    stages,
    watermarks,
    weighted_runs,
    windows,
)
from tests.model.assign import Window
from tests.model.batch import batch
from tests.model.merge import meets
from tests.model.panes import DELETE, EARLY, INSERT, LATE, ON_TIME, UPDATE_POSTIMAGE, UPDATE_PREIMAGE, Pane
from tests.model.state import CellKey, State
from tests.model.stream import Stream
from tests.model.table import current, results
from tests.model.tick import Tick
from tests.model.trigger_leaves import Node
from windrow.spec.aggregates import Count
from windrow.spec.fields.reading import Named
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.spec.triggers.all import nodes_of

KEEPING = (Accumulation.ACCUMULATING, Accumulation.RETRACTING)
EVERY = windows(records=True)
NO_TOUCH = windows(touching=False, records=True)


def played(stage: Stage, ticks: Sequence[TickInput], watermark: Watermark | None = None) -> list[Tick]:
    stream = Stream(stage, SCHEMA, watermark)
    return [stream.tick(step.elements, step.now, step.watermark) for step in ticks]


def panes_of(ticks: Iterable[Tick]) -> list[Pane]:
    return [pane for tick in ticks for pane in tick.panes]


def by_window(panes: Iterable[Pane]) -> dict[Any, list[Pane]]:
    """The panes of weight +1 of every key and window, in order."""
    windows = defaultdict(list)
    for pane in panes:
        if pane.weight == 1:
            windows[pane.key, pane.window].append(pane)
    return windows


# ---------------------------------------------------------------- conservation


@given(runs(over=EVERY))
def test_every_element_and_every_pair_is_counted_once(run: Run) -> None:
    for step, tick in zip(run.ticks, played(run.stage, run.ticks), strict=True):
        counts = tick.counts
        assert counts.read == sum(_items(run.stage, element) for element in step.elements)
        assert counts.read == counts.in_windows + counts.unassigned + counts.filtered + sum(counts.dead.values())
        assert counts.assigned == counts.aggregated + counts.late + counts.closed
        assert len(tick.dead) == sum(counts.dead.values()) + counts.late + counts.closed


@given(runs(drained=True, over=EVERY))
def test_what_was_aggregated_is_in_the_results(run: Run) -> None:
    """Every pair that is in no dead letter is in one of the panes that stand, once."""
    stage = _counting(run.stage)
    ticks = played(stage, run.ticks)
    shown = current(panes_of(ticks), stage.is_discarding or stage.is_mixed).values()
    assert sum(pane.aggregates["elements"] for pane in shown) == sum(tick.counts.aggregated for tick in ticks)
    assert ticks[-1].cells == {}


def _items(stage: Stage, element: TranscriptElement) -> int:
    """How many elements of the stage a row is; one that has no items is counted all the same."""
    items = element.columns["many"] if stage.explode and element.at is not None else None
    return max(1, len(items or []))


def _counting(stage: Stage) -> Stage:
    """The stage with a count of its elements, which changes with each of them, and what its trigger looks at."""
    looked_at = {column for node in nodes_of(stage.trigger) for e in node.conditions for column in e.columns}
    kept = {name: aggregate for name, aggregate in stage.aggregates.items() if name in looked_at}
    return replace(stage, aggregates={"elements": Count(), **kept}, having=None)


@given(runs(over=EVERY))
def test_a_dead_letter_says_the_truth(run: Run) -> None:
    """Its window has expired or is closed; where windows merge, it or one that it would have merged with."""
    before, state = MINUS_INFINITY, State()
    for tick in played(run.stage, run.ticks):
        for letter in tick.dead:
            if letter.window is not None:
                window = Window(*letter.window)
                is_expired = before >= saturating_add(window.end, run.stage.allowed_lateness)
                is_late = is_expired or _meets_any(run.stage, window, state.expired)
                is_closed = _meets_any(run.stage, window, [key for key, cell in state.cells.items() if cell.is_closed])
                assert is_late if letter.reason == "late" else is_closed and not is_expired
        before, state = tick.clock.watermark_after, tick.state


def _meets_any(stage: Stage, window: Window, others: Iterable[CellKey]) -> bool:
    return any(meets(stage.window, window, other) for _, other in others)


@given(runs(may_close=False, over=EVERY))
def test_a_trigger_that_is_accepted_loses_nothing(run: Run) -> None:
    assert not run.stage.allow_closing
    assert sum(tick.counts.closed for tick in played(run.stage, run.ticks)) == 0


# ---------------------------------------------------------------- merging


@given(runs(over=sessions()))
def test_sessions_of_a_key_never_meet(run: Run) -> None:
    """Those that are there, open or closed, and those that are remembered."""
    for tick in played(run.stage, run.ticks):
        _check_apart(run.stage, [*tick.cells, *tick.state.expired])


@given(runs(accumulations=KEEPING, drained=True, over=sessions()))
def test_of_sessions_that_were_merged_away_nothing_is_left(run: Run) -> None:
    shown = current(panes_of(played(run.stage, run.ticks))).values()
    _check_apart(run.stage, [(pane.key, pane.window) for pane in shown])


@given(runs(accumulations=[Accumulation.DISCARDING], over=sessions()))
def test_discarding_sessions_retract_nothing(run: Run) -> None:
    assert all(pane.change == INSERT for pane in panes_of(played(run.stage, run.ticks)))


@given(runs(over=sessions()))
def test_a_session_is_retracted_by_the_one_that_it_was_merged_into(run: Run) -> None:
    """In front of its first pane, in the same tick; where `having` holds it back, there is no pane."""
    for tick in played(run.stage, run.ticks):
        for place, gone in enumerate(tick.panes):
            if gone.change == DELETE and run.stage.having is None:
                behind = [pane for pane in tick.panes[place:] if pane.change == INSERT and pane.is_first]
                assert any(pane.key == gone.key and _holds(pane.window, gone.window) for pane in behind)


def _check_apart(stage: Stage, windows: Sequence[CellKey]) -> None:
    for (key, one), (of, other) in combinations(windows, 2):
        assert key != of or not meets(stage.window, one, other)


# ---------------------------------------------------------------- weights


def weighted(run: Run) -> list[Tick]:
    stream = Stream(run.stage, SCHEMA, weight=WEIGHT)
    return [stream.tick(step.elements, step.now, step.watermark) for step in run.ticks]


@given(weighted_runs(drained=True, nothing_late=True))
def test_what_was_taken_back_is_as_if_it_had_never_been(run: Run) -> None:
    left = [element for element in run.elements if element.columns[WEIGHT] == 1]
    for element in run.elements:
        if element.columns[WEIGHT] == -1:
            left.remove(replace(element, columns=Named({**element.columns, WEIGHT: 1})))
    expected = results(panes_of([batch(run.stage, SCHEMA, left)]))
    assert results(panes_of(weighted(run))) == expected
    assert results(panes_of([batch(run.stage, SCHEMA, run.elements, WEIGHT)])) == expected


@given(weighted_runs())
def test_a_window_is_shown_retracted_and_shown_again(run: Run) -> None:
    shown: dict[Any, Pane] = {}
    for pane in panes_of(weighted(run)):
        row = (pane.key, pane.window)
        before = shown.get(row)
        assert (pane.change == INSERT) == (before is None)
        if pane.weight == -1:
            assert before is not None and pane.aggregates == before.aggregates and pane.index == before.index
        if pane.change == DELETE:
            del shown[row]
        elif pane.weight == 1:
            shown[row] = pane


# ---------------------------------------------------------------- panes


@given(runs(over=EVERY))
def test_early_then_one_on_time_then_late(run: Run) -> None:
    for panes in by_window(panes_of(played(run.stage, run.ticks))).values():
        timings = [pane.timing for pane in panes]
        assert timings == sorted(timings, key=[EARLY, ON_TIME, LATE].index)
        assert timings.count(ON_TIME) <= 1


@given(runs(over=EVERY))
def test_indexes_count_from_zero(run: Run) -> None:
    for panes in by_window(panes_of(played(run.stage, run.ticks))).values():
        assert [pane.index for pane in panes] == list(range(len(panes)))
        assert [pane.is_first for pane in panes] == [index == 0 for index in range(len(panes))]
        later = [pane.on_time_index for pane in panes if pane.timing != EARLY]
        assert later == list(range(len(later)))
        assert all(pane.on_time_index is None for pane in panes if pane.timing == EARLY)
        assert not any(pane.is_last for pane in panes[:-1])


@given(runs(over=EVERY))
def test_a_window_emits_one_pane_a_tick_at_most(run: Run) -> None:
    for tick in played(run.stage, run.ticks):
        assert all(len(panes) == 1 for panes in by_window(tick.panes).values())


@given(runs(over=EVERY))
def test_changes_follow_the_accumulation(run: Run) -> None:
    panes = panes_of(played(run.stage, run.ticks))
    standing: set[Any] = set()
    for pane in panes:
        window = (pane.key, pane.window)
        if pane.weight == -1:
            assert window in standing and (run.stage.is_retracting or pane.change == DELETE)
        elif not (run.stage.is_mixed and pane.change == INSERT):
            assert pane.change == (UPDATE_POSTIMAGE if window in standing else INSERT)
        if pane.change == DELETE:
            standing.remove(window)
        elif not run.stage.is_discarding:
            standing.add(window)
    changes = Counter(pane.change for pane in panes)
    assert changes[UPDATE_PREIMAGE] == (changes[UPDATE_POSTIMAGE] if run.stage.is_retracting else 0)
    assert not changes[DELETE] or run.stage.having is not None or run.stage.window.MERGES


@given(runs(accumulations=[Accumulation.RETRACTING], over=EVERY))
def test_the_weights_of_any_prefix_leave_the_current_panes(run: Run) -> None:
    panes: list[Pane] = []
    for tick in played(run.stage, run.ticks):
        panes += tick.panes
        net: Counter[Any] = Counter()
        for pane in panes:
            net[_identity(pane)] += pane.weight
        assert +net == Counter(map(_identity, current(panes).values()))
        assert -net == Counter()


def _identity(pane: Pane) -> Any:
    """What a retraction repeats of the pane that it takes back."""
    left_out = ("change", "weight", "watermark", "produced_at", "tick")
    return repr({name: value for name, value in pane.row().items() if name not in left_out})


# ---------------------------------------------------------------- stream and batch


@given(runs(accumulations=KEEPING, may_close=False, honest=True, over=NO_TOUCH))
def test_a_stream_ends_as_the_batch(run: Run) -> None:
    ticks = played(run.stage, run.ticks)
    assert sum(tick.counts.late + tick.counts.closed for tick in ticks) == 0
    assert results(panes_of(ticks)) == results(batch(run.stage, SCHEMA, run.elements).panes)


@given(runs(accumulations=KEEPING, may_close=False, drained=True, nothing_late=True, over=EVERY))
def test_a_stream_whose_windows_wait_for_everything_ends_as_the_batch(run: Run) -> None:
    """However far the watermark is ahead of the elements, and also for sessions that merge where they touch."""
    assert results(panes_of(played(run.stage, run.ticks))) == results(batch(run.stage, SCHEMA, run.elements).panes)


ADDING = {"num", "given", "positive", "money", "all_values"}
"""Aggregates whose panes add up: no sum of integers, which is null where it does not fit a bigint."""


@given(runs(accumulations=(*CLEARING, Accumulation.ACCUMULATE_BY_DEFAULT), may_close=False, honest=True, over=NO_TOUCH))
def test_panes_that_cleared_add_up_to_the_batch(run: Run) -> None:
    """Those of a session that was merged away are parts of the one that it was merged into."""
    batched = results(batch(run.stage, SCHEMA, run.elements).panes)
    streamed = defaultdict(list)
    for pane in current(panes_of(played(run.stage, run.ticks)), discarding=True).values():
        streamed[_whole(run.stage, pane, batched)].append(pane)
    assert streamed.keys() == batched.keys()
    for window, panes in streamed.items():
        for name in ADDING & run.stage.aggregates.keys():
            assert _added(pane.aggregates[name] for pane in panes) == _added([batched[window][name]])


def _whole(stage: Stage, pane: Pane, batched: Iterable[CellKey]) -> CellKey:
    """The key and window in the batch of which a pane of the stream holds a part."""
    if not stage.window.MERGES:
        return pane.key, pane.window
    (whole,) = (window for key, window in batched if key == pane.key and _holds(window, pane.window))
    return pane.key, whole


def _holds(window: Window, part: Window) -> bool:
    return window.start <= part.start and part.end <= window.end


def _added(values: Iterable[Any]) -> Any:
    present = [value for value in values if value is not None]
    if present and isinstance(present[0], list):
        return Counter(item for value in present for item in value)
    return sum(present) if present else None


@given(stages(KEEPING, may_close=False, over=NO_TOUCH), honest_ticks(), st.data())
def test_the_bundling_does_not_matter(stage: Stage, ticks: tuple[TickInput, ...], data: st.DataObject) -> None:
    other = data.draw(rebundled(Run(stage, ticks).elements))
    assert results(panes_of(played(stage, ticks))) == results(panes_of(played(stage, other)))


@given(runs(over=EVERY), st.randoms(use_true_random=False))
def test_elements_of_a_tick_are_a_set(run: Run, random: Any) -> None:
    shuffled = [TickInput(tuple(random.sample(t.elements, len(t.elements))), t.now, t.watermark) for t in run.ticks]
    assert panes_of(played(run.stage, run.ticks)) == panes_of(played(run.stage, shuffled))


@given(runs(over=EVERY))
def test_a_batch_emits_every_window_once_on_time(run: Run) -> None:
    for pane in batch(run.stage, SCHEMA, run.elements).panes:
        assert (pane.timing, pane.index, pane.is_last, pane.change) == (ON_TIME, 0, True, INSERT)


# ---------------------------------------------------------------- ticks


@given(runs(over=EVERY))
def test_cells_that_need_not_be_evaluated_would_have_nothing_to_say(run: Run) -> None:
    """A cell is evaluated when it got elements or a timer is due; evaluating all of them at every tick is the same."""
    evaluated_when_due = panes_of(played(run.stage, run.ticks))
    with mock.patch.object(Node, "is_timer_due", lambda self, moment: True):
        assert panes_of(played(run.stage, run.ticks)) == evaluated_when_due


@given(runs(over=EVERY))
def test_a_tick_leaves_the_cells_before_it_as_they_are(run: Run) -> None:
    stream = Stream(run.stage, SCHEMA)
    for step in run.ticks:
        before, clock = stream.state, stream.clock
        first = stream.tick(step.elements, step.now, step.watermark)
        stream.state, stream.clock = before, clock
        again = stream.tick(step.elements, step.now, step.watermark)
        assert (first.panes, first.dead, first.counts) == (again.panes, again.dead, again.counts)


@given(runs(over=EVERY))
def test_a_window_is_forgotten_when_it_has_expired(run: Run) -> None:
    for tick in played(run.stage, run.ticks):
        ends = [window.end for _, window in tick.cells]
        assert all(tick.clock.watermark_after < saturating_add(end, run.stage.allowed_lateness) for end in ends)


@given(runs(over=sessions()))
def test_a_session_that_has_expired_is_remembered_as_long_as_an_element_can_meet_it(run: Run) -> None:
    before: Iterable[CellKey] = ()
    for tick in played(run.stage, run.ticks):
        for _, window in tick.state.expired:
            assert _has_expired(run.stage, window, tick) and not _is_out_of_reach(run.stage, window, tick)
        for key, window in before:
            if _has_expired(run.stage, window, tick) and not _is_out_of_reach(run.stage, window, tick):
                there = [*tick.state.expired, *tick.cells]  # it may have been merged in the same tick
                assert any(key == of and _holds(other, window) for of, other in there)
        before = tick.cells


@given(runs(over=record_windows()))
def test_a_record_is_known_until_the_window_behind_it_has_expired(run: Run) -> None:
    for tick in played(run.stage, run.ticks):
        for row in tick.state.records:
            (at_record,) = row.windows
            behind = Window(at_record.end, at_record.end + run.stage.window.length)
            assert not _has_expired(run.stage, behind, tick)


def _has_expired(stage: Stage, window: Window, tick: Tick) -> bool:
    return tick.clock.watermark_after >= saturating_add(window.end, stage.allowed_lateness)


def _is_out_of_reach(stage: Stage, window: Window, tick: Tick) -> bool:
    """Whether every element that could meet the window is late by itself."""
    longest = saturating_add(window.end, stage.allowed_lateness) + stage.window.longest_gap
    return tick.clock.watermark_after >= min(longest, INFINITY)


# ---------------------------------------------------------------- watermarks


@given(stages(over=EVERY), watermarks(), source_ticks())
def test_a_made_watermark_never_goes_back_and_is_held_by_the_slowest(
    stage: Stage, rule: Watermark, ticks: tuple[TickInput, ...]
) -> None:
    before = MINUS_INFINITY
    for tick in played(stage, ticks, rule):
        clock = tick.clock
        assert clock.watermark_before == before <= clock.watermark_after
        assert clock.watermark_after < INFINITY
        if clock.partitions_after:
            assert clock.watermark_after == max(before, *(min(clock.partitions_after.values()),))
        before = clock.watermark_after


@given(stages(over=EVERY), watermarks(), source_ticks())
def test_no_element_that_is_dead_moves_the_watermark(
    stage: Stage, rule: Watermark, ticks: tuple[TickInput, ...]
) -> None:
    whole = played(stage, ticks, rule)
    dead = [{id(letter.element) for letter in tick.dead if letter.window is None} for tick in whole]
    living = [
        TickInput(tuple(element for element in step.elements if id(element) not in gone), step.now)
        for step, gone in zip(ticks, dead, strict=True)
    ]
    assert [tick.clock for tick in played(stage, living, rule)] == [tick.clock for tick in whole]
    assert panes_of(played(stage, living, rule)) == panes_of(whole)
