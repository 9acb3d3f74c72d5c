"""Sessions beside all sessions that there can be, by trial; and what triggers make of those of the cells that merge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.assign import NoWindows, Window, windows_of
from tests.model.elements import Row
from tests.model.merge import groups
from tests.model.stream import Stream
from tests.model.table import results
from tests.model.trigger_leaves import Moment, Node
from tests.model.triggers import build
from windrow.spec.aggregates import Collect
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.spec.triggers.all import (
    AfterCount,
    AfterDelay,
    AllOf,
    AtWatermark,
    Domain,
    FirstOf,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
)
from windrow.spec.windows.sessions import Sessions

SCHEMA = {"k": "string", "gap": "int", "n": "int"}
LONGEST = 6

# ---------------------------------------------------------------- sessions


def test_a_touch_is_not_an_overlap() -> None:
    windows = [Window(0, 5), Window(5, 7), Window(6, 9), Window(20, 21)]
    assert groups(Sessions(5), windows) == [windows[:1], windows[1:3], windows[3:]]
    assert groups(Sessions(5, merge_touching=True), windows) == [windows[:3], windows[3:]]


@pytest.mark.parametrize("gap", [None, 0, -1, 2.0000006, float("nan"), float("inf"), 2**62])
def test_a_gap_that_is_none(gap: float | None) -> None:
    with pytest.raises(NoWindows):
        windows_of(Sessions(Expression.parse("gap"), max_gap=2 * SECOND), 0, arguments={"gap": gap})


@st.composite
def arrivals(draw: st.DrawFn) -> list[list[TranscriptElement]]:
    """The elements of a few ticks, each with a gap and a number of its own."""
    ticks = draw(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-12, 12), st.integers(1, LONGEST)))))
    drawn = [[TranscriptElement(at * SECOND, None, {"k": k, "gap": gap}) for k, at, gap in tick] for tick in ticks]
    numbers = iter(range(sum(map(len, drawn))))
    return [
        [TranscriptElement(one.at, None, {**one.columns, "n": next(numbers)}) for one in elements] for elements in drawn
    ]


@given(arrivals(), st.booleans(), st.none() | st.integers(1, LONGEST))
def test_sessions_are_stretches_that_no_instant_divides(
    ticks: list[list[TranscriptElement]], touching: bool, fixed: int | None
) -> None:
    gap = Expression.parse("gap") if fixed is None else fixed * SECOND
    window = Sessions(gap, LONGEST * SECOND if fixed is None else None, merge_touching=touching)
    stage = Stage(
        keys=["k"],
        window=window,
        trigger=Repeat(AfterCount(2)),
        accumulation=Accumulation.RETRACTING,
        aggregates={"all": Collect("n")},
    )
    protos = defaultdict(list)
    for one in [one for elements in ticks for one in elements]:
        end = one.at + (fixed or one.columns["gap"]) * SECOND
        protos[one.columns["k"]].append((Window(one.at, end), one.columns["n"]))
    expected = {
        ((key,), whole): sorted(number for proto, number in of_key if whole.start <= proto.start < whole.end)
        for key, of_key in protos.items()
        for whole in stretches([proto for proto, _ in of_key], touching)
    }
    stream = Stream(stage, SCHEMA)
    panes = [pane for elements in ticks for pane in stream.tick(elements).panes]
    panes += stream.tick(watermark=INFINITY).panes
    assert {place: sorted(found["all"]) for place, found in results(panes).items()} == expected


def stretches(protos: Sequence[Window], touching: bool) -> list[Window]:
    """From every instant at which something starts and nothing goes on, to the next at which nothing goes on."""

    def goes_on(instant: int) -> bool:
        met = {one.start for one in protos} & {one.end for one in protos} if touching else set()
        return instant in met or any(one.start < instant < one.end for one in protos)

    starts = sorted({one.start for one in protos if not goes_on(one.start)})
    latest = max((one.end for one in protos), default=0)
    return [
        Window(start, next(at for at in range(start + SECOND, latest + SECOND, SECOND) if not goes_on(at)))
        for start in starts
    ]


# ---------------------------------------------------------------- triggers

ROW = Row(TranscriptElement(0, None, {}), 0, 0)


def at(now: int = 0, before: int = MINUS_INFINITY, after: int | None = None, end: int = 100, new: int = 1) -> Moment:
    """A moment of a tick, of a window that ends at 100 if nothing else is said, with a lateness of 1000."""
    watermark = before if after is None else after
    return Moment(end, end + 1000, now, before, watermark, lambda p: watermark, lambda p: before, new=new)


def after(trigger: Trigger, *moments: Moment, elements: int = 1) -> Node:
    """A trigger that got so many elements at each of the moments, was evaluated, and fired if it was ready."""
    node = build(trigger)
    for moment in moments:
        node.on_elements([ROW] * elements, moment)
        node.on_watermark(moment)
        node.on_evaluated(moment)
        if node.ready(moment):
            node.on_fire(moment)
    return node


def merged(trigger: Trigger, moment: Moment, *parts: Node) -> Node:
    node = build(trigger)
    node.on_merge(parts, moment)
    return node


FIRED = after(AtWatermark(), at(after=100))
NOT_FIRED = after(AtWatermark(), at(after=99))


def test_at_watermark_that_had_fired_is_rewound() -> None:
    later = merged(AtWatermark(), at(before=100, end=120), FIRED, FIRED)
    assert not later.finished and not later.ready(at(before=100, end=120)) and later.ready(at(after=120, end=120))


def test_at_watermark_that_had_fired_in_all_parts_of_a_complete_window_is_not() -> None:
    assert merged(AtWatermark(), at(before=120, end=120), FIRED, FIRED).finished
    assert not merged(AtWatermark(), at(before=120, end=120), FIRED, NOT_FIRED).finished
    assert not merged(AtWatermark(), at(before=119, after=120, end=120), FIRED, FIRED).finished


def test_a_repeated_one_waits_for_elements_as_it_did() -> None:
    trigger = Repeat(AtWatermark())
    fired = after(trigger, at(after=100))
    complete = merged(trigger, at(before=120, end=120), fired, fired)
    assert not complete.ready(at(before=120, end=120))
    assert merged(trigger, at(before=120, end=120), fired, build(trigger)).ready(at(before=120, end=120))


def test_a_delay_keeps_the_earliest_deadline_that_is_known() -> None:
    trigger = AfterDelay(10, Domain.EVENT_TIME)
    waits, known, later = after(trigger, at()), after(trigger, at(before=5)), after(trigger, at(before=7))
    assert list(merged(trigger, at(), waits, later, known).deadlines(at())) == [(Domain.EVENT_TIME, 15)]
    still = merged(trigger, at(), waits, build(trigger))
    still.on_watermark(at(after=20))
    assert list(still.deadlines(at())) == [(Domain.EVENT_TIME, 30)]


def test_what_has_finished_in_one_part_only_goes_on() -> None:
    trigger = AfterCount(2)
    finished, counting = after(trigger, at(), elements=2), after(trigger, at())
    assert merged(trigger, at(), finished, finished).finished
    both = merged(trigger, at(), finished, counting)
    assert not both.finished and both.ready(at())


def test_a_sequence_is_at_its_first_unfinished_child() -> None:
    trigger = SequenceOf(AtWatermark(), AfterCount(1), Repeat(AfterCount(3)))
    third = after(trigger, at(after=100), at(before=100))
    assert merged(trigger, at(before=120, end=120), third).current == 2  # type: ignore[attr-defined]
    again = merged(trigger, at(before=100, end=120), third)
    assert again.current == 0  # type: ignore[attr-defined]
    again.on_fire(at(after=120, end=120))
    assert again.current == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [FirstOf, lambda one, other: RepeatUntil(Repeat(one), other)])
def test_one_that_was_finished_by_its_child_goes_on_with_it(kind: type[FirstOf]) -> None:
    trigger = SequenceOf(kind(AfterCount(9), AtWatermark()), Repeat(AfterCount(3)))
    by_watermark = after(trigger, at(after=100))
    assert merged(trigger, at(before=120, end=120), by_watermark, by_watermark).current == 1  # type: ignore[attr-defined]
    assert merged(trigger, at(before=100, end=120), by_watermark, by_watermark).current == 0  # type: ignore[attr-defined]


def test_two_that_were_finished_by_different_children_go_on() -> None:
    trigger = SequenceOf(FirstOf(AfterCount(2), AtWatermark()), Repeat(AfterCount(3)))
    by_watermark, by_count = after(trigger, at(after=100)), after(trigger, at(), elements=2)
    assert merged(trigger, at(before=120, end=120), by_watermark, by_count).current == 0  # type: ignore[attr-defined]
    assert merged(trigger, at(before=0, end=120), by_count, by_count).current == 1  # type: ignore[attr-defined]


def test_all_of_forgets_which_were_ready() -> None:
    trigger = AllOf(AtWatermark(), AfterCount(3))
    early = at(before=100, end=120)
    node = merged(trigger, early, after(trigger, at(after=100)), after(trigger, at(after=100)))
    node.on_elements([ROW], early)
    node.on_evaluated(early)
    assert not node.ready(early)
    node.on_evaluated(at(after=120, end=120))
    assert node.ready(at(after=120, end=120))


def test_repeat_count_takes_the_smallest_count_of_firings() -> None:
    trigger = RepeatCount(AfterCount(1), 3)
    node = merged(trigger, at(), after(trigger, at(), at()), after(trigger, at()))
    node.on_fire(at())
    assert not node.finished
    node.on_fire(at())
    assert node.finished
