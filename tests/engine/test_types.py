"""An aggregate over a type that it does not take is refused before the first tick."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from windrow.compile.sql.columns import Column
from windrow.compile.windows.custom import CustomWindows
from windrow.spec.aggregates import Count
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import Step, TranscriptElement, read_transcripts
from windrow.testing.check import check_case
from windrow.testing.memory.stage import MemoryStage

WRONG = [
    ("string", {"sum": "x"}, "sum takes numbers"),
    ("date", {"mean": "x"}, "mean takes numbers"),
    ("decimal(28, 2)", {"sum": "x"}, "sum takes decimals of at most 27 digits"),
    ("decimal(25, 2)", {"mean": "x"}, "mean takes decimals of at most 24 digits"),
    ("map<string, int>", {"max": "x"}, "max takes values with an order"),
    ("map<string, int>", {"last": "x"}, "last takes values with an order"),
    ("array<map<string, int>>", {"collect": "x"}, "collect takes values with an order"),
    ("struct<a: map<string, int>>", {"count_distinct": "x"}, "count_distinct takes values with an order"),
    ("string", {"variance": "x"}, "variance takes numbers"),
    ("decimal(19, 2)", {"stddev": "x"}, "stddev takes decimals of at most 18 digits"),
    ("bigint", {"any": "x"}, "must be a condition"),
    ("string", {"all": "x"}, "must be a condition"),
    ("map<string, int>", {"collect_set": "x"}, "collect_set takes values with an order"),
    ("map<string, int>", {"top": {"of": "x", "count": 2}}, "top takes values with an order"),
    ("string", {"histogram": {"of": "x", "bounds": [1]}}, "histogram takes numbers"),
    ("array<int>", {"approx_count_distinct": "x"}, "approx_count_distinct takes numbers, texts, times and booleans"),
    ("string", {"quantiles": {"of": "x", "at": [0.5]}}, "quantiles takes numbers"),
    ("decimal(19, 2)", {"quantiles": {"of": "x", "at": [0.5]}}, "quantiles takes decimals of at most 18 digits"),
    ("array<int>", {"approx_top": {"of": "x", "count": 2}}, "approx_top takes numbers, texts, times and booleans"),
    ("decimal(21, 2)", {"histogram": {"of": "x", "bounds": [1]}}, "histogram takes decimals of at most 20 digits"),
]


@pytest.mark.parametrize(("kind", "aggregate", "rule"), WRONG)
def test_a_type_that_does_not_fit_is_refused(spark, kind: str, aggregate: dict[str, object], rule: str) -> None:
    stage = Stage.from_mapping({"name": "stage", "window": {"fixed": {"size": "10s"}}, "aggregates": {"y": aggregate}})
    with pytest.raises(SpecError, match=rule) as refused:
        MemoryStage.of(spark, stage, Schema.parse(f"x {kind}"), None)
    assert "aggregates.y" in str(refused.value) and kind.replace(" ", "") in str(refused.value)


def test_the_widest_decimals_that_are_taken_lose_no_digit_between_ticks(spark) -> None:
    aggregates = {"total": {"sum": "wide"}, "middle": {"mean": "narrow"}}
    stage = Stage.from_mapping({"name": "s", "window": {"fixed": {"size": "10s"}}, "aggregates": aggregates})
    memory = MemoryStage.of(spark, stage, Schema.parse("wide decimal(27, 20), narrow decimal(24, 20)"), None)
    ticks = [("0.00000000000000000001", None), ("0.00000000000000000002", 10_000_000)]
    for value, watermark in ticks:
        element = TranscriptElement(1, None, {"wide": value, "narrow": value})
        panes = memory.step(Step((element,), watermark, None, None, (), None, None)).panes
    (pane,) = panes
    assert (pane["total"], pane["middle"]) == (Decimal("3E-20"), Decimal("1.5E-20"))


@pytest.mark.parametrize("kind", ["float", "double"])
def test_a_floating_key_keeps_its_type_and_has_one_zero(spark, kind: str) -> None:
    fields = {"name": "s", "keys": ["x"], "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"count": "*"}}}
    memory = MemoryStage.of(spark, Stage.from_mapping(fields), Schema.parse(f"x {kind}"), None)
    added = tuple(TranscriptElement(1, None, {"x": zero}) for zero in (-0.0, 0.0))
    memory.step(Step(added, None, 1, None, (), None, None))
    assert len(memory.state.kept) == 1 and memory.state.schema is not None
    assert memory.state.schema["key"].dataType.simpleString() == memory.stage.key_type == f"struct<x:{kind}>"


def test_having_must_be_a_condition(spark) -> None:
    fields = {"name": "s", "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"count": "*"}}}
    stage = Stage.from_mapping({**fields, "derive": {"more": "n + 1"}, "having": "more + 1"})
    with pytest.raises(SpecError, match="having must be a condition"):
        MemoryStage.of(spark, stage, Schema.parse("x bigint"), None)


@pytest.mark.parametrize(
    ("trigger", "size", "message"),
    [
        ({"after_match": {"where": "x + 1"}}, None, "trigger.after_match must be a condition"),
        ({"when_result": "n + 1"}, None, "trigger.when_result must be a condition"),
        ({"when_result": "more"}, None, "trigger.when_result must be a condition"),
        ({"after_bytes": 10}, "x / 2", "size must be a whole number of bytes"),
        ({"after_bytes": 10}, "'10'", "size must be a whole number of bytes"),
    ],
)
def test_what_a_trigger_looks_at(spark, trigger: dict[str, object], size: str | None, message: str) -> None:
    fields = {"name": "s", "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"count": "*"}}}
    stage = Stage.from_mapping({**fields, "derive": {"more": "n + 1"}, "trigger": {"repeat": trigger}})
    with pytest.raises(SpecError, match=message):
        MemoryStage.of(spark, stage, Schema.parse("x bigint"), None, None if size is None else Expression.parse(size))


def test_windows_of_ones_own_that_are_no_windows_are_refused(spark) -> None:
    def made(text: str) -> CustomWindows:
        @dataclass(frozen=True)
        class Wrong(CustomWindows):
            NAME = "wrong"
            longest: int = 10

            def assign(self, event_time: Column, **arguments: Column) -> Column:
                return Column(text)

        return Wrong()

    for text, rule in [
        ("1", 'must give an array of window.*got "int"'),
        ("array(1L)", "must give an array of window"),
        ("array(named_struct('start', 'a', 'end', 'b'))", "must give an array of window"),
        ("array(named_struct('start', no_such_column, 'end', 1L))", "gives no column"),
        ("array(", "gives no column"),
    ]:
        stage = Stage(window=made(text), aggregates={"n": Count()})
        with pytest.raises(SpecError, match=rule) as refused:
            MemoryStage.of(spark, stage, Schema.parse("x bigint"), None)
        assert refused.value.place == "window.wrong"


def test_the_size_of_a_row_does_not_depend_on_the_session(spark) -> None:
    """With this setting Spark writes columns that are null into JSON."""
    cases = read_transcripts(Path(__file__).parents[1] / "transcripts" / "triggers_on_elements.yaml")
    (case,) = (one for one in cases if "the size of a row is its columns" in one.name)
    spark.conf.set("spark.sql.jsonGenerator.ignoreNullFields", "false")
    try:
        assert check_case(spark, case).messages == ()
    finally:
        spark.conf.unset("spark.sql.jsonGenerator.ignoreNullFields")
