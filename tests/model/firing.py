"""What a cell emits in a tick: at most one pane, behind retractions of what it replaces.

Rules: docs/semantics.md#panes, docs/semantics.md#accumulation-and-changes, docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.clock import Clock
from tests.model.expressions import EvaluationFailed, evaluate
from tests.model.panes import DELETE, EARLY, INSERT, LATE, ON_TIME, UPDATE_POSTIMAGE, UPDATE_PREIMAGE, Pane
from tests.model.trigger_leaves import Moment
from tests.model.typed_stage import TypedStage
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Accumulation, Emission, Stage
from windrow.spec.triggers.all import Then, Trigger

EXPIRY = "expiry"


def evaluate_cell(
    typed: TypedStage, key: tuple[Any, ...], window: Window, cell: Cell, clock: Clock, moment: Moment
) -> list[Pane]:
    """Ask the trigger of an open cell, once; fire if it is ready or the cell expires. The panes, in their order."""
    moment = replace(moment, new=cell.new, holds=lambda condition: _holds(typed, key, cell, condition))
    cell.trigger.on_evaluated(moment)
    is_ready = cell.trigger.ready(moment)
    path = cell.trigger.fired_path(moment) if is_ready else []
    if is_ready:
        cell.trigger.on_fire(moment)
        cell.is_closed = cell.trigger.finished
    if not is_ready and not moment.is_expired:
        return []
    if not _is_worth_a_pane(typed, cell, moment):
        return []
    return [*_superseded(cell, clock), *_emit(typed, key, window, cell, clock, moment, path)]


def _superseded(cell: Cell, clock: Clock) -> list[Pane]:
    """The retractions of what was shown of the windows that were merged into this one: once, at its first firing."""
    retracted = [pane.retracted(DELETE, clock) for pane in cell.superseded]
    cell.superseded = []
    return retracted


def _holds(typed: TypedStage, key: tuple[Any, ...], cell: Cell, condition: Expression) -> bool:
    """Whether a condition holds over the results of the cell as they are now; one that fails does not."""
    results = {**dict(zip(typed.stage.keys, key, strict=True)), **cell.aggregates(typed)}
    try:
        return evaluate(condition, {**results, **derived(typed, results)}, typed.pane_types) is True
    except EvaluationFailed:
        return False


def _emit(
    typed: TypedStage,
    key: tuple[Any, ...],
    window: Window,
    cell: Cell,
    clock: Clock,
    moment: Moment,
    path: list[Trigger],
) -> list[Pane]:
    if typed.weight is not None and cell.net <= 0:
        return _retract(cell, clock, moment)
    timing = _timing(typed, cell, moment)
    aggregates = cell.aggregates(typed)
    previous = cell.last_pane
    event_time = cell.event_time(typed, window)
    cell.has_fired_complete |= moment.is_complete
    cell.nothing_is_new()
    if typed.stage.only_if_changed and previous is not None and _same(aggregates, previous.aggregates):
        return []
    keys = dict(zip(typed.stage.keys, key, strict=True))
    values = {**aggregates, **derived(typed, {**keys, **aggregates})}
    if not passes(typed, {**keys, **values}):
        cell.last_pane = None
        return [] if previous is None else [previous.retracted(DELETE, clock)]
    pane = Pane(
        keys=keys,
        window=window,
        aggregates=values,
        change=INSERT if previous is None else UPDATE_POSTIMAGE,
        weight=1,
        timing=timing,
        index=cell.panes,
        on_time_index=None if timing == EARLY else cell.panes_not_early,
        is_first=cell.panes == 0,
        is_last=cell.is_closed or moment.is_expired,
        trigger=path[-1].NAME if path else EXPIRY,
        event_time=event_time,
        watermark=clock.known_watermark,
        watermark_percentile=None if timing == LATE else clock.percentile_at(window.end),
        produced_at=clock.now,
        tick=clock.tick,
    )
    _remember(cell, pane, clears(typed.stage, path))
    if previous is not None and typed.stage.is_retracting:
        return [previous.retracted(UPDATE_PREIMAGE, clock), pane]
    return [pane]


def _retract(cell: Cell, clock: Clock, moment: Moment) -> list[Pane]:
    """All elements were taken back: the last pane goes, if one stands; if none does, nothing was shown."""
    previous = cell.last_pane
    if previous is None:
        return []
    cell.has_fired_complete |= moment.is_complete
    cell.nothing_is_new()
    cell.last_pane = None
    return [previous.retracted(DELETE, clock)]


def _is_worth_a_pane(typed: TypedStage, cell: Cell, moment: Moment) -> bool:
    """Something is new, or the stage wants this pane in any case."""
    return (
        cell.new > 0
        or (typed.stage.on_time is Emission.ALWAYS and _passes_the_end(moment))
        or (typed.stage.closing is Emission.ALWAYS and moment.is_expired)
    )


def _passes_the_end(moment: Moment) -> bool:
    return moment.watermark_before < moment.end <= moment.watermark_after


def _timing(typed: TypedStage, cell: Cell, moment: Moment) -> str:
    if not moment.is_complete:
        return EARLY
    is_wanted = typed.stage.on_time is Emission.ALWAYS and _passes_the_end(moment)
    return ON_TIME if not cell.has_fired_complete and (cell.since < moment.end or is_wanted) else LATE


def _same(aggregates: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the aggregates are those of an earlier pane, its derived columns left aside; null is equal to null."""
    return all(value == before[name] or value is before[name] for name, value in aggregates.items())


def clears(stage: Stage, path: list[Trigger]) -> bool:
    """Whether a firing clears the aggregates: what the mode says, or the innermost node on the path that says it."""
    if stage.accumulation not in (Accumulation.CLEAR_BY_DEFAULT, Accumulation.ACCUMULATE_BY_DEFAULT):
        return stage.accumulation is Accumulation.DISCARDING
    thens = [node.then for node in path if node.then is not None]
    return thens[-1] is Then.CLEAR if thens else stage.accumulation is Accumulation.CLEAR_BY_DEFAULT


def _remember(cell: Cell, pane: Pane, is_cleared: bool) -> None:
    """A pane that cleared is nobody's predecessor: it is never replaced and never retracted."""
    cell.last_pane = None if is_cleared else pane
    cell.panes += 1
    cell.panes_not_early += pane.timing != EARLY
    if is_cleared:
        cell.rows = []


def derived(typed: TypedStage, columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """The derived columns of a pane; one that fails is null, for a pane is not an element that could be dead."""
    values = {}
    for name, expression in typed.stage.derive.items():
        try:
            values[name] = evaluate(expression, columns, typed.result_types)
        except EvaluationFailed:
            values[name] = None
    return values


def passes(typed: TypedStage, columns: Mapping[str, Any]) -> bool:
    """Whether `having` is true of a pane; where it is null or fails, it is not."""
    if typed.stage.having is None:
        return True
    try:
        return evaluate(typed.stage.having, columns, typed.pane_types) is True
    except EvaluationFailed:
        return False
