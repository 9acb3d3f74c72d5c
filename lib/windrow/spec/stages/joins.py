"""Joins as co-groups: a cell collects the rows of both inputs, and counts them. Rule: docs/semantics.md#several-inputs.

A pane without a row is held back as by `having`: it is not shown, has no index, and retracts what was shown before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from windrow.spec.aggregates import Aggregate, Collect, Count
from windrow.spec.errors import NotInThisVersion
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import Named
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.refusals import Refusal, Rule, refuse
from windrow.spec.stages.stage import Stage


def rows_name(name: str) -> str:
    """The aggregate that has the rows of an input."""
    return f"_{name}_rows"


def _number_name(name: str) -> str:
    return f"_{name}_number"


SHOWN: tuple[Rule[Stage], ...] = (
    Refusal(
        "join",
        applies=lambda stage: stage.is_discarding or stage.is_mixed,
        rule="of a pipeline whose panes clear is not in this version",
        got=lambda stage: stage.accumulation,
        error=NotInThisVersion,
    ),
)
"""Joins whose rows a batch cannot be compared with."""

SHOWN_OVER_RETRACTIONS: tuple[Rule[Stage], ...] = (
    Refusal(
        "accumulation",
        applies=lambda stage: not stage.is_retracting,
        rule="of a join must be retracting where elements can be taken back, or rows that are gone would stay",
        got=lambda stage: str(stage.accumulation),
        hint="retracting",
    ),
)
"""Joins that a table cannot show where elements can be taken back."""


def check_shown(stage: Stage, takes_back: bool) -> None:
    """Refuse a join whose rows a table could not show, or not compare with a batch. Errors: SpecError."""
    if stage.join is not None:
        refuse((*SHOWN, *(SHOWN_OVER_RETRACTIONS if takes_back else ())), stage)


def cells_by_input(stage: Stage) -> Mapping[str, Stage]:
    """Each input as a stage of its own, with what the cells of the stage keep of its elements."""
    if stage.join is None:
        return by_input(stage)
    return {name: replace(one, aggregates=_collected(stage, name)) for name, one in by_input(stage).items()}


def _collected(stage: Stage, name: str) -> Named[Aggregate]:
    """The rows of an input of a join, and their number."""
    one = stage.inputs[name]
    fields = ", ".join(f"'{column}', {expression.text}" for column, expression in one.columns.items())
    row = Expression.parse(f"named_struct({fields})" if fields else "named_struct('none', true)")
    return Named({rows_name(name): Collect(row), _number_name(name): Count()})


def cell_stage(stage: Stage) -> Stage:
    """The stage of the cells: of a join, one that collects."""
    if stage.join is None:
        return stage
    aggregates = {n: a for name in stage.inputs for n, a in _collected(stage, name).items()}
    having = None if stage.is_discarding or stage.is_mixed else _has_rows(stage)
    return replace(stage, inputs=Named(), join=None, aggregates=Named(aggregates), having=having)


def _has_rows(stage: Stage) -> Expression | None:
    """That there is a row to show; of a full join there always is one."""
    assert stage.join is not None
    left, right = stage.inputs
    sides = ((left, stage.join.keeps_right), (right, stage.join.keeps_left))
    needed = [name for name, may_lack in sides if not may_lack]
    return Expression.parse(" and ".join(f"{_number_name(name)} > 0" for name in needed)) if needed else None
