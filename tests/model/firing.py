"""What a cell emits in a tick: at most one pane, in retracting mode behind a withdrawal. SEMANTICS section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.clock import Clock
from tests.model.expressions import EvaluationFailed, evaluate
from tests.model.panes import DELETE, EARLY, INSERT, LATE, ON_TIME, UPDATE_POSTIMAGE, UPDATE_PREIMAGE, Pane
from tests.model.trigger_leaves import Moment
from tests.model.typed_stage import TypedStage
from windrow.spec.stages import Emission

EXPIRY = "expiry"


def ask(
    typed: TypedStage, key: tuple[Any, ...], window: Window, cell: Cell, clock: Clock, moment: Moment
) -> list[Pane]:
    """Ask the trigger of an open cell, once; fire if it is ready or the cell expires. The panes, in their order."""
    cell.trigger.on_asked(moment)
    is_ready = cell.trigger.ready(moment)
    leaf = cell.trigger.fired_leaf(moment) if is_ready else EXPIRY
    if is_ready:
        cell.trigger.on_fire(moment)
        cell.is_closed = cell.trigger.finished
    if not is_ready and not moment.is_expired:
        return []
    return _emit(typed, key, window, cell, clock, moment, leaf)


def _emit(
    typed: TypedStage, key: tuple[Any, ...], window: Window, cell: Cell, clock: Clock, moment: Moment, leaf: str
) -> list[Pane]:
    if not _is_worth_a_pane(typed, cell, moment):
        return []
    timing = _timing(typed, cell, moment)
    aggregates = cell.aggregates(typed)
    previous = cell.last_pane
    cell.has_fired_complete |= moment.is_complete
    cell.nothing_is_new()
    if typed.stage.only_if_changed and previous is not None and _same(aggregates, previous.aggregates):
        return []
    keys = dict(zip(typed.stage.keys, key, strict=True))
    values = {**aggregates, **derived(typed, {**keys, **aggregates})}
    if not passes(typed, {**keys, **values}):
        cell.last_pane = None
        return [] if previous is None else [previous.withdrawn(DELETE, clock)]
    pane = Pane(
        keys=keys,
        window=window,
        aggregates=values,
        change=INSERT if previous is None or typed.stage.is_discarding else UPDATE_POSTIMAGE,
        weight=1,
        timing=timing,
        index=cell.panes,
        on_time_index=None if timing == EARLY else cell.panes_not_early,
        is_first=cell.panes == 0,
        is_last=cell.is_closed or moment.is_expired,
        trigger=leaf,
        event_time=None if window.is_global else window.end - 1,
        watermark=clock.known_watermark,
        watermark_percentile=None if timing == LATE else clock.percentile_at(window.end),
        produced_at=clock.now,
        tick=clock.tick,
    )
    _remember(typed, cell, pane)
    if previous is not None and typed.stage.is_retracting:
        return [previous.withdrawn(UPDATE_PREIMAGE, clock), pane]
    return [pane]


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
    return ON_TIME if not cell.has_fired_complete and (cell.new_in_time > 0 or is_wanted) else LATE


def _same(aggregates: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the aggregates are those of an earlier pane, its derived columns left aside; null is equal to null."""
    return all(value == before[name] or value is before[name] for name, value in aggregates.items())


def _remember(typed: TypedStage, cell: Cell, pane: Pane) -> None:
    cell.last_pane = pane
    cell.panes += 1
    cell.panes_not_early += pane.timing != EARLY
    if typed.stage.is_discarding:
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
