"""Conditions over results: the aggregates, keys and derived columns of a cell or pane.

Rules: docs/semantics.md#triggers, docs/semantics.md#where-every-row-is.

Triggers look at the results of a cell before they are evaluated; `having` looks at those of a pane before it is shown.
A condition that is null, or fails, does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.compile.columns import KEY
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, coalesce, col
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Stage

PASSES = "passes"

TOLERANCE = 1e-9
"""How far floating-point results of the same rows may be apart, relative to the larger one: their order is free."""


def result_column(name: str) -> str:
    """The column of a result, or of a key, that a condition reads."""
    return f"w_{name}"


def over_results(stage: Stage, expression: Expression) -> Column:
    """An expression over results and keys, null where it fails."""
    names = (*stage.result_columns, *stage.keys)
    return Column(expression.rename({name: result_column(name) for name in names}).value_sql)


def with_passes(stage: Stage, rows: Chain) -> Chain:
    """Rows with `key` and `v_` columns, and whether `having` holds: `passes`; unchanged where there is no `having`."""
    if stage.having is None:
        return rows
    values = {name: col(f"v_{name}") for name in stage.aggregates}
    return with_conditions(stage, {PASSES: stage.having}, values, rows).only((*rows.names, PASSES))


def with_conditions(
    stage: Stage, conditions: Mapping[str, Expression], values: Mapping[str, Column], rows: Chain
) -> Chain:
    """Rows with `key`, and a column for each condition that says whether it holds. `values` are the aggregates'."""
    if not conditions:
        return rows
    direct = _read(conditions.values())
    derived = {name: e for name, e in stage.derive.items() if name.lower() in direct}
    needed = direct | _read(derived.values())
    results = {**values, **{name: col(KEY, name) for name in stage.keys}}
    rows = rows.with_columns({result_column(n): value for n, value in results.items() if n.lower() in needed})
    rows = rows.with_columns({result_column(n): over_results(stage, e) for n, e in derived.items()})
    return rows.with_columns({name: coalesce(over_results(stage, c), False) for name, c in conditions.items()})


def _read(expressions: Iterable[Expression]) -> set[str]:
    """The columns that these read, in lower case."""
    return {column.lower() for expression in expressions for column in expression.columns}
