"""`<stage>_final`: the rows of windows that will not change, except by a backfill.

Rule: docs/names.md#final. A window may expire without a further pane, so `is_last` alone does not say it. The watermark
is that of the newest pane which `current` itself shows: the table `ticks` may be ahead of it.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.compile.names.trees import TICK, any_of, column, columns, named, over, text
from windrow.spec.pipelines.table_columns import current_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import SECOND

_ENDED, _KIND, _STREAMED = "_ended", "_kind", "_streamed"
_ROWS, _REACHED, _DRAINED = "shown", "reached", "drained"
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
        .join(_reached(current).subquery(_REACHED), join_type="cross")
        .join(_drained(ticks).subquery(_DRAINED), join_type="cross")
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


def _reached(current: exp.Table) -> exp.Select:
    """How far `current` is: the watermark and the tick of its newest pane."""
    newest = [named(exp.Max(this=column(name)), name) for name in ("watermark", TICK)]
    return exp.select(*newest).from_(current.copy())


def _drained(ticks: exp.Table) -> exp.Select:
    """The tick that has completed and ended all windows; null where there was none."""
    unknown, known = (exp.Is(this=column(name), expression=exp.Null()) for name in ("watermark", "watermark_before"))
    first = named(exp.Min(this=column(TICK)), TICK)
    return exp.select(first).from_(ticks.copy()).where(exp.And(this=unknown, expression=exp.Not(this=known)))


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
    """That the window had expired, and `current` shows what became of it. A lateness is taken up to whole seconds."""
    seconds = -(-stage.lateness_of_trigger // SECOND)
    watermark: exp.Expression = column("watermark", _REACHED)
    if seconds:
        length = exp.Interval(this=text(str(seconds)), unit=exp.var("SECOND"))
        watermark = exp.Sub(this=watermark, expression=length)
    expired = exp.LTE(this=column("window_end", _ROWS), expression=watermark)
    return any_of([expired, exp.GTE(this=column(TICK, _REACHED), expression=column(TICK, _DRAINED))])
