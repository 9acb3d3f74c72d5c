"""An aggregate over a type that it does not take is refused before the first tick."""

import pytest

from windrow.run.memory import MemoryStage
from windrow.spec.errors import SpecError
from windrow.spec.schemas import Schema
from windrow.spec.stages import Stage

WRONG = [
    ("string", {"sum": "x"}, "sum takes numbers"),
    ("date", {"mean": "x"}, "mean takes numbers"),
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
