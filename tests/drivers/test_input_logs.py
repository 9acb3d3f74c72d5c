"""How far several logs are read: one value that names each input, and what is compared and counted with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.engine.clocks.clock import StageClock
from windrow.spec.errors import SpecError
from windrow.spec.stages.inputs import ONLY
from windrow.store.journal.control import Control, Interval
from windrow.store.upstream.inputs import InputLogs
from windrow.store.upstream.offsets import START, Offsets


@dataclass
class Log:
    """A log of which only the newest step is asked."""

    name: str
    step: int = 0

    def last_step(self, spark: Any) -> int:
        return self.step


LOGS = InputLogs({"left": Log("a", 3), "right": Log("b", 0), "more": Log("a", 4)})
STEPS = st.fixed_dictionaries({name: st.integers(0, 5) for name in LOGS.logs})
CONTROL = Control(
    tick=1, kind="backfill", offsets=Offsets({"left": 2, "right": 1}), streams=False, watermark_before=0,
    clock=StageClock(), backfilled=(Interval(0, 9, Offsets({"left": 2}), 1),),
)  # fmt: skip


@given(STEPS, STEPS)
def test_offsets_are_ahead_where_some_log_is_read_further(before: dict[str, int], after: dict[str, int]) -> None:
    one, other = Offsets(before), Offsets(after)
    assert (one == other) == (before == after) == (one.covers(other) and other.covers(one))
    assert one.is_ahead_of(other) == any(before[name] > after[name] for name in before)
    assert one.covers(other) == all(before[name] >= after[name] for name in before)
    assert one.is_start == (not any(before.values())) == (one == START)
    both = one.common(other)
    assert one.covers(both) and other.covers(both) and both == other.common(one)
    assert not (one.covers(other) and both != other)


@given(STEPS, STEPS, st.integers(1, 3))
def test_a_step_towards_the_head_is_never_back_in_any_log(before: dict[str, int], head: dict[str, int], m: int) -> None:
    """Also where the head was seen before somebody else came further."""
    after, until = Offsets(before), Offsets(before).towards(Offsets(head), m)
    assert until.covers(after) and (until == after) == (not Offsets(head).is_ahead_of(after))
    for name in before:
        assert until.of(name) <= before[name] + m
        assert until.of(name) in (before[name], before[name] + m) or until.of(name) == head[name]


@given(STEPS, STEPS)
def test_steps_of_a_log_that_several_inputs_read_count_once(before: dict[str, int], more: dict[str, int]) -> None:
    after = Offsets(before)
    until = Offsets({name: step + more[name] for name, step in before.items()})
    assert LOGS.steps_between(after, until) == max(more["left"], more["more"]) + more["right"]
    assert (
        LOGS.step_of("a", after) == min(before["left"], before["more"]) and LOGS.step_of("b", after) == before["right"]
    )


@given(st.lists(st.sampled_from(["left", "right"]), max_size=12), st.integers(1, 3), st.data())
def test_ticks_of_logs_that_grow_take_the_same_steps_as_of_logs_that_stand_still(
    landed: list[str], most: int, data: st.DataObject
) -> None:
    """A stream may look, and be stopped, between any two steps that land."""
    logs = {"left": Log("a"), "right": Log("b")}
    inputs, taken = InputLogs(logs), [START]

    def tick(have_settled: bool) -> None:
        head = inputs.head(None)  # type: ignore[arg-type]
        while (have_settled and head.is_ahead_of(taken[-1])) or inputs.all_have(most, taken[-1], head):
            taken.append(taken[-1].towards(head, most))

    for name in landed:
        logs[name].step += 1
        if data.draw(st.booleans()):
            tick(have_settled=False)
    tick(have_settled=True)
    beside, taken = taken, [START]
    tick(have_settled=True)
    assert beside == taken


def test_the_head_has_the_newest_step_of_each_log() -> None:
    assert LOGS.head(None) == Offsets({"left": 3, "more": 4})  # type: ignore[arg-type]
    only = InputLogs({ONLY: Log("a", 7)})
    assert only.head(None).of(ONLY) == 7  # type: ignore[arg-type]
    assert START.towards(only.head(None), 2).with_step(ONLY, 1) == Offsets({ONLY: 1})  # type: ignore[arg-type]


def test_steps_are_not_negative() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        Offsets({"left": -1})


def test_the_control_row_names_the_inputs() -> None:
    row = json.loads(CONTROL.to_json())
    assert row["offsets"] == {"left": 2, "right": 1} and row["backfilled"][0]["offsets"] == {"left": 2}
    assert Control.from_json(CONTROL.to_json()) == CONTROL


def test_a_later_batch_makes_the_same_windows_of_no_fewer_rows() -> None:
    (made,) = CONTROL.backfilled
    assert made.is_within(replace(made, offsets=Offsets({"left": 2, "right": 1}), tick=2))
    assert not made.is_within(replace(made, offsets=Offsets({"left": 1, "right": 3}), tick=2))


def test_a_control_row_of_an_earlier_version_is_refused_with_the_fix() -> None:
    row = json.loads(CONTROL.to_json())
    del row["offsets"], row["streams"]
    with pytest.raises(SpecError, match=r"journal was written by an earlier version .* run with --from-start"):
        Control.from_json(json.dumps({**row, "upstream_step": 2, "admitted": 0}))
