"""Which panes a stage shows: `having` over the values, keys and derived columns of a pane. Rule: SEMANTICS section 10.

A condition that is null, or fails, does not hold.
"""

from __future__ import annotations

from windrow.compile.chain import Chain
from windrow.compile.columns import KEY
from windrow.compile.sql import Column, coalesce, col
from windrow.spec.expressions import Expression
from windrow.spec.stages import Stage

PASSES = "passes"


def with_passes(stage: Stage, rows: Chain) -> Chain:
    """Rows with `key` and `v_` columns, and the column `passes`; unchanged where the stage has no condition."""
    if stage.having is None:
        return rows
    return with_condition(stage, stage.having, rows).with_columns({PASSES: coalesce(col(PASSES), False)})


def with_condition(stage: Stage, condition: Expression, rows: Chain) -> Chain:
    """The same, with the value of a condition over a pane as it is."""
    derived = {name: expression.rename(_values(stage)) for name, expression in stage.derive.items()}
    renamed = condition.rename({**_values(stage), **{name: _derived(name) for name in derived}})
    keyed = rows.with_columns({_key(name): col(KEY, name) for name in stage.keys})
    computed = keyed.with_columns({_derived(name): Column(e.value_sql) for name, e in derived.items()})
    return computed.with_columns({PASSES: Column(renamed.value_sql)}).only((*rows.names, PASSES))


def _values(stage: Stage) -> dict[str, str]:
    return {**{name: _key(name) for name in stage.keys}, **{name: f"v_{name}" for name in stage.aggregates}}


def _key(name: str) -> str:
    return f"k_{name}"


def _derived(name: str) -> str:
    return f"d_{name}"
