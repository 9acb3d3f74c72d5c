"""Stages, windows, aggregates and watermarks: the grammar, Python's values, and errors that name the place."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given

from tests.laws.strategies import stages, watermarks
from windrow.spec.aggregates import AGGREGATES, Collect, Count, CountIf, Histogram, Mean, Sum
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.expressions import Expression
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import RESERVED_NAMES, Accumulation, Emission, Stage
from windrow.spec.times import HOUR, MINUTE, SECOND
from windrow.spec.triggers.all import DEFAULT_TRIGGER, AfterCount, AtWatermark, Repeat
from windrow.spec.windows.aligned import FixedWindows, GlobalWindow, SlidingWindows

SMALLEST: dict[str, Any] = {"window": {"fixed": {"size": "1h"}}, "aggregates": {"num": {"count": "*"}}}


def stage_of(**fields: Any) -> Stage:
    return Stage.from_mapping({**SMALLEST, **fields})


def test_the_smallest_stage_has_the_defaults() -> None:
    stage = stage_of()
    assert stage == Stage(window=FixedWindows(HOUR), aggregates={"num": Count()})
    assert (stage.name, stage.from_, stage.max_versions_per_tick) == ("stage", None, 1)
    assert (stage.trigger, stage.accumulation, stage.allowed_lateness) == (DEFAULT_TRIGGER, "accumulating", 0)
    assert (stage.on_time, stage.closing, stage.only_if_changed) == (Emission.IF_NONEMPTY, Emission.IF_NONEMPTY, False)
    assert (stage.event_time, stage.allow_closing, stage.where) == ("end_of_window", False, None)
    assert (dict(stage.keys), dict(stage.select), dict(stage.derive)) == ({}, {}, {})
    assert stage.to_mapping() == {"window": {"fixed": {"size": "1h"}}, "aggregates": {"num": {"count": "*"}}}


FULL = """
name: departures_hourly
from: departures
max_versions_per_tick: 4
select: {late: "dep_delay > 15"}
where: "dest is not null"
keys: [origin, {carrier_name: "upper(carrier)"}]
window: {sliding: {size: 1h, period: 10m, offset: 5m}}
trigger: {after_watermark: {early: {after_count: 100}, late: {after_count: 1}}}
accumulation: retracting
allowed_lateness: 12h
on_time: always
closing: always
only_if_changed: true
allow_closing: true
aggregates:
  flights: {count: "*"}
  known: {count: dep_delay}
  delayed: {count_if: "late"}
  mean_delay: {mean: dep_delay}
derive: {share_delayed: "delayed / flights"}
"""


def test_every_field_is_read_and_written() -> None:
    stage = Stage.from_mapping(load_yaml(FULL))
    assert stage.from_ == "departures"
    assert stage.window == SlidingWindows(HOUR, 10 * MINUTE, 5 * MINUTE)
    assert stage.accumulation is Accumulation.RETRACTING
    assert stage.keys["origin"] == Expression.parse("origin")
    assert stage.aggregates["delayed"] == CountIf("late")
    assert stage.result_columns == ("flights", "known", "delayed", "mean_delay", "share_delayed")
    assert Stage.from_mapping(stage.to_mapping()) == stage
    assert set(stage.to_mapping()) == set(load_yaml(FULL))


@given(stages())
def test_a_stage_is_read_as_it_was_written(stage: Stage) -> None:
    assert Stage.from_mapping(load_yaml(yaml.safe_dump(stage.to_mapping(), sort_keys=False))) == stage


def test_stages_are_values() -> None:
    assert stage_of() == stage_of()
    assert hash(stage_of()) == hash(stage_of())
    assert stage_of() != stage_of(allowed_lateness="1s")
    with pytest.raises(AttributeError):
        stage_of().allowed_lateness = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"windw": {}}, "windw is not a field. Hint: did you mean window?"),
        ({"group_by": ["k"]}, "group_by is not a field. Hint: here it is called keys"),
        ({"lateness": "1h"}, "lateness is not a field. Hint: here it is called allowed_lateness"),
        ({"window": {"tumbling": {"size": "1h"}}},
         "window.tumbling is not a window function. Hint: here it is called fixed"),
        ({"window": {"hopping": {}}}, "window.hopping is not a window function. Hint: here it is called sliding"),
        ({"window": {"sliding": {"size": "1h", "slide": "5m"}}},
         "window.sliding.slide is not a field. Hint: here it is called period"),
        ({"window": {"fixed": {"size": "-1m"}}},
         'window.fixed.size must be positive; got "-1m". Hint: for instance 10s, 1m, 2h, 1d'),
        ({"window": {"fixed": {"size": "1 hour"}}}, 'window.fixed.size must be a duration; got "1 hour"'),
        ({"window": {"fixed": {}}}, "window.fixed.size is missing"),
        ({"window": {"fixed": {"size": "1h", "offset": "1h"}}}, "window.fixed.offset must be smaller than size"),
        ({"window": {"fixed": {"size": "1h", "offset": "-1m"}}},
         'window.fixed.offset must not be negative; got "-1m"'),
        ({"window": {"sliding": {"size": "1h", "period": "5m", "offset": "5m"}}},
         "window.sliding.offset must be smaller than period"),
        ({"window": {"fixed": {"size": "1h"}, "global": {}}}, "window must be a mapping with one window function"),
        ({"window": {"global": {"size": "1h"}}}, "window.global.size is not a field"),
        ({"window": "fixed"}, 'window must be a mapping with one window function; got "fixed"'),
        ({"window": {"global": {}}}, "trigger must not be the default one with a global window"),
        ({"window": {"global": {}}, "trigger": {"repeat": {"at_watermark": {}}}},
         "trigger must not be the default one"),
        ({"trigger": {"after_count": 2}}, "trigger can finish before the window is complete"),
        ({"trigger": {"after_watermark": {}}, "allowed_lateness": "1s"}, "trigger can finish at the watermark"),
        ({"accumulation": "append"},
         "accumulation must be one of discarding, accumulating, retracting, clear_by_default, accumulate_by_default; "
                                     'got "append". Hint: here it is called discarding'),
        ({"accumulation": True}, "accumulate_by_default; got True"),
        ({"accumulation": "clear_by_default", "retract": True},
         'retract does not go with a mode that clears; got "clear_by_default"'),
        ({"accumulation": "clear_by_default", "only_if_changed": True},
         "only_if_changed does not go with a mode that clears"),
        ({"accumulation": "discarding", "retract": True},
         'retract does not go with a mode that clears; got "discarding"'),
        ({"accumulation": "clear_always", "retract": True}, "retract does not go with a mode that clears"),
        ({"accumulation": "discarding", "only_if_changed": True},
         "only_if_changed does not go with a mode that clears"),
        ({"allowed_lateness": "-1s"}, 'allowed_lateness must not be negative; got "-1s"'),
        ({"on_time": "sometimes"}, 'on_time must be one of if_nonempty, always; got "sometimes"'),
        ({"closing": None}, "closing must be one of if_nonempty, always"),
        ({"only_if_changed": "yes"}, 'only_if_changed must be true or false; got "yes"'),
        ({"allow_closing": 1}, "allow_closing must be true or false; got 1"),
        ({"event_time": "start"}, 'event_time must be one of end_of_window, earliest, latest; got "start"'),
        ({"keys": "k"}, 'keys must be a list of columns, or of {name: EXPRESSION}; got "k"'),
        ({"keys": ["k", "K"]}, "keys has a key twice"),
        ({"keys": ["a b"]}, 'keys[0] must be a name of letters, digits and _; got "a b"'),
        ({"keys": ["k", {"a": 1, "b": 2}]}, "keys[1] must be a column or {name: EXPRESSION}"),
        ({"keys": [{"a": "sum(v)"}]}, "keys[0].a must not call sum"),
        ({"aggregates": {"total": {"avg": "v"}}},
         "aggregates.total.avg is not an aggregate function. Hint: here it is called mean"),
        ({"aggregates": {"total": {"summ": "v"}}}, "did you mean sum?"),
        ({"aggregates": {"total": "sum(v)"}}, "aggregates.total must be a mapping with one function"),
        ({"aggregates": {"total": {"sum": "v", "min": "v"}}}, "aggregates.total must be a mapping with one function"),
        ({"aggregates": {"total": {"sum": "*"}}}, "aggregates.total.sum"),
        ({"aggregates": {"total": {"sum": None}}}, "aggregates.total.sum must be a text"),
        ({"aggregates": {"a b": {"sum": "v"}}}, "aggregates.a b must be a name"),
        ({"aggregates": []}, "aggregates must be a mapping from names"),
        ({"keys": ["num"]}, 'aggregates.num is also the name of one of keys; got "num"'),
        ({"derive": {"NUM": "1"}}, "derive.NUM is also the name of one of aggregates"),
        ({"derive": {"more": "v + 1"}},
         'derive.more reads what is not an aggregate or key; got "v". Hint: the aggregates are num'),
        ({"where": ""}, "where must be a text"),
        ({"where": "select 1"}, "where must be one scalar expression"),
        ({"select": {"late": ["x"]}}, "select.late must be a text"),
        ({"max_versions_per_tick": 0}, "max_versions_per_tick must be positive; got 0"),
        ({"name": "two words"}, "name must be a name"),
    ],
)  # fmt: skip
def test_an_error_names_place_rule_value_and_hint(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as error:
        stage_of(**fields)
    assert message in str(error.value)
    assert not isinstance(error.value, NotInThisVersion)


@pytest.mark.parametrize(
    "fields",
    [
        {"join": "inner"}, {"inputs": {}},
    ],
    ids=str,
)  # fmt: skip
def test_inputs_must_be_there(fields: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="inputs must be two or more"):
        stage_of(**fields)


def test_a_stage_of_several_inputs_has_their_keys_and_results() -> None:
    inputs = {
        "sales": {"keys": ["shop"], "aggregates": {"amount": {"sum": "v"}}},
        "visits": {"keys": [{"shop": "id"}], "where": "`v` > 0", "aggregates": {"visits": {"count": "*"}}},
    }
    mapping = {"inputs": inputs, "window": {"fixed": {"size": "1h"}}, "derive": {"each": "`amount` / `visits`"}}
    stage = Stage.from_mapping(mapping)
    assert (list(stage.keys), stage.result_columns) == (["shop"], ("amount", "visits", "each"))
    assert not {"keys", "aggregates"} & set(stage.to_mapping()) and Stage.from_mapping(stage.to_mapping()) == stage
    with pytest.raises(SpecError, match=r"keys does not go with inputs.*in each input"):
        Stage.from_mapping({**mapping, "keys": ["shop"]})


def test_a_join_has_the_columns_of_its_inputs_and_numbers_its_rows() -> None:
    inputs = {"left": {"keys": ["id"], "columns": ["item"]}, "right": {"keys": ["id"], "columns": ["paid"]}}
    stage = Stage.from_mapping({"inputs": inputs, "join": "left", "window": {"fixed": {"size": "1h"}}})
    assert stage.result_columns == ("item", "paid", "row")
    assert Stage.from_mapping(stage.to_mapping()) == stage
    for name, value in (("derive", {"twice": "paid * 2"}), ("having", "paid > 1")):
        with pytest.raises(SpecError, match=f"{name} does not go with inputs"):
            Stage.from_mapping({**stage.to_mapping(), name: value})


@pytest.mark.parametrize("missing", ["window", "aggregates"])
def test_what_a_stage_must_have(missing: str) -> None:
    with pytest.raises(SpecError, match=f"^{missing} is missing"):
        Stage.from_mapping({name: value for name, value in SMALLEST.items() if name != missing})


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_reserved_names_are_refused_whatever_their_case(name: str) -> None:
    hint = f"Hint: a column of every result has this name; for instance {name.upper()}_value"
    for place, fields in (
        ("keys", {"keys": [name.upper()]}),
        ("aggregates", {"aggregates": {name.upper(): {"count": "*"}}}),
        ("derive", {"derive": {name.upper(): "num"}}),
    ):
        with pytest.raises(SpecError) as error:
            stage_of(**fields)
        assert f"{place}.{name.upper()} is a reserved name" in str(error.value)
        assert hint in str(error.value)


def test_the_reserved_names_are_the_columns_of_the_tables() -> None:
    assert {"window_start", "window_end", "timing", "pane_index", "tick", "weight", "change"} <= RESERVED_NAMES
    assert stage_of(keys=["index", "key", "value"]).keys.keys() == {"index", "key", "value"}


@pytest.mark.parametrize(
    ("mapping", "accumulation"),
    [
        ({"accumulation": "clear_always"}, Accumulation.DISCARDING),
        ({"accumulation": "accumulate_always"}, Accumulation.ACCUMULATING),
        ({"accumulation": "accumulate_always", "retract": True}, Accumulation.RETRACTING),
        ({"accumulation": "accumulating", "retract": True}, Accumulation.RETRACTING),
        ({"accumulation": "retracting", "retract": True}, Accumulation.RETRACTING),
        ({"retract": True}, Accumulation.RETRACTING),
        ({"retract": False}, Accumulation.ACCUMULATING),
    ],
    ids=str,
)
def test_the_modes_of_the_patent(mapping: dict[str, Any], accumulation: Accumulation) -> None:
    assert stage_of(**mapping) == stage_of(accumulation=str(accumulation))


@pytest.mark.parametrize(
    ("accumulation", "then", "discards", "is_mixed"),
    [
        ("discarding", "accumulate", True, False),
        ("accumulating", "clear", False, False),
        ("retracting", "clear", False, False),
        ("clear_by_default", None, True, False),
        ("clear_by_default", "clear", True, False),
        ("clear_by_default", "accumulate", False, True),
        ("accumulate_by_default", None, False, False),
        ("accumulate_by_default", "accumulate", False, False),
        ("accumulate_by_default", "clear", False, True),
    ],
)
def test_when_panes_may_clear(accumulation: str, then: str | None, discards: bool, is_mixed: bool) -> None:
    stage = stage_of(accumulation=accumulation, trigger={"repeat": {"after_count": 1, "then": then}})
    assert (stage.is_discarding, stage.is_mixed) == (discards, is_mixed)


def test_retractions_beside_a_trigger_that_may_clear() -> None:
    stage = stage_of(accumulation="accumulate_by_default", retract=True)
    assert stage.is_retracting and not stage.is_mixed
    assert stage_of(**stage.to_mapping()) == stage
    assert not stage_of(accumulation="accumulate_by_default").is_retracting


def test_a_rule_of_the_whole_is_a_refusal_and_a_wrong_value_is_none() -> None:
    """A transcript's case that a rule refuses fails alone; a misspelt field fails its file."""
    refused: list[dict[str, Any]] = [
        {"trigger": {"after_count": 2}},
        {"window": {"fixed": {"size": "1h", "offset": "1h"}}},
        {"trigger": {"repeat": {"first_of": []}}},
    ]
    for fields, is_refusal in [*((one, True) for one in refused), ({"windw": 1}, False), ({"on_time": 3}, False)]:
        with pytest.raises(SpecError) as error:
            stage_of(**fields)
        assert error.value.is_refusal is is_refusal


# ---------------------------------------------------------------- Python's values


def test_python_and_yaml_are_the_same_values() -> None:
    stage = Stage(
        keys=["k", {"n": "v + 1"}],
        where="v > 0",
        window=SlidingWindows(size="10m", period="1m"),
        trigger=Repeat(AtWatermark()),
        aggregates={"total": Sum("v"), "mean_v": Mean(Expression.parse("v")), "all_v": Collect("v"), "num": Count()},
    )
    assert stage == stage_of(
        keys=["k", {"n": "v+1"}],
        where="v>0",
        window={"sliding": {"size": "600s", "period": "PT1M"}},
        trigger="default",
        aggregates={"total": {"sum": "v"}, "mean_v": {"mean": "v"}, "all_v": {"collect": "v"}, "num": {"count": "*"}},
    )


def test_whole_numbers_are_microseconds_in_python_and_seconds_in_yaml() -> None:
    assert FixedWindows(10 * SECOND) == FixedWindows("10s") == FixedWindows.from_mapping({"size": 10})


@pytest.mark.parametrize(
    "make",
    [
        lambda: FixedWindows(0),
        lambda: FixedWindows("1h", offset="1h"),
        lambda: SlidingWindows("1h", period=0),
        lambda: Stage(window=FixedWindows("1h"), aggregates={"n": "count"}),
        lambda: Stage(window="fixed", aggregates={"n": Count()}),
        lambda: Stage(window=GlobalWindow(), aggregates={"n": Count()}),
        lambda: Stage(window=FixedWindows("1h"), trigger=AfterCount(1), aggregates={"n": Count()}),
        lambda: Stage(window=FixedWindows("1h"), aggregates={"n": Count()}, keys=["a", "a"]),
        lambda: Sum(None),
        lambda: Sum("sum(v)"),
        lambda: Watermark(),
    ],
    ids=range(11),
)
def test_values_are_checked_when_python_makes_them(make: Any) -> None:
    with pytest.raises(SpecError):
        make()


def test_a_global_window_loses_nothing_at_the_watermark_whatever_the_lateness() -> None:
    at_watermark = {"window": {"global": {}}, "trigger": {"at_watermark": {}}, "allowed_lateness": "1h"}
    assert not stage_of(**at_watermark).allow_closing
    with pytest.raises(SpecError, match="trigger can finish at the watermark"):
        stage_of(**{**at_watermark, "window": {"fixed": {"size": "1h"}}})


def test_gaps() -> None:
    assert SlidingWindows("3s", "5s").has_gaps
    assert not SlidingWindows("5s", "5s").has_gaps
    assert not SlidingWindows("10s", "5s").has_gaps


MORE: dict[str, dict[str, Any]] = {
    "top": {"count": 3},
    "histogram": {"bounds": [0, 0.1, 2.5]},
    "quantiles": {"at": [0.5, 0.99]},
    "approx_top": {"count": 10},
}
"""The fields of aggregates beside their expression."""


@pytest.mark.parametrize("name", sorted(AGGREGATES))
def test_every_aggregate_reads_an_expression(name: str) -> None:
    more = MORE.get(name, {})
    stage = stage_of(aggregates={"a": {name: {"of": "v + 1", **more} if more else "v + 1"}})
    assert stage.aggregates["a"] == AGGREGATES[name](Expression.parse("v + 1"), **more)  # type: ignore[call-arg]
    written = stage.to_mapping()["aggregates"]
    assert written == {"a": {name: {"of": "`v` + 1", **more} if more else "`v` + 1"}}
    assert stage_of(aggregates=written) == stage


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"top": "v"}, 'aggregates.a.top must be a mapping; got "v". Hint: its fields are of, count'),
        ({"top": {"of": "v"}}, "aggregates.a.top.count is missing"),
        ({"top": {"of": "v", "count": 0}}, "aggregates.a.top.count must be from 1 to 10000; got 0"),
        ({"top": {"of": "v", "n": 3}}, "aggregates.a.top.n is not a field"),
        ({"histogram": {"of": "v", "bounds": []}}, "bounds must have 1 to 1000 numbers; got 0"),
        ({"histogram": {"of": "v", "bounds": [1, 1]}}, "bounds[1] must be larger than the bound before it"),
        ({"histogram": {"of": "v", "bounds": [1, "many"]}}, 'bounds[1] must be a number; got "many"'),
        ({"histogram": {"of": "v", "bounds": [1e30]}}, "bounds[0] must be a number of at most 18 digits"),
        ({"bool_or": "v"}, "here it is called any"),
        ({"quantiles": "v"}, "aggregates.a.quantiles must be a mapping"),
        ({"quantiles": {"of": "v", "at": []}}, "quantiles.at must have a rank"),
        ({"quantiles": {"of": "v", "at": [0.5, 99]}}, "quantiles.at[1] must be a number from 0 to 1; got 99"),
        ({"approx_top": {"of": "v", "count": 1001}}, "approx_top.count must be from 1 to 1000"),
    ],
    ids=range(13),
)
def test_a_wrong_aggregate(mapping: Any, message: str) -> None:
    with pytest.raises(SpecError) as error:
        stage_of(aggregates={"a": mapping})
    assert message in str(error.value)


def test_a_bound_is_the_number_that_is_written() -> None:
    assert Histogram("v", (0.1, Decimal("0.25"), "7.50")).bounds == (Decimal("0.1"), Decimal("0.25"), Decimal("7.5"))


# ---------------------------------------------------------------- watermarks


@given(watermarks())
def test_a_watermark_is_read_as_it_was_written(watermark: Watermark) -> None:
    assert Watermark.from_mapping(load_yaml(yaml.safe_dump(watermark.to_mapping()))) == watermark


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "must have exactly one of bounded_delay, fixed_lag, punctuated, processing_time"),
        ({"bounded_delay": "1m", "fixed_lag": "1m"}, "must have exactly one of"),
        ({"bounded_delay": "1m", "processing_time": {}}, "must have exactly one of"),
        ({"idle_timeout": "1m"}, "must have exactly one of"),
        ({"bounded_delay": "-1m"}, 'bounded_delay must not be negative; got "-1m"'),
        ({"bounded_delay": "1m", "idle_timeout": 0}, "idle_timeout must be positive; got 0"),
        ({"bounded_delay": "1m", "max_future": "-1s"}, "max_future must not be negative"),
        ({"delay": "1m"}, "delay is not a field. Hint: here it is called bounded_delay"),
        ({"processing_time": {"lag": "1m"}}, "processing_time has no fields"),
        ("1m", 'must be a mapping; got "1m"'),
    ],
    ids=range(10),
)
def test_a_wrong_watermark(mapping: Any, message: str) -> None:
    with pytest.raises(SpecError) as error:
        Watermark.from_mapping(mapping)
    assert message in str(error.value)


def test_a_punctuated_watermark_is_an_expression() -> None:
    rule = Watermark.from_mapping({"punctuated": "timestamp_millis( done )"})
    assert rule.punctuated is not None and rule.punctuated.columns == ("done",)
    assert Watermark.from_mapping(rule.to_mapping()) == rule and not rule.follows_clock
    with pytest.raises(SpecError, match="punctuated"):
        Watermark.from_mapping({"punctuated": "current_timestamp()"})


def test_which_watermarks_follow_the_clock() -> None:
    assert Watermark(fixed_lag="1m").follows_clock
    assert Watermark(processing_time=True).follows_clock
    assert not Watermark(bounded_delay="1m").follows_clock
