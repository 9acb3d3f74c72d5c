"""Stages over a weighted source, whose rows of weight -1 take back what rows of weight +1 have added.

Rule: docs/semantics.md#weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from windrow.spec.aggregates import Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.refusals import Each, Refusal, Rule, refuse
from windrow.spec.stages.stage import Stage

_WHOLE = ("tinyint", "smallint", "int", "bigint")


def check_weight(weight: str, schema: Schema) -> None:
    """Refuse a weight that is no column of whole numbers."""
    schema.require(weight, "weight")
    if schema[weight] not in _WHOLE:
        raise SpecError("weight", "must be a column of whole numbers, +1 or -1", schema[weight])


EXACT: Mapping[str, str] = {
    "approx_count_distinct": "count_distinct", "quantiles": "histogram", "approx_top": "collect"
}  # fmt: skip
"""The exact aggregates that can be undone, by the names of the sketches that cannot."""


@dataclass(frozen=True)
class Undoing:
    """An aggregate of a stage by its name, and what takes elements back from it."""

    name: str
    aggregate: Aggregate
    by: str

    @classmethod
    def all_of(cls, stage: Stage, by: str) -> Iterator[Undoing]:
        """Every aggregate of a stage."""
        return (cls(name, aggregate, by) for name, aggregate in stage.aggregates.items())

    @property
    def why_not(self) -> str:
        """Why it cannot, where it cannot."""
        is_sketch = self.aggregate.IS_SKETCH
        return "a sketch cannot give back what it was given" if is_sketch else "its parts have no uncombine"


UNDOING: tuple[Rule[Undoing], ...] = (
    Refusal(
        lambda one: f"aggregates.{one.name}",
        applies=lambda one: not one.aggregate.CAN_BE_UNDONE,
        rule=lambda one: f"does not go with {one.by}: {one.why_not}",
        got=lambda one: one.aggregate.NAME,
        hint=lambda one: EXACT.get(one.aggregate.NAME),
    ),
)
"""Aggregates that cannot give an element back."""

PANES: tuple[Rule[Stage], ...] = (
    Refusal(
        "accumulation",
        applies=lambda stage: stage.is_discarding or stage.is_mixed,
        rule="does not go with a weighted source: what a pane has shown and cleared could not be taken back",
        got=lambda stage: str(stage.accumulation),
        hint="accumulating or retracting",
    ),
)
"""Panes of which a part cannot be taken back."""

ELEMENTS: tuple[Rule[Stage], ...] = (
    Refusal(
        "window",
        applies=lambda stage: stage.window.MERGES or stage.window.MADE_BY_RECORDS,
        rule="does not go with a weighted source: to take back an element may split the window",
        got=lambda stage: stage.window.NAME,
        hint="windows that do not depend on the elements",
    ),
    Each(lambda stage: Undoing.all_of(stage, "a weighted source"), UNDOING),
)
"""What cannot be made of elements that are taken back."""


def check_takes_back(stage: Stage) -> None:
    """Refuse a stage in which an element cannot be taken back, with the reason. Errors: SpecError."""
    refuse((*PANES, *ELEMENTS), stage)


def check_accumulation(stage: Stage) -> None:
    """Refuse panes of which a part cannot be taken back. Errors: SpecError."""
    refuse(PANES, stage)
