"""Reading the elements of a tick: what each gives the stage, or why it is dead.

Rules: docs/semantics.md#where-every-row-is, docs/semantics.md#watermarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.model.assign import NoWindows, Window, windows_of
from tests.model.expressions import EvaluationFailed, evaluate
from tests.model.pane_elements import PaneElement
from tests.model.payload import compact_json
from tests.model.typed_stage import TypedStage
from tests.model.values import normal
from windrow.spec.expressions import Expression
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME, MINUS_INFINITY, saturating_add
from windrow.spec.transcripts.cases import TranscriptElement as Element

BAD_TIMESTAMP = "bad_timestamp"
FUTURE_TIMESTAMP = "future_timestamp"
BAD_EXPRESSION = "bad_expression"
LATE = "late"
CLOSED = "closed"


@dataclass(frozen=True)
class Row:
    """An element that could be read: its event time, its key, its windows, and one value for each aggregate.

    `source_time` is what moves the watermark: the source's event time, where the stage has one of its own.
    `facts` are the values of the expressions that triggers want to know, `size` its bytes, where one counts them.
    `watermark_before` is that of the tick in which it was added to the stage, `is_ahead` whether it was not behind the
    output watermark then.
    """

    element: Element
    event_time: int
    source_time: int
    key: tuple[Any, ...] = ()
    windows: tuple[Window, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[Expression, Any] = field(default_factory=dict)
    size: int = 0
    weight: int = 1
    watermark_before: int = MINUS_INFINITY
    is_ahead: bool = True


@dataclass(frozen=True)
class DeadLetter:
    """An element that is in no result, or is not in the result of one window, and why."""

    reason: str
    element: Element
    event_time: int | None
    window: tuple[int, int] | None = None

    def row(self) -> dict[str, Any]:
        """The dead letter as transcripts compare it."""
        fields = {"at": self.event_time, "partition": self.element.partition}
        return {**self.element.columns, **fields, "window": self.window, "reason": self.reason}


@dataclass(frozen=True)
class Reading:
    """The elements of a tick: those that count, those that `where` leaves out, and those that are dead as a whole."""

    rows: tuple[Row, ...] = ()
    filtered: tuple[Row, ...] = ()
    dead: tuple[DeadLetter, ...] = ()

    @property
    def moving(self) -> list[Row]:
        """The elements that move the watermark: all but the dead ones."""
        return [*self.rows, *self.filtered]


def read(
    typed: TypedStage,
    elements: Iterable[Element],
    now: int,
    watermark_before: int = MINUS_INFINITY,
    output_watermark: int = MINUS_INFINITY,
) -> Reading:
    """Read the elements of a tick, each into its place; the reasons of dead ones are judged in their order."""
    rows: list[Row] = []
    filtered: list[Row] = []
    dead: list[DeadLetter] = []
    for element in elements:
        event_time = now if _is_arrival_time(typed) else element.at
        reason = None if isinstance(element, PaneElement) else _why_dead(typed, event_time, now)
        if reason is None and typed.weight is not None and element.columns.get(typed.weight) not in (1, -1):
            reason = BAD_EXPRESSION
        if reason is None and event_time is not None:
            try:
                items = _items(typed, element)
            except EvaluationFailed:
                items, reason = [], BAD_EXPRESSION
            if reason is None and not items:
                filtered.append(Row(element, event_time, event_time))
            for columns in items:
                row, is_kept = _judged(typed, element, columns, event_time)
                if isinstance(row, DeadLetter):
                    dead.append(row)
                else:
                    is_ahead = row.event_time >= output_watermark and row.event_time != MINUS_INFINITY
                    row = replace(row, watermark_before=watermark_before, is_ahead=is_ahead)
                    (rows if is_kept else filtered).append(row)
        if reason is not None:
            dead.append(DeadLetter(reason, element, event_time))
    return Reading(tuple(rows), tuple(filtered), tuple(dead))


def _items(typed: TypedStage, element: Element) -> list[dict[str, Any]]:
    """The columns of an element with those of `select`; with `explode` once for every item of its array."""
    columns, types = dict(element.columns), typed.column_types
    for name, expression in typed.stage.select.items():
        columns[name] = evaluate(expression, columns, types)
    for name, expression in typed.stage.explode.items():
        return [{**columns, name: item} for item in evaluate(expression, columns, types) or []]
    return [columns]


def _judged(
    typed: TypedStage, element: Element, columns: Mapping[str, Any], source_time: int
) -> tuple[Row | DeadLetter, bool]:
    """An element with its row, and whether `where` keeps it; or its dead letter."""
    event_time = _element_time(typed, columns, source_time)
    if event_time is None:
        return DeadLetter(BAD_TIMESTAMP, element, None), False
    try:
        return _row(typed, element, columns, event_time, source_time)
    except EvaluationFailed:
        return DeadLetter(BAD_EXPRESSION, element, event_time), False
    except NoWindows:
        return DeadLetter(typed.stage.window.REASON, element, event_time), False


def _element_time(typed: TypedStage, columns: Mapping[str, Any], source_time: int) -> int | None:
    """The event time of an element in the stage; None where it cannot be read."""
    if typed.stage.element_time is None:
        return source_time
    try:
        micros = evaluate(typed.stage.element_time.of, columns, typed.column_types)
    except EvaluationFailed:
        return None
    if isinstance(micros, datetime):
        micros = (micros.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return micros if micros is not None and EARLIEST_EVENT_TIME <= micros <= LATEST_EVENT_TIME else None


def asserted(typed: TypedStage, row: Row) -> int | None:
    """The watermark that an element asserts: a timestamp or microseconds, within the calendar; None for nothing.

    It is of the source's time: elements of a stage with a time of its own may lie so far before it.
    """
    if typed.watermark is None or typed.watermark.punctuated is None:
        return None
    try:
        value = evaluate(typed.watermark.punctuated, row.element.columns, typed.schema)
    except EvaluationFailed:
        return None
    if isinstance(value, datetime):
        value = (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if value is None or not EARLIEST_EVENT_TIME <= value <= LATEST_EVENT_TIME:
        return None
    return value - (0 if typed.stage.element_time is None else typed.stage.element_time.backward)


def _is_arrival_time(typed: TypedStage) -> bool:
    """With a watermark in processing time the event time is the arrival time, whatever the element says."""
    return typed.watermark is not None and typed.watermark.processing_time


def _why_dead(typed: TypedStage, event_time: int | None, now: int) -> str | None:
    if event_time is None or not EARLIEST_EVENT_TIME <= event_time <= LATEST_EVENT_TIME:
        return BAD_TIMESTAMP
    max_future = None if typed.watermark is None else typed.watermark.max_future
    if max_future is not None and event_time > saturating_add(now, max_future):
        return FUTURE_TIMESTAMP
    return None


def _row(
    typed: TypedStage, element: Element, columns: Mapping[str, Any], event_time: int, source_time: int
) -> tuple[Row, bool]:
    """The row of an element, and whether `where` keeps it: only what is true is kept, null is not.

    Keys and aggregates are looked at only on rows that `where` keeps, so that it can guard them; windows at last, when
    no expression has failed.
    """
    stage, types = typed.stage, typed.column_types
    is_kept = stage.where is None or evaluate(stage.where, columns, types) is True
    if not is_kept:
        return Row(element, event_time, source_time), False
    key = tuple(normal(evaluate(expression, columns, types)) for expression in stage.keys.values())
    values = {
        name: evaluate(aggregate.expressions[0], columns, types) if aggregate.expressions else True
        for name, aggregate in stage.aggregates.items()
    }
    arguments = {name: evaluate(expression, columns, types) for name, expression in stage.window.expressions.items()}
    facts = {expression: evaluate(expression, columns, types) for expression in typed.trigger_expressions}
    weight = 1 if typed.weight is None else element.columns[typed.weight]
    size = _size(typed, element)
    if isinstance(element, PaneElement) and stage.window.FOLLOWS_PANES:
        windows: tuple[Window, ...] = (element.window,)
    else:
        windows = tuple(windows_of(stage.window, event_time, key, typed.key_types, arguments))
    return Row(element, event_time, source_time, key, windows, values, facts, size, weight), True


def _size(typed: TypedStage, element: Element) -> int:
    """The bytes of an element, where a trigger counts them; null and what is below zero is nothing."""
    if not typed.counts_bytes:
        return 0
    if typed.size is None:
        return len(compact_json(element.columns, typed.schema).encode())
    return max(evaluate(typed.size, element.columns, typed.schema) or 0, 0)
