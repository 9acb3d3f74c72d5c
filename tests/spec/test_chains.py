"""Stages that read stages: each refusal with its fix, and what is just accepted.

Rule: docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.extensions.triggers import AfterSpread
from windrow.spec.aggregates import ApproxCountDistinct, Collect, Count, Max, Quantiles, Sum
from windrow.spec.errors import SpecError
from windrow.spec.stages.chains import (
    check_reads_a_source,
    emits_retractions,
    fires_once,
    reads_retractions,
)
from windrow.spec.stages.cogroups import check_inputs_read
from windrow.spec.stages.graph import check_graph, read_by
from windrow.spec.stages.inputs import ONLY, Input, JoinKind, check_inputs
from windrow.spec.stages.stage import Accumulation, PaneTime, Stage
from windrow.spec.times import HOUR, MINUTE, SECOND
from windrow.spec.triggers.all import (
    DEFAULT_TRIGGER,
    AfterCount,
    AfterDelay,
    AfterWatermark,
    AllOf,
    AtClose,
    AtWatermark,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Then,
    Trigger,
)
from windrow.spec.windows.aligned import FixedWindows, GlobalWindow, SlidingWindows
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

EACH = Repeat(AfterCount(1))


def check_reads(stage: Stage, above: Stage) -> None:
    """The only input of a stage against what it reads."""
    check_inputs_read(stage, {ONLY: above})


def upstream(**fields: Any) -> Stage:
    """A retracting stage that fires often, with other fields if they are given."""
    usual: dict[str, Any] = {
        "name": "sums", "keys": ["k"], "window": FixedWindows(MINUTE), "trigger": EACH,
        "accumulation": Accumulation.RETRACTING, "aggregates": {"n": Sum("v")},
    }  # fmt: skip
    return Stage(**{**usual, **fields})


def reader(**fields: Any) -> Stage:
    usual: dict[str, Any] = {"name": "total", "window": InheritedWindows(), "aggregates": {"all_n": Sum("n")}}
    return Stage(**{**usual, **fields})


def refused(stage: Stage, above: Stage, place: str, rule: str, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_reads(stage, above)
    error = caught.value
    assert error.place == place and rule in error.rule and hint in (error.hint or "")
    assert error.got is not None


# ---------------------------------------------------------------- firing once


@pytest.mark.parametrize(
    ("trigger", "lateness", "once"),
    [
        (DEFAULT_TRIGGER, 0, True),
        (DEFAULT_TRIGGER, 1, False),
        (AtWatermark(), 0, True),
        (AtWatermark(), HOUR, True),
        (AtWatermark(percentile=50), 0, True),
        (Repeat(AtWatermark(percentile=50)), 0, False),
        (AtClose(), HOUR, True),
        (Repeat(AtClose()), HOUR, True),
        (Never(), HOUR, True),
        (AfterCount(3), 0, True),
        (Repeat(AfterCount(3)), 0, False),
        (AfterWatermark(), 0, True),
        (AfterWatermark(late=AfterCount(1)), 0, True),
        (AfterWatermark(late=AfterCount(1)), 1, False),
        (AfterWatermark(early=AfterCount(1)), 0, False),
        (FirstOf(Repeat(AfterCount(1)), AtWatermark()), 0, True),
        (AllOf(Repeat(AfterCount(1)), AfterDelay(5)), 0, True),
        (SequenceOf(AtWatermark()), HOUR, True),
        (SequenceOf(AtWatermark(), AfterCount(1)), 0, True),
        (SequenceOf(AtWatermark(), AfterCount(1)), 1, False),
        (SequenceOf(AfterCount(1), AtWatermark()), 0, False),
        (RepeatCount(AfterCount(1), 1), 0, True),
        (RepeatCount(AfterCount(1), 2), 0, False),
        (RepeatUntil(Never(), AfterCount(1)), 0, True),
        (RepeatUntil(AfterCount(1), AtWatermark()), 0, False),
        (AfterSpread(5), 0, True),
        (Repeat(AfterSpread(5)), 0, False),
    ],
)
def test_which_triggers_fire_once(trigger: Trigger, lateness: int, once: bool) -> None:
    stage = upstream(trigger=trigger, allowed_lateness=lateness, allow_closing=True)
    assert fires_once(stage) is once
    assert emits_retractions(stage) is not once


def test_all_of_time_expires_when_it_is_complete() -> None:
    trigger = AllOf(AtWatermark(), AfterCount(2))
    assert fires_once(upstream(window=GlobalWindow(), trigger=Repeat(trigger), allowed_lateness=HOUR))


def test_what_reads_retractions() -> None:
    above = upstream()
    assert reads_retractions(reader(), above) and reads_retractions(reader(from_="sums"), above)
    assert not reads_retractions(reader(from_="other"), above)
    assert not reads_retractions(reader(), upstream(accumulation="discarding"))
    assert not reads_retractions(reader(), upstream(trigger=AtClose()))


# ---------------------------------------------------------------- counted once


def test_accumulating_panes_are_refused() -> None:
    above = upstream(accumulation="accumulating")
    refused(reader(), above, "from", "would be counted twice", "accumulation: retracting or discarding")
    refused(reader(), upstream(accumulation="accumulate_by_default"), "from", "counted twice", "at_close")


def test_some_that_clear_and_some_that_do_not_are_refused() -> None:
    mixed = Repeat(FirstOf(AfterCount(1, then=Then.CLEAR), AtWatermark()))
    above = upstream(accumulation="accumulate_by_default", retract=True, trigger=mixed)
    refused(reader(), above, "from", "counted twice", "retracting or discarding")


@pytest.mark.parametrize(
    "above",
    [
        upstream(),
        upstream(accumulation="discarding"),
        upstream(accumulation="clear_by_default"),
        upstream(accumulation="accumulate_by_default", retract=True),
        upstream(accumulation="accumulating", trigger=DEFAULT_TRIGGER),
        upstream(accumulation="accumulating", trigger=AtClose(), allowed_lateness=HOUR),
        upstream(accumulation="accumulating", trigger=AfterCount(1), allow_closing=True),
    ],
    ids=range(7),
)
def test_panes_that_are_counted_once_are_accepted(above: Stage) -> None:
    check_reads(reader(), above)


# ---------------------------------------------------------------- lateness


def test_the_lateness_is_at_least_the_upstreams() -> None:
    above = upstream(allowed_lateness=HOUR)
    refused(reader(), above, "allowed_lateness", "must be at least the 1h of sums", "allowed_lateness: 1h")
    refused(reader(allowed_lateness=HOUR - 1), above, "allowed_lateness", "must be at least", "1h")
    check_reads(reader(allowed_lateness=HOUR), above)
    check_reads(reader(allowed_lateness=HOUR + 1), above)


def test_without_retractions_it_may_be_any() -> None:
    check_reads(reader(), upstream(accumulation="discarding", allowed_lateness=HOUR))
    check_reads(reader(), upstream(trigger=AtClose(), allowed_lateness=HOUR))


def test_behind_sessions_it_is_longer_by_the_longest_session() -> None:
    above = upstream(window=Sessions(MINUTE, max_session=HOUR), allowed_lateness=MINUTE)
    needed = HOUR + MINUTE
    rule = "at least the 1m of sums and its max_session of 1h"
    refused(reader(allowed_lateness=needed - 1), above, "allowed_lateness", rule, "allowed_lateness: 61m")
    check_reads(reader(allowed_lateness=needed), above)


def test_behind_sessions_the_longest_must_be_known() -> None:
    above = upstream(window=Sessions(MINUTE))
    refused(reader(allowed_lateness=HOUR), above, "from", "whose longest is not known", "a max_session")
    check_reads(reader(), replace(above, trigger=AtClose()))
    check_reads(reader(), replace(above, accumulation=Accumulation.DISCARDING))


def test_windows_that_were_inherited_from_sessions_do_not_merge() -> None:
    first = upstream(window=Sessions(MINUTE, max_session=HOUR))
    second = reader(trigger=EACH, accumulation="retracting", allowed_lateness=HOUR)
    third = Stage(name="third", window=InheritedWindows(), allowed_lateness=HOUR, aggregates={"num": Count()})
    check_graph([first, second, third])
    with pytest.raises(SpecError, match=r"stages\[2\].allowed_lateness must be at least the 1h of total"):
        check_graph([first, second, replace(third, allowed_lateness=HOUR - 1)])


# ---------------------------------------------------------------- taking back


@pytest.mark.parametrize(
    ("aggregate", "hint"), [(ApproxCountDistinct("n"), "count_distinct"), (Quantiles("n", (0.5,)), "histogram")]
)
def test_a_sketch_takes_nothing_back(aggregate: Any, hint: str) -> None:
    stage = reader(aggregates={"about": aggregate})
    refused(stage, upstream(), "aggregates.about", "a sketch cannot give back", hint)
    check_reads(stage, upstream(accumulation="discarding"))
    check_reads(stage, upstream(trigger=AtClose()))


def test_a_custom_aggregate_without_uncombine_takes_nothing_back() -> None:
    class Parity(Sum):
        NAME = "parity"
        CAN_BE_UNDONE = False

    stage = reader(aggregates={"odd": Parity("n")})
    with pytest.raises(SpecError, match=r"aggregates.odd does not go .* its parts have no uncombine"):
        check_reads(stage, upstream())


@pytest.mark.parametrize("window", [Sessions(MINUTE), RecordWindows(10 * SECOND)])
def test_to_take_back_may_split_a_window(window: Any) -> None:
    stage = reader(window=window, allowed_lateness=HOUR)
    refused(stage, upstream(), "window", "may split the window", "windows that do not depend on the elements")
    check_reads(stage, upstream(accumulation="discarding"))
    check_reads(stage, upstream(trigger=AtClose()))


@pytest.mark.parametrize("accumulation", ["discarding", "clear_by_default"])
def test_what_was_cleared_cannot_be_taken_back(accumulation: str) -> None:
    stage = reader(accumulation=accumulation)
    refused(stage, upstream(), "accumulation", "what was shown and cleared", "retracting")
    check_reads(stage, upstream(accumulation="discarding"))


@pytest.mark.parametrize("column", ["timing", "PANE_INDEX"])
def test_groups_do_not_depend_on_the_firing(column: str) -> None:
    by_key = reader(keys=[{"of": f"concat({column}, '')"}])
    refused(by_key, upstream(), "keys.of", "must not use timing or pane_index of sums", "keys and results")
    refused(reader(where=f"{column} is not null"), upstream(), "where", "must not use timing", "keys and results")
    by_select = reader(select={"a": f"{column} is null", "b": "a or n > 1"}, where="b")
    refused(by_select, upstream(), "where", "must not use timing or pane_index", "keys and results")
    for above in (upstream(accumulation="discarding"), upstream(trigger=AtClose())):
        check_reads(by_key, above)
        check_reads(by_select, above)
    check_reads(reader(aggregates={"last_timing": Max(column)}), upstream())


def test_a_weight_stands_for_itself() -> None:
    refused(reader(where="weight > 0"), upstream(), "where", "must not use the weight", "taken back by themselves")
    refused(reader(keys=[{"sign": "weight"}]), upstream(), "keys.sign", "must not use the weight", "by themselves")
    refused(reader(aggregates={"net": Sum("weight")}), upstream(), "aggregates.net", "must not use the weight", "")
    check_reads(reader(where="weight > 0"), upstream(trigger=AtClose()))


# ---------------------------------------------------------------- event times


@pytest.mark.parametrize("event_time", [PaneTime.EARLIEST, PaneTime.LATEST])
def test_event_times_of_elements_need_one_firing(event_time: PaneTime) -> None:
    for accumulation in ("retracting", "discarding"):
        above = upstream(event_time=event_time, accumulation=accumulation)
        refused(reader(), above, "from", "could fall in two windows", "event_time: end_of_window")
    check_reads(reader(), upstream(event_time=event_time, trigger=AtClose()))


def test_all_of_time_has_no_end_to_be_in() -> None:
    above = upstream(window=GlobalWindow())
    fixed = reader(window=FixedWindows(HOUR))
    refused(fixed, above, "window", "the panes of a global window have no event time", "{inherited: {}}")
    refused(fixed, replace(above, trigger=AtClose()), "window", "no event time", "latest or earliest")
    check_reads(fixed, replace(above, trigger=AtClose(), event_time=PaneTime.LATEST))
    check_reads(reader(trigger=EACH), above)


def test_inherited_all_of_time_never_completes() -> None:
    above = upstream(window=GlobalWindow())
    refused(reader(), above, "trigger", "must not be the default one over a global window", "repeat")
    second = reader(trigger=EACH, accumulation="retracting")
    third = Stage(name="third", window=InheritedWindows(), aggregates={"num": Count()})
    with pytest.raises(SpecError, match=r"stages\[2\].trigger must not be the default one over a global window"):
        check_graph([above, second, third])
    with pytest.raises(SpecError, match=r"stages\[2\].window cannot be assigned"):
        check_graph([above, second, replace(third, window=SlidingWindows(HOUR, MINUTE))])
    check_graph([above, second, replace(third, trigger=EACH)])


def test_a_source_has_no_windows_to_inherit() -> None:
    with pytest.raises(SpecError, match="elements of a source have no windows"):
        check_reads_a_source(reader())
    with pytest.raises(SpecError, match=r"stages\[0\].window is for a stage that reads a stage"):
        check_graph([reader()])
    check_reads_a_source(upstream())


# ---------------------------------------------------------------- columns and names


def test_what_a_pane_has() -> None:
    of_pane = ["k", "n", "twice", "window_start", "window_end", "timing", "pane_index"]
    above = upstream(derive={"twice": "n * 2"})
    for column in of_pane:
        check_reads(reader(aggregates={"most": Max(column)}), above)
    stage = reader(aggregates={"most": Max("v")})
    refused(stage, above, "aggregates.most", "is not a column here", "the columns are k, n, twice, window_start")
    with pytest.raises(SpecError, match="did you mean twice"):
        check_reads(reader(keys=["twise"]), above)
    with pytest.raises(SpecError, match=r"select.n is already a column"):
        check_reads(reader(select={"n": "n + 1"}), above)


def test_which_stage_reads_which() -> None:
    stages = [upstream(), reader(), reader(name="other", from_="sums"), reader(name="fresh", from_="orders")]
    read = [of[ONLY] for of in read_by(stages, ["orders"]).values()]
    assert [one and one.name for one in read] == [None, "sums", "sums", None]
    with pytest.raises(SpecError, match=r"stages\[1\].from is neither a source nor a stage before it"):
        read_by([upstream(), reader(from_="total")])
    with pytest.raises(SpecError, match=r"stages\[1\].name is there twice"):
        read_by([upstream(), reader(name="sums")])
    with pytest.raises(SpecError, match=r"stages\[0\].name is there twice"):
        read_by([upstream()], ["sums"])


def test_a_chain_says_which_stage_it_refuses() -> None:
    with pytest.raises(SpecError, match=r"stages\[1\].from reads a stage whose panes accumulate"):
        check_graph([upstream(accumulation="accumulating"), reader()])
    check_graph([upstream(), reader(accumulation="retracting"), reader(name="third", aggregates={"m": Max("all_n")})])


# ---------------------------------------------------------------- inputs


def left(**fields: Any) -> Input:
    return Input.from_mapping({"keys": ["id"], "columns": ["item"], **fields})


def right(**fields: Any) -> Input:
    return Input.from_mapping({"keys": ["id"], "columns": ["paid"], **fields})


def grouped(name: str, **fields: Any) -> Input:
    return Input.from_mapping({"keys": ["id"], "aggregates": {name: {"count": "*"}}, **fields})


def test_an_input_in_yaml() -> None:
    written = {
        "from": "orders", "select": {"day": "cast(`at` as date)"}, "where": "`amount` > 0",
        "keys": [{"id": "`order_id`"}], "columns": ["item", {"gross": "`amount` * 2"}],
    }  # fmt: skip
    one = Input.from_mapping(written)
    assert one.to_mapping() == written and (one.from_, one.results) == ("orders", ("item", "gross"))
    assert list(one.gathered.values()) == [Collect("`item`"), Collect("amount * 2")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kees": ["id"]}, "kees is not a field. Hint: did you mean keys"),
        ({"on": ["id"]}, "on is not a field. Hint: here it is called keys"),
        ({"columns": "item"}, "columns must be a list"),
        ({"aggregates": {"num": {"count": "*"}}}, "columns does not go with aggregates"),
        ({"where": "("}, "where"),
    ],
)
def test_an_input_is_strict(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message.replace("(", r"\(")):
        left(**fields)


@pytest.mark.parametrize(
    ("inputs", "join", "message"),
    [
        ({"a": left()}, JoinKind.INNER, "inputs must be two for a join"),
        ({"a": left(), "b": right(), "c": left(columns=["x"])}, JoinKind.FULL, "inputs must be two for a join"),
        ({"a": grouped("n")}, None, "inputs must be two or more"),
        ({"a": left(), "b": grouped("n")}, JoinKind.INNER, "inputs.b.aggregates does not go with a join"),
        ({"a": left(), "b": grouped("n")}, None, "inputs.a.aggregates must be there"),
        ({"a": left(columns=[]), "b": right(columns=[])}, JoinKind.LEFT, "must have columns for the join to show"),
        ({"a": left(), "b": right(keys=["order_id"])}, JoinKind.LEFT, "inputs.b.keys must have the names of those"),
        ({"a": left(), "b": right(columns=["Item"])}, JoinKind.LEFT, "gives a name that is also one of inputs.a"),
        ({"a": left(), "b": right(columns=["id"])}, JoinKind.LEFT, "gives a name that is also one of keys"),
        ({"a": grouped("timing"), "b": grouped("n")}, None, "inputs.a takes a reserved name"),
        ({"a": left(), "b": right(columns=["row"])}, JoinKind.INNER, "inputs.b takes a reserved name"),
    ],
    ids=range(11),
)  # fmt: skip
def test_inputs_that_do_not_go_together(inputs: dict[str, Input], join: JoinKind | None, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        check_inputs(inputs, join)


def test_inputs_that_go_together() -> None:
    check_inputs({"a": left(), "b": right(keys=[{"id": "order_id"}])}, JoinKind.INNER)
    check_inputs({"a": left(), "b": right(columns=[])}, JoinKind.LEFT)
    check_inputs({"a": grouped("n"), "b": grouped("m"), "c": grouped("o")}, None)


def test_each_input_is_judged_like_a_stage() -> None:
    above = upstream(allowed_lateness=MINUTE, aggregates={"n": Sum("v")})
    inputs = {"a": grouped("num", keys=["k"]), "b": grouped("other", keys=["k"])}

    def shared(**fields: Any) -> Stage:
        usual = {"name": "both", "inputs": inputs, "window": InheritedWindows(), "allowed_lateness": MINUTE}
        return Stage(**{"aggregates": {}, **usual, **fields})

    check_inputs_read(shared(), {"a": above, "b": above})
    with pytest.raises(SpecError, match=r"inputs.b.window is for a stage that reads a stage"):
        check_inputs_read(shared(), {"a": above})
    with pytest.raises(SpecError, match=r"inputs.a.allowed_lateness must be at least"):
        check_inputs_read(shared(allowed_lateness=0), {"a": above, "b": above})
    with pytest.raises(SpecError, match=r"^accumulation does not go with the retractions"):
        check_inputs_read(shared(accumulation=Accumulation.DISCARDING), {"a": above, "b": above})
    other = {name: replace(one, keys=["id"]) for name, one in inputs.items()}
    with pytest.raises(SpecError, match=r"inputs.a.keys.id is not a column here"):
        check_inputs_read(shared(inputs=other), {"a": above, "b": above})
