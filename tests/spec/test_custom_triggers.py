"""Triggers of a user's own: what their classes may say, and how they are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from tests.extensions.triggers import AfterSpread, WhenQuiet
from windrow.spec.aggregates import Count
from windrow.spec.errors import SpecError
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import AfterCount, AllOf, AtWatermark, Domain, FirstOf, Repeat, Trigger
from windrow.spec.triggers.closing import Moment, earliest_finish, earliest_ready
from windrow.spec.triggers.custom import CustomTrigger
from windrow.spec.windows.aligned import FixedWindows


@dataclass(frozen=True)
class Own(CustomTrigger):
    """A class whose parts a test replaces."""

    NAME = "own"
    STATE: ClassVar[Mapping[str, Any]] = {"n": ("bigint", 0)}

    def ready(self) -> str:
        return "n > 0"


def stage_of(trigger: Trigger) -> Stage:
    return Stage(window=FixedWindows("1h"), trigger=Repeat(trigger), aggregates={"num": Count()})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"ready": lambda self: "m > 0"}, 'trigger.own.ready reads what is not there; got "m"'),
        ({"ready": lambda self: "elements > 0"}, 'trigger.own.ready reads what is not there; got "elements"'),
        ({"ready": lambda self: "rand() > 0.5"}, "trigger.own.ready"),
        ({"ready": lambda self: "n > 0; drop table x"}, "trigger.own.ready"),
        ({"on_elements": lambda self: {"m": "1"}},
         'trigger.own.on_elements names a field that STATE has not; got "m". Hint: the fields are n'),
        ({"on_fire": lambda self: {"n": "v"}}, 'trigger.own.on_fire.n reads what is not there; got "v"'),
        ({"deadline": lambda self: {Domain.EVENT_TIME: "soon"}}, "trigger.own.deadline.event_time reads what"),
        ({"on_merge": lambda self: {"n": "first"}}, "trigger.own.on_merge.n must be one of sum, min, max, any, all"),
        ({"STATE": {"n": ("number", 0)}}, "trigger.own.STATE.n"),
        ({"STATE": {"n": ("bigint", 0), "now": ("bigint", 0)}}, "trigger.own.STATE.now is no name for a field"),
    ],
)  # fmt: skip
def test_a_class_that_does_not_hold_together_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as error:
        stage_of(type("Other", (Own,), parts)())
    assert message in str(error.value)


def test_what_is_at_hand_in_an_expression() -> None:
    reads = "n + elements + now + coalesce(watermark, watermark_before, 0) + window_end - window_start"
    assert stage_of(type("Other", (Own,), {"on_elements": lambda self: {"n": reads}})()).trigger.children


def test_a_class_says_when_it_can_finish() -> None:
    late = type("Late", (Own,), {"earliest_ready": lambda self: Moment.AT_WATERMARK})()
    never = type("Late", (Own,), {"earliest_finish": lambda self: Moment.NEVER})()
    assert earliest_finish(Own()) is earliest_ready(Own()) is Moment.BEFORE_WATERMARK
    assert earliest_finish(late) is earliest_finish(AllOf(late, AfterCount(1))) is Moment.AT_WATERMARK
    assert earliest_finish(never) is Moment.NEVER and earliest_ready(never) is Moment.BEFORE_WATERMARK
    assert earliest_finish(FirstOf(never)) is Moment.BEFORE_WATERMARK
    Stage(window=FixedWindows("1h"), trigger=late, aggregates={"num": Count()})
    with pytest.raises(SpecError, match="can finish before the window is complete"):
        Stage(window=FixedWindows("1h"), trigger=Own(), aggregates={"num": Count()})


def test_sugar_of_a_users_own() -> None:
    class Twice(Trigger):
        NAME = "twice"

        def desugared(self) -> Trigger:
            return AllOf(AfterCount(2), AtWatermark())

    assert earliest_finish(Twice()) is Moment.AT_WATERMARK
    assert Twice().plan_lines() == AllOf(AfterCount(2), AtWatermark()).plan_lines()


def test_words_of_a_plan() -> None:
    assert WhenQuiet("5s").plan_lines() == ["when nothing has come for a while"]
    assert AfterSpread(3).plan_lines() == ["when after_spread is ready"]
