"""`<stage>_combined`: one row for each key and window of a stage whose panes add up.

Rule: docs/names.md#combined. Only what combines is there: sums, counts, extremes and conditions.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.compile.names.trees import COMBINING, TICK, column, columns, named
from windrow.spec.stages.stage import Stage


def has_combined(stage: Stage) -> bool:
    """Whether a window may have several rows in `current` that are parts of one result."""
    return stage.join is None and (stage.is_discarding or stage.is_mixed)


def combining(stage: Stage) -> Mapping[str, str]:
    """The results that can be combined, with the aggregate that does it."""
    found = {name: aggregate.COMBINED_BY for name, aggregate in stage.aggregates.items()}
    return {name: by for name, by in found.items() if by is not None}


def combined_columns(stage: Stage) -> list[str]:
    """The columns of the view, in order."""
    return [*stage.keys, "window_start", "window_end", *combining(stage), "is_last", TICK]


def combined(stage: Stage, current: exp.Table) -> exp.Select:
    """The rows of `current` of each window as one."""
    by = {**combining(stage), "is_last": "bool_or", TICK: "max"}
    group = (*stage.keys, "window_start", "window_end")
    made = [named(COMBINING[function](this=column(name)), name) for name, function in by.items()]
    return exp.select(*columns(group), *made).from_(current).group_by(*columns(group))
