"""Stages over a weighted source, whose rows of weight -1 take back what rows of weight +1 have added.

Rule: docs/semantics.md#weights.
"""

from __future__ import annotations

from windrow.spec.aggregates import Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.stage import Stage

_WHOLE = ("tinyint", "smallint", "int", "bigint")


def check_weight(weight: str, schema: Schema) -> None:
    """Refuse a weight that is no column of whole numbers."""
    schema.require(weight, "weight")
    if schema[weight] not in _WHOLE:
        raise SpecError("weight", "must be a column of whole numbers, +1 or -1", schema[weight])


def check_takes_back(stage: Stage) -> None:
    """Refuse a stage in which an element cannot be taken back, with the reason. Errors: SpecError."""
    check_accumulation(stage)
    if stage.window.MERGES or stage.window.MADE_BY_RECORDS:
        rule = "does not go with a weighted source: to take back an element may split the window"
        raise SpecError("window", rule, stage.window.NAME, "windows that do not depend on the elements")
    for name, aggregate in stage.aggregates.items():
        if not aggregate.CAN_BE_UNDONE:
            raise SpecError(f"aggregates.{name}", _reason(aggregate), aggregate.NAME, _HINTS.get(aggregate.NAME))


def check_accumulation(stage: Stage) -> None:
    """Refuse panes of which a part cannot be taken back. Errors: SpecError."""
    if stage.is_discarding or stage.is_mixed:
        rule = "does not go with a weighted source: what a pane has shown and cleared could not be taken back"
        raise SpecError("accumulation", rule, str(stage.accumulation), "accumulating or retracting")


def _reason(aggregate: Aggregate) -> str:
    if aggregate.IS_SKETCH:
        return "does not go with a weighted source: a sketch cannot give back what it was given"
    return "does not go with a weighted source: its parts have no uncombine"


_HINTS = {"approx_count_distinct": "count_distinct", "quantiles": "histogram", "approx_top": "collect"}
