"""Aggregates of a user's own module: on the engine as on the model, and what is said when one of them fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model.transcripts import check
from tests.view.test_windows import SOURCE
from windrow.cli.errors import shown_plainly
from windrow.spec.aggregates import AGGREGATES
from windrow.spec.errors import SpecError
from windrow.spec.extensions import load_extensions
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import Step, TranscriptElement, read_transcripts
from windrow.testing.check import check_case
from windrow.testing.memory.stage import MemoryStage
from windrow.view.plan.stages import stage_section

MODULE = "tests.engine.own_aggregates"
CASES = Path(__file__).with_name("own_aggregates.yaml")


@pytest.fixture(autouse=True)
def own() -> Iterator[None]:
    """The module's aggregates, for one test."""
    before = dict(AGGREGATES)
    sys.modules.pop(MODULE, None)
    load_extensions([MODULE])
    yield
    AGGREGATES.clear()
    AGGREGATES.update(before)


def stage_of(**aggregates: object) -> Stage:
    return Stage.from_mapping({"name": "s", "window": {"fixed": {"size": "10s"}}, "aggregates": aggregates})


def test_the_transcripts_on_the_model() -> None:
    assert {case.name: messages for case in read_transcripts(CASES) if (messages := check(case))} == {}


def test_the_transcripts_on_the_engine(spark) -> None:
    outcomes = [check_case(spark, case) for case in read_transcripts(CASES)]
    assert {outcome.case: outcome.messages for outcome in outcomes if outcome.messages} == {}


def test_a_function_that_fails_fails_the_tick_and_names_the_aggregate(spark) -> None:
    memory = MemoryStage.of(
        spark, stage_of(words={"joined": {"of": "s", "forbidden": "q"}}), Schema.parse("s string"), None
    )
    memory.step(Step((TranscriptElement(1, None, {"s": "p"}),), None, None, None, (), None, None))
    with pytest.raises(Exception) as failed:
        memory.step(Step((TranscriptElement(2, None, {"s": "q"}),), 10_000_000, None, None, (), None, None))
    said = shown_plainly(failed.value)
    assert said.startswith("windrow: aggregates.words: joined failed: ValueError: q is forbidden. Hint:")
    (pane,) = memory.step(Step((TranscriptElement(2, None, {"s": "r"}),), 10_000_000, None, None, (), None, None)).panes
    assert pane["words"] == "p-r"


def test_a_value_that_is_not_of_the_declared_type_names_the_aggregate(spark, monkeypatch) -> None:
    monkeypatch.setattr(AGGREGATES["joined"], "RETURNS", "int")
    memory = MemoryStage.of(spark, stage_of(words={"joined": "s"}), Schema.parse("s string"), None)
    with pytest.raises(Exception) as failed:
        memory.step(Step((TranscriptElement(2, None, {"s": "q"}),), 10_000_000, None, None, (), None, None))
    assert "aggregates.words: joined failed: Arrow" in shown_plainly(failed.value)


def test_a_declared_type_that_is_none_is_refused(spark, monkeypatch) -> None:
    monkeypatch.setattr(AGGREGATES["joined"], "RETURNS", "many words")
    with pytest.raises(SpecError, match=r"aggregates\.words joined\.RETURNS must be a type of Spark SQL"):
        MemoryStage.of(spark, stage_of(words={"joined": "s"}), Schema.parse("s string"), None)


def test_a_type_that_is_not_taken_is_refused(spark) -> None:
    with pytest.raises(SpecError, match=r"aggregates\.wide span takes bigints; got \"string\""):
        MemoryStage.of(spark, stage_of(wide={"span": "s"}), Schema.parse("s string"), None)


def test_the_plan_names_them_with_their_fields() -> None:
    stage = stage_of(wide={"span": {"of": "v", "unit": 10}}, middle={"median": "v"})
    text = str(stage_section(stage, "lake", {ONLY: SOURCE}))
    assert "wide = span of v (unit 10)" in text and "middle = median of v" in text
