"""Triggers: their grammar, its errors, and which are refused because they could lose data.

Rule: docs/semantics.md#triggers.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given

from tests.laws.strategies import triggers
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.times import DAY, HOUR, MINUTE, SECOND
from windrow.spec.triggers.all import (
    DEFAULT_TRIGGER,
    TRIGGER,
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
    AfterWatermark,
    AllOf,
    AtClose,
    AtPeriod,
    AtWatermark,
    Domain,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Then,
    Trigger,
    WhenResult,
)
from windrow.spec.triggers.closing import Moment, can_close, check_loses_nothing, earliest_finish, earliest_ready

MILLENNIUM = 946_684_800 * SECOND

GRAMMAR: list[tuple[str, Trigger]] = [
    ("default", Repeat(AtWatermark())),
    ("never", Never()),
    ("at_close", AtClose()),
    ("at_watermark: {}", AtWatermark()),
    ("at_watermark: {percentile: 90}", AtWatermark(90)),
    ("after_count: 3", AfterCount(3)),
    ("after_bytes: 1000", AfterBytes(1000)),
    ("after_match: {where: \"kind = 'end'\"}", AfterMatch("kind = 'end'")),
    ('after_match: {where: "v > 1", count: 2}', AfterMatch("v>1", 2)),
    ('when_result: "total % 2 = 1"', WhenResult("total % 2 = 1")),
    ("at_period: {period: 1m}", AtPeriod(MINUTE)),
    ('at_period: {period: 1d, reference: "2000-01-01T00:00:00Z", zone: Europe/Berlin, domain: event_time}',
     AtPeriod("1d", MILLENNIUM, "Europe/Berlin", Domain.EVENT_TIME)),
    ("after_delay: {delay: 10s}", AfterDelay("10s")),
    ("after_delay: {delay: 2h, domain: event_time}", AfterDelay(2 * HOUR, "event_time")),
    ("first_of: [{after_count: 2}, at_close]", FirstOf(AfterCount(2), AtClose())),
    ("all_of: [{after_count: 2}, never, default]", AllOf(AfterCount(2), Never(), DEFAULT_TRIGGER)),
    ("sequence_of: [{at_watermark: {}}]", SequenceOf(AtWatermark())),
    ("repeat: {after_count: 1}", Repeat(AfterCount(1))),
    ("repeat: {repeat: at_close}", Repeat(Repeat(AtClose()))),
    ("repeat_until: {repeat: {after_count: 1}, until: {at_watermark: {}}}",
     RepeatUntil(AfterCount(1), AtWatermark())),
    ("repeat_count: {repeat: {after_count: 1}, times: 3}", RepeatCount(AfterCount(1), 3)),
    ("after_watermark: {}", AfterWatermark()),
    ("{after_count: 3, then: clear}", AfterCount(3, then=Then.CLEAR)),
    ("{repeat: {after_count: 3, then: accumulate}, then: clear}",
     Repeat(AfterCount(3, then="accumulate"), then="clear")),
    ("{first_of: [{after_count: 3}, at_close], then: clear}", FirstOf(AfterCount(3), AtClose(), then="clear")),
    ("{at_close: {}, then: clear}", AtClose(then="clear")),
    ("{at_period: {period: 1m}, then: accumulate}", AtPeriod(MINUTE, then="accumulate")),
    ("after_watermark: {early: {at_period: {period: 10s}}, late: {after_count: 1}}",
     AfterWatermark(AtPeriod("10s"), AfterCount(1))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "trigger"), GRAMMAR, ids=[text for text, _ in GRAMMAR])
def test_the_grammar_gives_the_values_of_python(text: str, trigger: Trigger) -> None:
    assert TRIGGER.read(load_yaml(text)) == trigger
    assert TRIGGER.read(TRIGGER.write(trigger)) == trigger


@given(triggers(depth=3))
def test_a_trigger_is_read_as_it_was_written(trigger: Trigger) -> None:
    assert TRIGGER.read(load_yaml(yaml.safe_dump(TRIGGER.write(trigger)))) == trigger


def test_a_name_alone_is_a_trigger_where_every_field_may_be_left_out() -> None:
    assert TRIGGER.read("at_watermark") == AtWatermark()
    assert TRIGGER.read("after_watermark") == AfterWatermark()
    assert TRIGGER.read("after_delay") == AfterDelay(0)
    for name in ("after_count", "sequence_of", "repeat", "repeat_until"):
        with pytest.raises(SpecError, match="is a trigger with fields") as error:
            TRIGGER.read(name)
        assert f"write {{{name}: ...}}" in str(error.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"after_cuont": 3}, "after_cuont is not a trigger. Hint: did you mean after_count?"),
        ({"every": "1m"}, "every is not a trigger. Hint: here it is called at_period"),
        ({"any_of": []}, "any_of is not a trigger. Hint: here it is called first_of"),
        ({"or_finally": {}}, "or_finally is not a trigger. Hint: here it is called repeat_until"),
        ({"at_period": {"every": "1m"}}, "at_period.every is not a field. Hint: here it is called period"),
        ({"at_period": {}}, "at_period.period is missing"),
        ({"at_period": {"period": "0s"}}, 'at_period.period must be positive; got "0s"'),
        ({"at_period": {"period": "1m", "zone": "Mars"}}, 'at_period.zone must be an IANA time zone; got "Mars"'),
        ({"at_period": {"period": "1m", "reference": 10**12}}, "at_period.reference must be in the years 1 to 9999"),
        ({"after_delay": {"delay": "1m", "domain": "clock"}},
         'after_delay.domain must be one of processing_time, event_time; got "clock"'),
        ({"after_delay": {"delay": "1m", "domain": "wall_time"}}, "here it is called processing_time"),
        ({"after_delay": "1m"}, 'after_delay must be a mapping; got "1m"'),
        ({"after_count": 0}, "after_count must be positive; got 0"),
        ({"after_count": 2.5}, "after_count must be a whole number; got 2.5"),
        ({"after_count": True}, "after_count must be a whole number; got True"),
        ({"after_bytes": 0}, "after_bytes must be positive; got 0"),
        ({"after_bytes": "1k"}, "after_bytes must be a whole number"),
        ({"after_match": "v > 1"}, 'after_match must be a mapping; got "v > 1"'),
        ({"after_match": {"count": 2}}, "after_match.where is missing"),
        ({"after_match": {"where": "count(v) > 1"}}, "after_match.where"),
        ({"after_match": {"where": "v > 1", "count": 0}}, "after_match.count must be positive; got 0"),
        ({"after_match": {"predicate": "v"}}, "after_match.predicate is not a field. Hint: here it is called where"),
        ({"when_result": "rand() > 1"}, "when_result"),
        ({"when_result": {"condition": "v"}}, "when_result must be a text"),
        ({"after_count": 1, "then": "discard"},
         'then must be one of clear, accumulate; got "discard". Hint: here it is called clear'),
        ({"repeat": {"at_period": {"period": "1m", "then": "clear"}}},
         "repeat.at_period.then stands beside the name of a trigger, not among its fields"),
        ({"then": "clear"}, "must be a mapping with one trigger"),
        ({"first_of": []}, "first_of must hold at least one trigger"),
        ({"first_of": {"after_count": 1}}, "first_of must be a list"),
        ({"first_of": ["never", {"after_count": -1}]}, "first_of[1].after_count must be positive; got -1"),
        ({"repeat": {"first_of": [{"at_close": {"x": 1}}]}}, "repeat.first_of[0].at_close.x is not a field"),
        ({"repeat_until": {"repeat": "never"}}, "repeat_until.until is missing"),
        ({"repeat_count": {"repeat": "never", "times": 0}}, "repeat_count.times must be positive; got 0"),
        ({"after_watermark": {"late": 3}}, "after_watermark.late must be a trigger; got 3"),
        ({"after_count": 1, "at_close": {}}, "must be a mapping with one trigger"),
        ({}, "must be a mapping with one trigger"),
        ("sometimes", "sometimes is not a trigger"),
        (None, "must be a trigger"),
        (["never"], "must be a trigger"),
        ({3: 4}, "3 is not a trigger"),
    ],
)  # fmt: skip
def test_an_error_names_place_rule_value_and_hint(body: Any, message: str) -> None:
    with pytest.raises(SpecError) as error:
        TRIGGER.read(body)
    assert message in str(error.value)
    assert not isinstance(error.value, NotInThisVersion)


@pytest.mark.parametrize("percentile", [0, 101, -5])
def test_a_percentile_outside_of_1_to_100(percentile: int) -> None:
    with pytest.raises(SpecError) as error:
        AtWatermark(percentile)
    assert not isinstance(error.value, NotInThisVersion)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AfterCount("3"),
        lambda: AfterDelay("soon"),
        lambda: AtPeriod(-1),
        lambda: FirstOf(),
        lambda: FirstOf(AfterCount),
        lambda: Repeat(None),
        lambda: RepeatCount(Never(), 0),
        lambda: AfterDelay(10**30),
    ],
    ids=range(8),
)
def test_values_are_checked_when_python_makes_them_too(make: Any) -> None:
    with pytest.raises(SpecError):
        make()


def test_nodes_of_different_kinds_are_different() -> None:
    assert FirstOf(Never()) != AllOf(Never())
    assert SequenceOf(Never()) == SequenceOf(Never())
    assert len({FirstOf(Never()), AllOf(Never()), FirstOf(Never())}) == 2


def test_days_follow_a_zone_and_hours_do_not() -> None:
    assert AtPeriod(DAY, zone="Europe/Berlin").is_local
    assert AtPeriod("1w", zone="Europe/Berlin").is_local
    assert not AtPeriod(HOUR, zone="Europe/Berlin").is_local
    assert not AtPeriod("36h", zone="Europe/Berlin").is_local
    assert not AtPeriod(DAY).is_local


# ---------------------------------------------------------------- closing

COUNT, DELAY, PERIOD = AfterCount(2), AfterDelay("1m", "event_time"), AtPeriod("1m")
WATERMARK, CLOSE, NEVER = AtWatermark(), AtClose(), Never()
BEFORE, AT, EXPIRY, FOREVER = Moment.BEFORE_WATERMARK, Moment.AT_WATERMARK, Moment.AT_EXPIRY, Moment.NEVER

FINISHES: list[tuple[Trigger, Moment]] = [
    (AtWatermark(99), BEFORE), (AllOf(AtWatermark(90), WATERMARK), AT), (SequenceOf(AtWatermark(90), WATERMARK), AT),
    (AfterBytes(1), BEFORE), (AfterMatch("v > 1"), BEFORE), (WhenResult("total > 1"), BEFORE),
    (AllOf(AfterMatch("v > 1"), WATERMARK), AT), (Repeat(WhenResult("total > 1")), FOREVER),
    (COUNT, BEFORE), (DELAY, BEFORE), (PERIOD, BEFORE), (WATERMARK, AT), (CLOSE, EXPIRY), (NEVER, FOREVER),
    (FirstOf(COUNT), BEFORE), (FirstOf(WATERMARK, COUNT), BEFORE), (FirstOf(WATERMARK, CLOSE), AT),
    (FirstOf(CLOSE, NEVER), EXPIRY), (FirstOf(NEVER), FOREVER),
    (FirstOf(Repeat(COUNT), NEVER), BEFORE),  # finished by firing, whatever its children are
    (FirstOf(Repeat(CLOSE)), EXPIRY),
    (AllOf(COUNT), BEFORE), (AllOf(COUNT, WATERMARK), AT), (AllOf(COUNT, CLOSE), EXPIRY),
    (AllOf(COUNT, NEVER), FOREVER),
    (AllOf(Repeat(COUNT), Repeat(WATERMARK)), AT),
    (SequenceOf(COUNT), BEFORE), (SequenceOf(COUNT, DELAY), BEFORE), (SequenceOf(WATERMARK, COUNT), AT),
    (SequenceOf(COUNT, WATERMARK), AT), (SequenceOf(COUNT, CLOSE), EXPIRY), (SequenceOf(COUNT, Repeat(COUNT)), FOREVER),
    (SequenceOf(Repeat(COUNT), COUNT), FOREVER), (SequenceOf(NEVER, COUNT), FOREVER),
    (Repeat(COUNT), FOREVER), (Repeat(WATERMARK), FOREVER), (Repeat(SequenceOf(COUNT, COUNT)), FOREVER),
    (RepeatUntil(COUNT, WATERMARK), AT), (RepeatUntil(WATERMARK, COUNT), BEFORE), (RepeatUntil(COUNT, CLOSE), EXPIRY),
    (RepeatUntil(COUNT, NEVER), FOREVER), (RepeatUntil(COUNT, Repeat(COUNT)), BEFORE),
    (RepeatCount(COUNT, 5), BEFORE), (RepeatCount(WATERMARK, 1), AT), (RepeatCount(CLOSE, 2), EXPIRY),
    (RepeatCount(NEVER, 1), FOREVER),
    (AfterWatermark(), AT), (AfterWatermark(early=COUNT), AT), (AfterWatermark(late=COUNT), FOREVER),
    (AfterWatermark(COUNT, COUNT), FOREVER),
    (SequenceOf(AfterWatermark(COUNT), CLOSE), EXPIRY), (AllOf(FirstOf(COUNT, WATERMARK), WATERMARK), AT),
]  # fmt: skip


@pytest.mark.parametrize(("trigger", "moment"), FINISHES, ids=[str(TRIGGER.write(trigger)) for trigger, _ in FINISHES])
def test_when_a_trigger_can_have_finished_at_the_earliest(trigger: Trigger, moment: Moment) -> None:
    assert earliest_finish(trigger) is moment
    assert can_close(trigger, allowed_lateness=0) is (moment is BEFORE)
    assert can_close(trigger, allowed_lateness=1) is (moment in (BEFORE, AT))


@pytest.mark.parametrize(
    ("trigger", "moment"),
    [
        (Repeat(COUNT), BEFORE), (Repeat(WATERMARK), AT), (SequenceOf(CLOSE, COUNT), EXPIRY),
        (RepeatUntil(NEVER, CLOSE), EXPIRY), (RepeatCount(WATERMARK, 3), AT), (AfterWatermark(late=COUNT), AT),
        (AfterWatermark(COUNT), BEFORE), (AllOf(NEVER, COUNT), FOREVER), (FirstOf(NEVER, COUNT), BEFORE),
    ],
    ids=range(9),
)  # fmt: skip
def test_when_a_trigger_can_be_ready_at_the_earliest(trigger: Trigger, moment: Moment) -> None:
    assert earliest_ready(trigger) is moment


def test_the_refusal_gives_the_reason_and_the_fix() -> None:
    with pytest.raises(SpecError) as error:
        check_loses_nothing(AfterCount(2), 0)
    assert str(error.value) == (
        "trigger can finish before the window is complete, and elements that come later would be in no result; "
        'got "after_count". Hint: write repeat: around it, or a late: part, or allow_closing: true (later elements '
        "then are dead letters with reason closed)"
    )
    with pytest.raises(SpecError, match="at the watermark, before the allowed lateness is over"):
        check_loses_nothing(AtWatermark(), 1)
