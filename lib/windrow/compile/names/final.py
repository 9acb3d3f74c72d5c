"""`<stage>_final`: the rows of windows that will not change, except by a backfill.

Rule: docs/names.md#final. A window may expire without a further pane, so `is_last` alone does not say it. The table
`ticks` may be ahead of `current`: it is read up to the tick whose panes `current` does not show yet.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.compile.names.trees import TICK, any_of, column, columns, named, number, over, text
from windrow.spec.pipelines.table_columns import current_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import SECOND

_ENDED, _KIND, _STREAMED = "_ended", "_kind", "_streamed"
_ROWS, _REACHED, _NEWEST, _MISSING = "shown", "reached", "newest", "missing"
_WATERMARK, _DRAINED = "watermark", "drained"
_OF_STREAM = ("stream", "follow")
"""The kinds of ticks of a stream: one may be made by somebody else who needed it."""
_FORGETTING = "forgetting"
"""The kind of a tick that makes windows once more, as a stream would where there is one."""


def final(stage: Stage, current: exp.Table, ticks: exp.Table) -> exp.Select:
    """The columns of `current`, of the rows that are final."""
    shown = current_columns(stage)
    conditions = [column(_ENDED, _ROWS), exp.And(this=_by_stream(), expression=exp.paren(_expired(stage)))]
    return (
        exp.select(*columns(shown, _ROWS))
        .from_(_with_ends(stage, current).subquery(_ROWS))
        .join(_kinds(ticks).subquery("kinds"), on=_same_tick(), join_type="left")
        .join(_reached(current, ticks).subquery(_REACHED), join_type="cross")
        .where(any_of(conditions))
    )


def _with_ends(stage: Stage, current: exp.Table) -> exp.Select:
    """The rows, with whether the last pane of their window is among them: where panes clear, there are several."""
    last: exp.Expression = column("is_last")
    if stage.is_discarding or stage.is_mixed:
        last = over(exp.LogicalOr(this=last), (*stage.keys, "window_start", "window_end"))
    return exp.select(*columns(current_columns(stage)), named(last, _ENDED)).from_(current)


def _kinds(ticks: exp.Table) -> exp.Select:
    """Of which kind each tick is, and which was the first tick of a stream."""
    of_stream = exp.Case().when(_is_of_stream(column("kind")), column(TICK))
    first = named(over(exp.Min(this=of_stream), ()), _STREAMED)
    return exp.select(named(column(TICK), TICK), named(column("kind"), _KIND), first).from_(ticks)


def _same_tick() -> exp.Expression:
    return exp.EQ(this=column(TICK, "kinds"), expression=column(TICK, _ROWS))


def _reached(current: exp.Table, ticks: exp.Table) -> exp.Select:
    """How far `current` is: the watermark of its newest tick, which may have shown nothing, and whether all ended."""
    is_shown = exp.LT(this=column(TICK, "every"), expression=column(TICK, _MISSING))
    no_more = exp.Is(this=column(TICK, _MISSING), expression=exp.Null())
    return (
        exp.select(
            named(exp.Max(this=column(_WATERMARK, "every")), _WATERMARK),
            named(exp.LogicalOr(this=column(_DRAINED, "every")), _DRAINED),
        )
        .from_(_as(ticks, "every"))
        .join(_missing(current, ticks).subquery(_MISSING), join_type="cross")
        .where(any_of([no_more, is_shown]))
    )


def _missing(current: exp.Table, ticks: exp.Table) -> exp.Select:
    """The first tick behind the newest in `current` that has shown or retracted a pane; null where there is none."""
    shows = exp.GT(
        this=exp.Add(this=column("panes", "later"), expression=column("retractions", "later")), expression=number(0)
    )
    is_later = exp.GT(this=column(TICK, "later"), expression=column(TICK, _NEWEST))
    return (
        exp.select(named(exp.Min(this=column(TICK, "later")), TICK))
        .from_(_as(ticks, "later"))
        .join(_newest(current, ticks).subquery(_NEWEST), join_type="cross")
        .where(exp.And(this=is_later, expression=shows))
    )


def _newest(current: exp.Table, ticks: exp.Table) -> exp.Select:
    """The newest tick that `current` has surely come to. A forgetting begins when it shows every tick before."""
    behind = exp.Case().when(column("kind").eq(text(_FORGETTING)), column(TICK) - number(1))
    shown = exp.select(named(exp.Max(this=column(TICK)), TICK)).from_(current.copy())
    before = exp.select(named(exp.Max(this=behind), TICK)).from_(ticks.copy())
    return exp.select(named(exp.Max(this=column(TICK)), TICK)).from_(
        exp.union(shown, before, distinct=False).subquery("both")
    )


def _as(table: exp.Table, name: str) -> exp.Expr:
    return exp.alias_(table.copy(), name, table=True, quoted=True)


def _by_stream() -> exp.Expression:
    """A window that a batch has shown early stays as it is until a batch publishes it."""
    forgot = column(_KIND, "kinds").eq(text(_FORGETTING))
    behind = exp.LT(this=column(_STREAMED, "kinds"), expression=column(TICK, "kinds"))
    return exp.paren(
        any_of([_is_of_stream(column(_KIND, "kinds")), exp.paren(exp.And(this=forgot, expression=behind))])
    )


def _is_of_stream(kind: exp.Column) -> exp.Condition:
    return kind.isin(*map(text, _OF_STREAM))


def _expired(stage: Stage) -> exp.Condition:
    """That the window had expired, and `current` shows what became of it.

    One that merges may have merged into a window that is still open and has shown nothing: how long that can be open is
    what the stage expects of its longest window, or not known.
    """
    drained = column(_DRAINED, _REACHED)
    expired = _is_behind("window_end", stage.lateness_of_trigger)
    within = stage.window.merges_within
    if within is None:
        return drained
    if not within:
        return any_of([expired, drained])
    merged = _is_behind("window_start", within + stage.lateness_of_trigger)
    return any_of([exp.paren(exp.And(this=expired, expression=merged)), drained])


def _is_behind(name: str, length: int) -> exp.Condition:
    """That a time of the window is that long behind the watermark. A length is taken up to whole seconds."""
    seconds = -(-length // SECOND)
    watermark: exp.Expression = column(_WATERMARK, _REACHED)
    if seconds:
        interval = exp.Interval(this=text(str(seconds)), unit=exp.var("SECOND"))
        watermark = exp.Sub(this=watermark, expression=interval)
    return exp.LTE(this=column(name, _ROWS), expression=watermark)
