"""Panes as elements of the stage that reads them. Rule: docs/semantics.md#stages-that-read-stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.model.assign import ALL_OF_TIME, Window
from tests.model.panes import Pane
from windrow.spec.fields.reading import Named
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME, MINUS_INFINITY
from windrow.spec.transcripts.steps import TranscriptElement

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TYPES: Mapping[str, str] = {
    "window_start": "timestamp", "window_end": "timestamp", "timing": "string", "pane_index": "bigint", "weight": "int"
}  # fmt: skip
"""Of the columns that every pane has beside its keys and results."""


@dataclass(frozen=True)
class PaneElement(TranscriptElement):
    """A pane as an element: its event time is that of the pane, and it knows the pane's window.

    A pane without an event time, of all of time, has -infinity: it is read with its own window, where none is needed.
    """

    window: Window = field(default=ALL_OF_TIME)


def element_of(pane: Pane, upstream: str) -> PaneElement:
    """The element that a pane is for a stage behind; its source partition is the stage that it comes from."""
    columns = {
        **pane.keys,
        **pane.aggregates,
        "window_start": _timestamp(pane.window.start),
        "window_end": _timestamp(pane.window.end),
        "timing": pane.timing,
        "pane_index": pane.index,
        "weight": pane.weight,
    }
    at = MINUS_INFINITY if pane.event_time is None else pane.event_time
    return PaneElement(
        at, upstream, Named({name: _hashable(value) for name, value in columns.items()}), window=pane.window
    )


def _timestamp(micros: int) -> datetime | None:
    """A bound of a window as a column; null where there is none, or none that the calendar has."""
    in_calendar = EARLIEST_EVENT_TIME <= micros <= LATEST_EVENT_TIME
    return _EPOCH + timedelta(microseconds=micros) if in_calendar else None


def _hashable(value: Any) -> Any:
    """A list in its order: so it is a value of which there may be several that are equal."""
    return tuple(value) if isinstance(value, list) else value
