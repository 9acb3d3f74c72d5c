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


def united(stage: CompiledStage, elements: Mapping[str, DataFrame]) -> DataFrame:
    """The elements of all inputs as one relation, with the columns of those inputs too that have none in a tick."""
    weights = {name: one.elements.weight is not None for name, one in stage.inputs.items()}
    whole = as_one(elements, weights)
    for name, kind in stage.lacking(elements).items():
        whole = with_column(whole, name, null(kind))
    return whole


def as_one(elements: Mapping[str, DataFrame], have_weights: Mapping[str, bool]) -> DataFrame:
    """Elements as one relation, in which each says of which input it is; of an only one, as they are.

    `have_weights` says which of all inputs have weighted elements: beside them, those of the others weigh 1.
    """
    if [*elements] == [ONLY]:
        return elements[ONLY]
    parts = {name: with_column(frame, INPUT, lit(name)) for name, frame in elements.items()}
    if any(have_weights.values()):
        parts = {n: part if have_weights[n] else with_column(part, WEIGHT, lit(1)) for n, part in parts.items()}
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts.values())


def grouped(
    stage: CompiledStage,
    frame: DataFrame,
    by: Sequence[str],
    also: Mapping[str, Column] | None = None,
    to_join: bool = False,
) -> DataFrame:
    """Elements aggregated by these columns: the parts of all aggregates, and `also`, which can be aggregated again."""
    more = dict(also or {})
    if ONLY in stage.inputs:
        return group(frame, by, {**more, **stage.partials}, to_join)
    of_inputs = group(frame, (*by, INPUT), {**more, **stage.partials})
    kept = {name: col(name) for name in of_inputs.columns if name != INPUT}
    for part, name in _inputs_of_parts(stage).items():
        kept[part] = when(col(INPUT) == lit(name), col(part))
    return group(select(of_inputs, kept), by, {**more, **stage.merged_parts}, to_join)


def _inputs_of_parts(stage: CompiledStage) -> dict[str, str]:
    """The columns of the parts, and the input that each is of."""
    return {
        part_name(aggregate, part): name
        for name, one in stage.inputs.items()
        for aggregate in one.elements.stage.aggregates
        for part in stage.aggregates[aggregate].parts
    }
