"""An aggregate over a type that it does not take is refused before the first tick."""

from decimal import Decimal

import pytest

from windrow.run.memory import MemoryStage
from windrow.spec.errors import SpecError
from windrow.spec.schemas import Schema
from windrow.spec.stages import Stage
from windrow.spec.transcripts import Step, TranscriptElement

WRONG = [
    ("string", {"sum": "x"}, "sum takes numbers"),
    ("date", {"mean": "x"}, "mean takes numbers"),
    ("decimal(28, 2)", {"sum": "x"}, "sum takes decimals of at most 27 digits"),
    ("decimal(25, 2)", {"mean": "x"}, "mean takes decimals of at most 24 digits"),
    ("map<string, int>", {"max": "x"}, "max takes values with an order"),
    ("map<string, int>", {"last": "x"}, "last takes values with an order"),
    ("array<map<string, int>>", {"collect": "x"}, "collect takes values with an order"),
    ("struct<a: map<string, int>>", {"count_distinct": "x"}, "count_distinct takes values with an order"),
]


@pytest.mark.parametrize(("kind", "aggregate", "rule"), WRONG)
def test_a_type_that_does_not_fit_is_refused(spark, kind: str, aggregate: dict[str, str], rule: str) -> None:
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
    assert len(memory.cells) == 1 and memory.cell_schema is not None
    assert memory.cell_schema["key"].dataType.simpleString() == memory.stage.key_type == f"struct<x:{kind}>"


def test_having_must_be_a_condition(spark) -> None:
    fields = {"name": "s", "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"count": "*"}}}
    stage = Stage.from_mapping({**fields, "derive": {"more": "n + 1"}, "having": "more + 1"})
    with pytest.raises(SpecError, match="having must be a condition"):
        MemoryStage.of(spark, stage, Schema.parse("x bigint"), None)
