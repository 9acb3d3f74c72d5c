"""Which panes clear the aggregates of their window. Rule: docs/semantics.md#accumulation-and-changes."""

from __future__ import annotations

from windrow.compile.sql.columns import Column, array, call, col, lit, when
from windrow.compile.triggers.tree import TriggerTree
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.triggers.all import Then


def clearing(stage: Stage, tree: TriggerTree) -> Column:
    """Whether the pane of a cell, if one is emitted, clears the aggregates: by the mode, or by the path that fired.

    A path ends at one leaf, so what the innermost node on it asks for is known for each leaf. A last pane that no
    trigger asked for has no path. The cell needs `ready` and the leaf of the root.
    """
    if not stage.is_mixed:
        return lit(stage.is_discarding)
    by_default = stage.accumulation is Accumulation.CLEAR_BY_DEFAULT
    clears = [by_default if then is None else then is Then.CLEAR for then in tree.thens]
    by_leaf = call("element_at", array(*clears), tree.root.col("leaf") + 1)
    return when(col("ready"), by_leaf, by_default)
