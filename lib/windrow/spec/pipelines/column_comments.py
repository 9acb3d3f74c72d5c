"""What the columns of a stage's results hold, and whether they add up: the comments that a BI tool shows.

Rule: docs/names.md#what-adds-up. The words additive, semi-additive and non-additive are those of dimensional modelling
(R. Kimball): a measure that sums over all dimensions, over some of them, over none.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from windrow.spec.aggregates import Aggregate
from windrow.spec.expressions.plain import plain
from windrow.spec.pipelines.table_columns import COMMENTS, current_columns, pane_columns
from windrow.spec.stages.stage import Stage

LONGEST = 255
"""Letters of a comment: a Hive metastore has room for so many."""
ROW = "number of the row within its pane, from 0"


class Additivity(StrEnum):
    """Over what a naive sum of a result is right: keys and windows, keys only, neither."""

    ADDITIVE = "additive"
    SEMI_ADDITIVE = "semi-additive"
    NON_ADDITIVE = "non-additive"


def additivity(stage: Stage, name: str) -> Additivity:
    """Of a column of results of a stage, in `current`."""
    aggregate = stage.aggregates.get(name)
    if stage.join is not None or aggregate is None or aggregate.COMBINED_BY != "sum":
        return Additivity.NON_ADDITIVE
    return Additivity.ADDITIVE if stage.window.overlap is None else Additivity.SEMI_ADDITIVE


def comments_of_current(stage: Stage) -> dict[str, str]:
    """A comment for every column of `current`, by its name."""
    known = {**COMMENTS, "row": ROW, **_of_keys(stage), **_of_results(stage)}
    return {name: shortened(known[name]) for name in current_columns(stage)}


def comments_of_panes(stage: Stage) -> dict[str, str]:
    """The same of `panes`, whose rows are changes: what stood is found with their weights, or by `<stage>_asof`."""
    known = {**COMMENTS, **comments_of_current(stage)}
    known |= {name: shortened(f"{_of_pane(stage)}; {known[name]}") for name in stage.result_columns}
    return {name: known[name] for name in pane_columns(stage)}


def shortened(text: str) -> str:
    """A comment that any catalog can keep."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _of_keys(stage: Stage) -> dict[str, str]:
    return {name: "key" if plain(of) == name else f"key: {plain(of)}" for name, of in stage.keys.items()}


def _of_results(stage: Stage) -> Mapping[str, str]:
    if stage.join is not None:
        repeated = "a column of the row of one input; it is repeated for each row of the other that it is joined with"
        return {name: repeated for name in stage.aggregates}
    words = {
        name: f"{aggregate.words()}; {_adds(stage, name, aggregate)}" for name, aggregate in stage.aggregates.items()
    }
    derived = "non-additive: compute it again from what it is made of"
    return {**words, **{name: f"{plain(of)}; {derived}" for name, of in stage.derive.items()}}


def _adds(stage: Stage, name: str, aggregate: Aggregate) -> str:
    """How a column adds up over rows, in words."""
    kind = additivity(stage, name)
    if kind is Additivity.ADDITIVE:
        return f"{kind}: sum it over keys and windows"
    if kind is Additivity.SEMI_ADDITIVE:
        return f"{kind}: sum it over keys, not over windows, as {stage.window.overlap}"
    if aggregate.COMBINED_BY is not None:
        return f"{kind}: over several rows take {aggregate.COMBINED_BY} of it, not the sum"
    return f"{kind}: {aggregate.NOT_COMBINED}"


def _of_pane(stage: Stage) -> str:
    """What has to be done with the rows of `panes` before they are summed."""
    if stage.is_retracting or stage.is_discarding:
        return "times weight"
    return "of one pane, which a later one may replace"
