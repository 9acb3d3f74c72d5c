"""A stage that reads a stage: what would give a wrong result, and so is refused.

Rule: docs/semantics.md#stages-that-read-stages.

Every refusal has its fix.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.spec.expressions import Expression
from windrow.spec.stages.reads import (
    check_columns_read,
    columns_derived_from,
    expressions_read,
    pane_columns,
    reads_one_of,
)
from windrow.spec.stages.refusals import Each, Refusal, Rule, refuse
from windrow.spec.stages.stage import PaneTime, Stage
from windrow.spec.stages.weights import UNDOING, Undoing
from windrow.spec.times import format_duration
from windrow.spec.triggers.all import DEFAULT_TRIGGER
from windrow.spec.triggers.firings import fires_once
from windrow.spec.windows.base import WindowFunction


def emits_retractions(stage: Stage) -> bool:
    """Whether rows of weight -1 may come out of a stage that another one may read."""
    return stage.is_retracting and not fires_once(stage)


def reads_retractions(stage: Stage, upstream: Stage) -> bool:
    """Whether rows of weight -1 may come into a stage from another: it reads that one, and that one emits them."""
    return stage.from_ in (None, upstream.name) and emits_retractions(upstream)


@dataclass(frozen=True)
class Reading:
    """A stage and one that it reads; `windows` made the windows of that one's panes, which it may have inherited."""

    stage: Stage
    upstream: Stage
    windows: WindowFunction

    @property
    def inherits(self) -> bool:
        """Whether the stage takes the windows of the panes."""
        return self.stage.window.FOLLOWS_PANES

    @property
    def longest_session(self) -> int | None:
        """The longest window that there can be where windows merge; None where that is not known."""
        return self.upstream.window.expected_length

    @property
    def needed_lateness(self) -> int:
        """How long after its end a retraction may come for a window, by what the stage that is read promises."""
        return self.upstream.allowed_lateness + ((self.longest_session or 0) if self.upstream.window.MERGES else 0)

    @property
    def expressions(self) -> list[ReadExpression]:
        """The expressions of the stage over the panes."""
        by_firing = columns_derived_from(self.stage, ("timing", "pane_index"))
        by_weight = columns_derived_from(self.stage, ("weight",))
        return [
            ReadExpression(place, one, self.upstream.name, reads_one_of(one, by_firing), reads_one_of(one, by_weight))
            for place, one in expressions_read(self.stage)
        ]


@dataclass(frozen=True)
class ReadExpression:
    """An expression of a stage over the panes of another, and whether it reads what is no result of a pane."""

    place: str
    expression: Expression
    upstream: str
    reads_firing: bool
    """Its timing or index, which differ from firing to firing."""
    reads_weight: bool

    @property
    def is_of_key(self) -> bool:
        """Whether it decides in which results an element is."""
        return self.place.startswith(("keys.", "where"))


def _is_counted_once(upstream: Stage) -> bool:
    """Whether a pane that holds again what an earlier one held retracts it, if there can be such a pane."""
    retracts = upstream.is_retracting and not upstream.is_mixed
    return fires_once(upstream) or upstream.is_discarding or retracts


def _has_event_time(upstream: Stage) -> bool:
    """Whether the panes of a global window, which has no end to take it from, have an event time that stays."""
    return fires_once(upstream) and upstream.event_time is not PaneTime.END_OF_WINDOW


# ---------------------------------------------------------------- the lists

OVER_A_SOURCE: tuple[Rule[Stage], ...] = (
    Refusal(
        "window",
        applies=lambda stage: stage.window.FOLLOWS_PANES,
        rule="is for a stage that reads a stage: the elements of a source have no windows",
        got=lambda stage: stage.window.NAME,
        hint="for instance {fixed: {size: 1h}}, or from: a stage",
    ),
)

PANES: tuple[Rule[Reading], ...] = (
    Refusal(
        "from",
        applies=lambda one: not _is_counted_once(one.upstream),
        rule=(
            "reads a stage whose panes accumulate and that can fire more than once: its elements would be counted twice"
        ),
        got=lambda one: one.upstream.name,
        hint=lambda one: (
            f"give {one.upstream.name} accumulation: retracting or discarding,"
            " or a trigger that fires once, as at_close"
        ),
    ),
    Refusal(
        "from",
        applies=lambda one: one.upstream.event_time is not PaneTime.END_OF_WINDOW and not fires_once(one.upstream),
        rule=lambda one: (
            f"reads a stage with event_time: {one.upstream.event_time} that can fire more than once:"
            " a retraction and what replaces it could fall in two windows"
        ),
        got=lambda one: one.upstream.name,
        hint=lambda one: (
            f"give {one.upstream.name} event_time: end_of_window, or a trigger that fires once, as at_close"
        ),
    ),
    Refusal(
        "window",
        applies=lambda one: one.windows.IS_GLOBAL and not one.inherits and not _has_event_time(one.upstream),
        rule="cannot be assigned: the panes of a global window have no event time",
        got=lambda one: one.stage.window.NAME,
        hint=lambda one: (
            f"{{inherited: {{}}}}; or {one.upstream.name} fires once and has event_time: latest or earliest"
        ),
    ),
)
"""What makes panes no elements."""

EXPRESSIONS: tuple[Rule[ReadExpression], ...] = (
    Refusal(
        lambda one: one.place,
        applies=lambda one: one.is_of_key and one.reads_firing,
        rule=lambda one: (
            f"must not use timing or pane_index of {one.upstream}, which retracts: results would depend on them"
        ),
        got=lambda one: one.expression.text,
        hint="the keys and results of the panes",
    ),
    Refusal(
        lambda one: one.place,
        applies=lambda one: (one.is_of_key or one.place.startswith("aggregates.")) and one.reads_weight,
        rule=lambda one: f"must not use the weight of {one.upstream}: a retraction would not meet what it takes back",
        got=lambda one: one.expression.text,
        hint="leave it out: rows of weight -1 are taken back by themselves",
    ),
)
"""What a retraction would not be taken back from: what differs from firing to firing decides over no element."""

RETRACTIONS: tuple[Rule[Reading], ...] = (
    Refusal(
        "window",
        applies=lambda one: one.stage.window.MERGES or one.stage.window.MADE_BY_RECORDS,
        rule=lambda one: (
            f"does not go with the retractions of {one.upstream.name}: to take back an element may split the window"
        ),
        got=lambda one: one.stage.window.NAME,
        hint=lambda one: (
            f"windows that do not depend on the elements, or a trigger of {one.upstream.name} that fires once"
        ),
    ),
    Refusal(
        "from",
        applies=lambda one: one.upstream.window.MERGES and one.longest_session is None,
        rule=lambda one: (
            f"reads the retractions of merging windows ({one.upstream.window.NAME}) whose longest is not known"
        ),
        got=lambda one: one.upstream.name,
        hint=lambda one: (
            f"give the sessions of {one.upstream.name} a max_session, or {one.upstream.name} a trigger that fires once"
        ),
    ),
    Refusal(
        "allowed_lateness",
        applies=lambda one: one.stage.allowed_lateness < one.needed_lateness,
        rule=lambda one: f"must be at least {_lateness(one)}: a retraction would be late where what replaces it is not",
        got=lambda one: format_duration(one.stage.allowed_lateness),
        hint=lambda one: f"allowed_lateness: {format_duration(one.needed_lateness)}",
    ),
    Each(lambda one: Undoing.all_of(one.stage, f"the retractions of {one.upstream.name}"), UNDOING),
    Each(lambda one: one.expressions, EXPRESSIONS),
)
"""What a stage cannot make of elements that are taken back."""

FIRINGS: tuple[Rule[Reading], ...] = (
    Refusal(
        "trigger",
        applies=lambda one: one.windows.IS_GLOBAL and one.inherits and one.stage.trigger == DEFAULT_TRIGGER,
        rule="must not be the default one over a global window, which never completes in a stream",
        got=lambda one: "default",
        hint="for instance {repeat: {after_count: 100}}",
    ),
    Refusal(
        "accumulation",
        applies=lambda one: emits_retractions(one.upstream) and (one.stage.is_discarding or one.stage.is_mixed),
        rule=lambda one: (
            f"does not go with the retractions of {one.upstream.name}: what was shown and cleared cannot be taken back"
        ),
        got=lambda one: str(one.stage.accumulation),
        hint="accumulating or retracting",
    ),
)
"""When a stage fires and what becomes of what it has shown: of a stage of several inputs this is for all of them."""


def _lateness(one: Reading) -> str:
    of_upstream = f"the {format_duration(one.upstream.allowed_lateness)} of {one.upstream.name}"
    if not one.upstream.window.MERGES or one.longest_session is None:
        return of_upstream
    return f"{of_upstream} and its max_session of {format_duration(one.longest_session)}"


# ---------------------------------------------------------------- the checks


def check_reads_a_source(stage: Stage) -> None:
    """Refuse a stage over a source that wants the windows of panes. Errors: SpecError."""
    refuse(OVER_A_SOURCE, stage)


def check_elements(stage: Stage, upstream: Stage, windows: WindowFunction | None = None) -> None:
    """Refuse what a stage makes of the panes of another, one by one: all but when it fires. Errors: SpecError.

    `windows` made the windows of the upstream's panes, where it has inherited them itself.
    """
    reading = Reading(stage, upstream, windows or upstream.window)
    refuse(PANES, reading)
    check_columns_read(stage, pane_columns(upstream))
    if emits_retractions(upstream):
        refuse(RETRACTIONS, reading)


def check_firings(stage: Stage, upstream: Stage, windows: WindowFunction | None = None) -> None:
    """Refuse the trigger and the accumulation of a stage that do not go with one that it reads. Errors: SpecError."""
    refuse(FIRINGS, Reading(stage, upstream, windows or upstream.window))
