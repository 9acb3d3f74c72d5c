"""What a stage reads of its elements: every expression over them, by the field that it stands in."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import nodes_of

PANE_COLUMNS = ("window_start", "window_end", "timing", "pane_index", "weight")
"""What a stage may read of every pane beside its keys and results. Rule: docs/semantics.md#stages-that-read-stages."""


def pane_columns(upstream: Stage) -> tuple[str, ...]:
    """The columns of the panes of a stage as elements of another."""
    return (*upstream.keys, *upstream.result_columns, *PANE_COLUMNS)


def expressions_read(stage: Stage) -> Iterator[tuple[str, Expression]]:
    """The expressions of a stage over its elements, with their places; `select` and `explode` first, in their order."""
    yield from ((f"select.{name}", expression) for name, expression in stage.select.items())
    yield from ((f"explode.{name}", expression) for name, expression in stage.explode.items())
    if stage.element_time is not None:
        yield "element_time.of", stage.element_time.of
    if stage.where is not None:
        yield "where", stage.where
    yield from ((f"keys.{name}", expression) for name, expression in stage.keys.items())
    yield from ((f"window.{stage.window.NAME}", expression) for expression in stage.window.expressions.values())
    for name, aggregate in stage.aggregates.items():
        yield from ((f"aggregates.{name}", expression) for expression in aggregate.expressions)
    for node in nodes_of(stage.trigger):
        for aggregate in node.aggregates.values():
            yield from ((f"trigger.{node.NAME}", expression) for expression in aggregate.expressions)


def check_columns_read(stage: Stage, columns: Iterable[str]) -> None:
    """Refuse an expression over what is no column of the stage's elements, and a new column of a name that is taken."""
    known = {column.lower(): column for column in columns}
    for place, expression in expressions_read(stage):
        for column in expression.columns:
            if column.lower() not in known:
                raise SpecError(place, "is not a column here", column, _hint(column, list(known.values())))
        kind, _, name = place.partition(".")
        if kind in ("select", "explode"):
            if name.lower() in known:
                raise SpecError(place, "is already a column", name)
            known[name.lower()] = name


def _hint(column: str, known: list[str]) -> str:
    near = difflib.get_close_matches(column, known, n=1)
    return f"did you mean {near[0]}?" if near else f"the columns are {', '.join(known)}"


def columns_derived_from(stage: Stage, names: Iterable[str]) -> set[str]:
    """Those columns in lower case, and all that `select` and `explode` make of them, also by way of others."""
    found = {name.lower() for name in names}
    for name, expression in (*stage.select.items(), *stage.explode.items()):
        if reads_one_of(expression, found):
            found.add(name.lower())
    return found


def reads_one_of(expression: Expression, names: set[str]) -> bool:
    """Whether an expression reads one of the columns, given in lower case."""
    return any(column.lower() in names for column in expression.columns)
