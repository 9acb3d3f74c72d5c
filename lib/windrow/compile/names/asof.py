"""`<stage>_asof`: each row that `current` has had, with the ticks and times from when until when it stood.

Rule: docs/names.md#as-it-stood. The newest change of a row at or before a tick says what stood then, which is the rule
by which `current` itself is made (`windrow.store.projections.current`).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.compile.names.trees import TICK, column, columns, instant, named, number, over, text
from windrow.compile.panes.panes import RETRACTED
from windrow.spec.pipelines.table_columns import current_columns
from windrow.spec.stages.stage import Stage

UNTIL_TICK, FROM, UNTIL = "valid_to_tick", "valid_from", "valid_to"
VALIDITY: Mapping[str, str] = {
    UNTIL_TICK: "the tick that replaced or retracted the row, excluded; 9223372036854775807 while it stands",
    FROM: "processing time from which the row stood",
    UNTIL: "processing time until which the row stood, excluded; 9999-12-31 while it stands",
}
"""The columns behind those of `current`; the row stands from its own `tick` on."""
STANDS = 2**63 - 1
_EVER, _FOR_EVER = "1900-01-01 00:00:00", "9999-12-31 00:00:00"
_CHANGE, _WEIGHT, _INDEX, _PRODUCED_AT = "change", "weight", "pane_index", "produced_at"
_NEXT_TICK, _NEXT_TIME = "_next_tick", "_next_time"


def as_of(stage: Stage, panes: exp.Table) -> exp.Select:
    """The columns of `current`, and `VALIDITY`."""
    shown = current_columns(stage)
    following = {_NEXT_TICK: TICK, _NEXT_TIME: _PRODUCED_AT}
    identity = (*stage.keys, "window_start", "window_end", *stage.row_identity)
    order = (TICK, _INDEX, _WEIGHT) if stage.row_identity else (TICK, _WEIGHT)
    leads = [named(over(exp.Lead(this=column(of)), identity, order), name) for name, of in following.items()]
    ordered = exp.select(*columns((*shown, _CHANGE)), *leads).from_(_changes(stage, panes).subquery("changes"))
    return (
        exp.select(*columns(shown), *_validity())
        .from_(ordered.subquery("ordered"))
        .where(exp.Not(this=column(_CHANGE).isin(*map(text, RETRACTED))))
    )


def _validity() -> list[exp.Alias]:
    stands = exp.Is(this=column(_NEXT_TICK), expression=exp.Null())
    until = exp.case().when(stands, instant(_FOR_EVER)).else_(_time(_NEXT_TIME))
    return [
        named(exp.Coalesce(this=column(_NEXT_TICK), expressions=[number(STANDS)]), UNTIL_TICK),
        named(_time(_PRODUCED_AT), FROM),
        named(until, UNTIL),
    ]


def _time(name: str) -> exp.Expression:
    return exp.Coalesce(this=column(name), expressions=[instant(_EVER)])


def _changes(stage: Stage, panes: exp.Table) -> exp.Query:
    """What the ticks have done to the rows of `current`, each with what identifies the row."""
    names = (*current_columns(stage), _CHANGE, _WEIGHT)
    changes = exp.select(*columns(names)).from_(panes)
    if not stage.row_identity:  # what replaces a pane says enough
        return changes.where(exp.NEQ(this=column(_CHANGE), expression=text(RETRACTED[0])))
    return exp.union(changes, _replaced(names, panes), distinct=False) if stage.is_mixed else changes


def _replaced(names: tuple[str, ...], panes: exp.Table) -> exp.Select:
    """For each pane that replaces one, the end of that: it is the one before, and need not be retracted."""
    before = exp.Cast(this=exp.Sub(this=column(_INDEX), expression=number(1)), to=exp.DataType.build("int"))
    ends = {_CHANGE: text(RETRACTED[0]), _INDEX: before}
    made = [named(ends[name], name) if name in ends else column(name) for name in names]
    replacing = exp.EQ(this=column(_CHANGE), expression=text("update_postimage"))
    return exp.select(*made).from_(panes.copy()).where(replacing)
