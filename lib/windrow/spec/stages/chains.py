"""A stage that reads a stage: what would give a wrong result, and so is refused.

Rule: docs/semantics.md#stages-that-read-stages.

Every refusal has its fix.
"""

from __future__ import annotations

from windrow.spec.errors import SpecError
from windrow.spec.stages.reads import (
    check_columns_read,
    columns_derived_from,
    expressions_read,
    pane_columns,
    reads_one_of,
)
from windrow.spec.stages.stage import PaneTime, Stage
from windrow.spec.times import format_duration
from windrow.spec.triggers.all import DEFAULT_TRIGGER
from windrow.spec.triggers.firings import fires_once
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.inherited import InheritedWindows


def emits_retractions(stage: Stage) -> bool:
    """Whether rows of weight -1 may come out of a stage that another one may read."""
    return stage.is_retracting and not fires_once(stage)


def reads_retractions(stage: Stage, upstream: Stage) -> bool:
    """Whether rows of weight -1 may come into a stage from another: it reads that one, and that one emits them."""
    return stage.from_ in (None, upstream.name) and emits_retractions(upstream)


def check_reads_a_source(stage: Stage) -> None:
    """Refuse a stage over a source that wants the windows of panes. Errors: SpecError."""
    if isinstance(stage.window, InheritedWindows):
        rule = "is for a stage that reads a stage: the elements of a source have no windows"
        raise SpecError("window", rule, stage.window.NAME, "for instance {fixed: {size: 1h}}, or from: a stage")


def check_elements(stage: Stage, upstream: Stage, windows: WindowFunction | None = None) -> None:
    """Refuse what a stage makes of the panes of another, one by one: all but when it fires. Errors: SpecError.

    `windows` made the windows of the upstream's panes, where it has inherited them itself.
    """
    _check_counted_once(upstream)
    _check_event_time(upstream)
    if (windows or upstream.window).IS_GLOBAL:
        _check_over_all_of_time(stage, upstream)
    check_columns_read(stage, pane_columns(upstream))
    if emits_retractions(upstream):
        _check_window(stage, upstream)
        _check_lateness(stage, upstream)
        _check_aggregates(stage, upstream)
        _check_grouping(stage, upstream)


def check_firings(stage: Stage, upstream: Stage, windows: WindowFunction | None = None) -> None:
    """Refuse the trigger and the accumulation of a stage that do not go with one that it reads. Errors: SpecError."""
    is_global = (windows or upstream.window).IS_GLOBAL and isinstance(stage.window, InheritedWindows)
    if is_global and stage.trigger == DEFAULT_TRIGGER:
        rule = "must not be the default one over a global window, which never completes in a stream"
        raise SpecError("trigger", rule, "default", "for instance {repeat: {after_count: 100}}")
    if emits_retractions(upstream) and (stage.is_discarding or stage.is_mixed):
        rule = f"does not go with the retractions of {upstream.name}: what was shown and cleared cannot be taken back"
        raise SpecError("accumulation", rule, str(stage.accumulation), "accumulating or retracting")


def _check_counted_once(upstream: Stage) -> None:
    """A pane that holds again what an earlier one held must withdraw it."""
    if fires_once(upstream) or upstream.is_discarding or (upstream.is_retracting and not upstream.is_mixed):
        return
    rule = "reads a stage whose panes accumulate and that can fire more than once: its elements would be counted twice"
    hint = f"give {upstream.name} accumulation: retracting or discarding, or a trigger that fires once, as at_close"
    raise SpecError("from", rule, upstream.name, hint)


def _check_event_time(upstream: Stage) -> None:
    """A withdrawal and what replaces it must fall in one window."""
    if upstream.event_time is PaneTime.END_OF_WINDOW or fires_once(upstream):
        return
    rule = (
        f"reads a stage with event_time: {upstream.event_time} that can fire more than once:"
        " a withdrawal and what replaces it could fall in two windows"
    )
    hint = f"give {upstream.name} event_time: end_of_window, or a trigger that fires once, as at_close"
    raise SpecError("from", rule, upstream.name, hint)


def _check_over_all_of_time(stage: Stage, upstream: Stage) -> None:
    """The panes of a global window have no end to take their event time from."""
    has_time = fires_once(upstream) and upstream.event_time is not PaneTime.END_OF_WINDOW
    if has_time or isinstance(stage.window, InheritedWindows):
        return
    rule = "cannot be assigned: the panes of a global window have no event time"
    hint = f"{{inherited: {{}}}}; or {upstream.name} fires once and has event_time: latest or earliest"
    raise SpecError("window", rule, stage.window.NAME, hint)


# ---------------------------------------------------------------- retractions


def _check_window(stage: Stage, upstream: Stage) -> None:
    if not stage.window.MERGES and not stage.window.MADE_BY_RECORDS:
        return
    rule = f"does not go with the retractions of {upstream.name}: to take back an element may split the window"
    hint = f"windows that do not depend on the elements, or a trigger of {upstream.name} that fires once"
    raise SpecError("window", rule, stage.window.NAME, hint)


def _check_lateness(stage: Stage, upstream: Stage) -> None:
    """Withdrawals must not be late where what replaces them is not."""
    needed, because = upstream.allowed_lateness, f"the {format_duration(upstream.allowed_lateness)} of {upstream.name}"
    if upstream.window.MERGES:
        longest = getattr(upstream.window, "max_session", None)
        if longest is None:
            rule = f"reads the retractions of merging windows ({upstream.window.NAME}) whose longest is not known"
            hint = f"give the sessions of {upstream.name} a max_session, or {upstream.name} a trigger that fires once"
            raise SpecError("from", rule, upstream.name, hint)
        needed, because = needed + longest, f"{because} and its max_session of {format_duration(longest)}"
    if stage.allowed_lateness >= needed:
        return
    rule = f"must be at least {because}: a withdrawal would be late where what replaces it is not"
    got = format_duration(stage.allowed_lateness)
    raise SpecError("allowed_lateness", rule, got, f"allowed_lateness: {format_duration(needed)}")


def _check_aggregates(stage: Stage, upstream: Stage) -> None:
    for name, aggregate in stage.aggregates.items():
        if not aggregate.CAN_BE_UNDONE:
            why = (
                "a sketch cannot give back what it was given" if aggregate.IS_SKETCH else "its parts have no uncombine"
            )
            rule = f"does not go with the retractions of {upstream.name}: {why}"
            raise SpecError(f"aggregates.{name}", rule, aggregate.NAME, _EXACT.get(aggregate.NAME))


def _check_grouping(stage: Stage, upstream: Stage) -> None:
    """What differs from firing to firing decides over no element, and a weight over none of its values."""
    by_firing = columns_derived_from(stage, ("timing", "pane_index"))
    by_weight = columns_derived_from(stage, ("weight",))
    for place, expression in expressions_read(stage):
        if place.startswith(("keys.", "where")) and reads_one_of(expression, by_firing):
            rule = f"must not use timing or pane_index of {upstream.name}, which retracts: results would depend on them"
            raise SpecError(place, rule, expression.text, "the keys and results of the panes")
        if place.startswith(("keys.", "where", "aggregates.")) and reads_one_of(expression, by_weight):
            rule = f"must not use the weight of {upstream.name}: a withdrawal would not meet what it takes back"
            raise SpecError(
                place, rule, expression.text, "leave it out: rows of weight -1 are taken back by themselves"
            )


_EXACT = {"approx_count_distinct": "count_distinct", "quantiles": "histogram", "approx_top": "collect"}
