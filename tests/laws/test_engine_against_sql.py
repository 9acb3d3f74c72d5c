"""What the engine comes to in the end, beside plain SQL and plain Python over the raw elements, for random data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.laws.raw import COLUMNS, TRIGGERS, Bundles, Raw, bundles, group_of, raws
from tests.laws.strategies import KEEPING, SCHEMA, Run, TickInput, honest_ticks, rebundled, sessions, stages
from tests.laws.test_engine_equals_model import EXAMPLES, IN_SPARK, without_floats
from windrow.engine.windows import record_frames as record_windows
from windrow.spec.aggregates import Collect, Count, Max, Sum
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.graph import check_graph
from windrow.spec.stages.inputs import Input, JoinKind
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import SECOND
from windrow.spec.transcripts.steps import Step
from windrow.spec.triggers.all import AtClose
from windrow.spec.windows.aligned import FixedWindows
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.records import RecordWindows
from windrow.testing.memory.chain import MemoryChain
from windrow.testing.memory.stage import MemoryStage

OF_RAW = Schema(COLUMNS)
LATENESS = 20 * SECOND
FEW = settings(IN_SPARK, max_examples=max(EXAMPLES // 4, 1))
SHARED: dict[str, Any] = {"accumulation": Accumulation.RETRACTING, "allowed_lateness": LATENESS}

Rows = Counter[tuple[Any, ...]]


def step(elements: Iterable[Any], now: int | None, watermark: int | None) -> Step:
    return Step(tuple(elements), watermark, now, None, (), None, None)


def net(spark: SparkSession, made: Sequence[Stage], ticks: Bundles, *columns: str) -> Rows:
    """What the weights of all panes of the last stage leave: its columns and the start of the window."""
    check_graph(made)
    chain = MemoryChain.of(spark, made, OF_RAW, None)
    left: Rows = Counter()
    for number, (taken, watermark) in enumerate(ticks):
        outcomes = chain.step(step([one.element() for one in taken], SECOND * number, watermark))
        assert not any(outcome.dead for outcome in outcomes.values()), "nothing is late"
        for pane in outcomes[made[-1].name].panes:
            left[(pane["window"][0], *[_fixed(pane[name]) for name in columns])] += pane["weight"]
    return Counter({row: number for row, number in left.items() if number})


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def by_sql(spark: SparkSession, query: str, **elements: Iterable[Raw]) -> Rows:
    """The rows of a query over the raw elements, by Spark."""
    for name, rows in elements.items():
        values = [(one.at, one.k, one.g, one.v) for one in rows]
        spark.createDataFrame(values, "at bigint, k string, g string, v bigint").createOrReplaceTempView(name)
    return Counter(tuple(row) for row in spark.sql(query).collect())


SUMS = Stage(
    name="sums", keys=["k", "g"], window=FixedWindows(10 * SECOND), **SHARED,
    aggregates={"n": Count(), "total": Sum("v"), "most": Max("v")},
)  # fmt: skip
TOTALS = Stage(
    name="totals", from_="sums", keys=["g"], window=FixedWindows(20 * SECOND), **SHARED,
    aggregates={"cells": Count(), "n": Sum("n"), "highest": Max("most"), "total": Sum("total")},
)  # fmt: skip
SPREAD = Stage(
    name="spread", from_="totals", keys={"many": "n > 2"}, window=InheritedWindows(), **SHARED,
    aggregates={"groups": Count(), "n": Sum("n"), "highest": Max("highest"), "total": Sum("total")},
)  # fmt: skip
OF_SPREAD = """
    WITH sums AS (SELECT k, g, at - pmod(at, 10000000) AS start, count(*) AS n, sum(v) AS total, max(v) AS most
                  FROM raw GROUP BY 1, 2, 3),
         totals AS (SELECT g, start - pmod(start, 20000000) AS start, sum(n) AS n, max(most) AS highest,
                           sum(total) AS total FROM sums GROUP BY 1, 2)
    SELECT start, n > 2, count(*), sum(n), max(highest), sum(total) FROM totals GROUP BY 1, 2"""


@FEW
@given(ticks=bundles(LATENESS), triggers=st.tuples(*[st.sampled_from(TRIGGERS)] * 3))
def test_the_net_of_the_last_of_three_stages_is_sql_over_the_elements(spark, ticks: Bundles, triggers: Any) -> None:
    made = [replace(one, trigger=trigger) for one, trigger in zip((SUMS, TOTALS, SPREAD), triggers, strict=True)]
    actual = net(spark, made, ticks, "many", "groups", "n", "highest", "total")
    assert actual == by_sql(spark, OF_SPREAD, raw=raws(ticks)), (ticks, triggers)


JOINED = """
    SELECT coalesce(l.start, r.start), coalesce(l.k, r.k), l.v, r.g, r.v
    FROM (SELECT *, at - pmod(at, 10000000) AS start FROM ours) l {kind} JOIN
         (SELECT *, at - pmod(at, 10000000) AS start FROM theirs) r ON l.k = r.k AND l.start = r.start"""


@FEW
@given(ticks=bundles(LATENESS, ("ours", "theirs")), kind=st.sampled_from(JoinKind), trigger=st.sampled_from(TRIGGERS))
def test_the_net_of_a_join_is_that_of_spark(spark, ticks: Bundles, kind: JoinKind, trigger: Any) -> None:
    inputs = {
        "ours": Input(keys=["k"], columns={"mine": "v"}),
        "theirs": Input(keys=["k"], columns={"its_g": "g", "its_v": "v"}),
    }
    join = group_of(inputs, kind, name="join", window=FixedWindows(10 * SECOND), trigger=trigger, **SHARED)
    actual = net(spark, [join], ticks, "k", "mine", "its_g", "its_v")
    sides = {name: [one for one in raws(ticks) if one.input == name] for name in inputs}
    assert actual == by_sql(spark, JOINED.format(kind=kind), **sides), (ticks, kind, trigger)


@FEW
@given(ticks=bundles(), difference=st.integers(0, 5), trigger=st.sampled_from([AtClose(), TRIGGERS[2]]))
def test_record_windows_are_those_that_can_be_enumerated(spark, ticks: Bundles, difference: int, trigger: Any) -> None:
    """Each set of elements that a window of that length can hold and that begins or ends with one of them, once."""
    near, length = of_records(difference, trigger, {"n": Count(), "values": Collect("v")}), difference * SECOND
    actual: Counter[Any] = Counter()
    for (_, k, n, values), number in net(spark, [near], ticks, "k", "n", "values").items():
        actual[k, n, tuple(sorted(values))] += number
    assert actual == _enumerated(raws(ticks), length), (ticks, difference)


@FEW
@given(
    ticks=bundles(), difference=st.integers(0, 5), trigger=st.sampled_from([AtClose(), TRIGGERS[2]]),
    block=st.sampled_from([1, 2, record_windows.WINDOWS_PER_BLOCK]),
)  # fmt: skip
def test_so_are_they_where_frames_can_hold_them(
    spark, ticks: Bundles, difference: int, trigger: Any, block: int
) -> None:
    near = of_records(difference, trigger, {"n": Count(), "total": Sum("v"), "most": Max("v")})
    actual: Counter[Any] = Counter()
    with patch.object(record_windows, "WINDOWS_PER_BLOCK", block):
        for (_, *row), number in net(spark, [near], ticks, "k", "n", "total", "most").items():
            actual[tuple(row)] += number
    expected: Counter[Any] = Counter()
    for (k, n, values), number in _enumerated(raws(ticks), difference * SECOND).items():
        expected[k, n, sum(values), max(values)] += number
    assert actual == expected, (ticks, difference)


def of_records(difference: int, trigger: Any, aggregates: Any) -> Stage:
    window, shared = RecordWindows(difference * SECOND), {**SHARED, "allowed_lateness": 0}
    return Stage(name="near", keys=["k"], window=window, trigger=trigger, aggregates=aggregates, **shared)


def _enumerated(elements: Sequence[Raw], length: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for k in "abc":
        own = [one for one in elements if one.k == k]
        spans = {(one.at - length, one.at) for one in own} | {(one.at + 1, one.at + 1 + length) for one in own}
        held = {frozenset(n for n, one in enumerate(own) if first <= one.at <= last) for first, last in spans}
        for numbers in held - {frozenset()}:
            found[k, len(numbers), tuple(sorted(own[number].v for number in numbers))] += 1
    return found


@FEW
@given(
    stage=stages(KEEPING, may_close=False, depth=2, over=sessions(touching=False)), ticks=honest_ticks(), data=st.data()
)
def test_sessions_do_not_depend_on_the_bundling(spark, stage: Stage, ticks: Any, data: st.DataObject) -> None:
    run = without_floats(Run(stage, ticks))
    other = data.draw(rebundled(run.elements))
    assert shown(spark, run.stage, run.ticks) == shown(spark, run.stage, other), (run, other)


def shown(spark: SparkSession, stage: Stage, ticks: Sequence[TickInput]) -> dict[Any, str]:
    """The panes that stand in the end, by key and window."""
    engine, left = MemoryStage.of(spark, stage, SCHEMA, None), {}
    for tick in ticks:
        for pane in engine.step(step(tick.elements, tick.now, tick.watermark)).panes:
            place = (*[pane[name] for name in stage.keys], pane["window"])
            left.pop(place, None)
            if pane["weight"] > 0:
                left[place] = repr({name: _sorted(pane[name]) for name in stage.result_columns})
    return left


def _sorted(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, list) else value
