"""Elements of several inputs in the cells of one stage. Rule: docs/semantics.md#several-inputs.

They are one relation, in which an element lacks the arguments of the other inputs' aggregates. Where elements are
aggregated each input is a group of its own first, so that its parts know nothing of the others' elements: null is the
part of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from windrow.compile.columns import INPUT, WEIGHT
from windrow.compile.sql.columns import Column, col, lit, null, when
from windrow.compile.stage import CompiledStage, part_name
from windrow.engine.frames import group, select, with_column
from windrow.spec.stages.inputs import ONLY


def united(elements: Mapping[str, DataFrame], types: Mapping[str, str] | None = None) -> DataFrame:
    """The elements of all inputs as one relation, in which each says of which it is; those of an only one, as they are.

    `types` are those of the columns that all together have; an input may have nothing in a tick.
    """
    if [*elements] == [ONLY]:
        return elements[ONLY]
    parts = [with_column(frame, INPUT, lit(name)) for name, frame in elements.items()]
    if any(WEIGHT in part.columns for part in parts) or WEIGHT in (types or {}):
        parts = [part if WEIGHT in part.columns else with_column(part, WEIGHT, lit(1)) for part in parts]
    whole = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
    for name, kind in (types or {}).items():
        if name not in whole.columns:
            whole = with_column(whole, name, null(kind))
    return whole


def grouped(
    stage: CompiledStage, frame: DataFrame, by: Sequence[str], also: Mapping[str, Column] | None = None
) -> DataFrame:
    """Elements aggregated by these columns: the parts of all aggregates, and `also`, which can be aggregated again."""
    more = dict(also or {})
    if ONLY in stage.inputs:
        return group(frame, by, {**more, **stage.partials})
    of_inputs = group(frame, (*by, INPUT), {**more, **stage.partials})
    kept = {name: col(name) for name in of_inputs.columns if name != INPUT}
    for part, name in _inputs_of_parts(stage).items():
        kept[part] = when(col(INPUT) == lit(name), col(part))
    return group(select(of_inputs, kept), by, {**more, **stage.merged})


def _inputs_of_parts(stage: CompiledStage) -> dict[str, str]:
    """The columns of the parts, and the input that each is of."""
    return {
        part_name(aggregate, part): name
        for name, one in stage.inputs.items()
        for aggregate in one.elements.stage.aggregates
        for part in stage.aggregates[aggregate].parts
    }
