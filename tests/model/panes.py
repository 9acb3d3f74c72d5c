"""Panes: what a window emits. Rules: docs/semantics.md#panes, docs/semantics.md#accumulation-and-changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.model.assign import Window
from tests.model.clock import Clock

INSERT = "insert"
UPDATE_PREIMAGE = "update_preimage"
UPDATE_POSTIMAGE = "update_postimage"
DELETE = "delete"

EARLY = "early"
ON_TIME = "on_time"
LATE = "late"


@dataclass(frozen=True)
class Pane:
    """One pane, with all its fields. Times are microseconds; `aggregates` holds the derived columns too.

    `trigger` is the grammar name of the leaf that fired, or `expiry`. `watermark` is null where none is known.
    """

    keys: Mapping[str, Any]
    window: Window
    aggregates: Mapping[str, Any]
    change: str
    weight: int
    timing: str
    index: int
    on_time_index: int | None
    is_first: bool
    is_last: bool
    trigger: str
    event_time: int | None
    watermark: int | None
    watermark_percentile: int | None
    produced_at: int
    tick: int

    @property
    def key(self) -> tuple[Any, ...]:
        return tuple(self.keys.values())

    def retracted(self, change: str, clock: Clock) -> Pane:
        """The row that takes this pane back in the tick of `clock`: all is as it was but when that happens."""
        now = {"watermark": clock.known_watermark, "produced_at": clock.now, "tick": clock.tick}
        return replace(self, change=change, weight=-1, **now)

    def row(self) -> dict[str, Any]:
        """The pane as one flat mapping, as transcripts compare it."""
        fields = {name: value for name, value in vars(self).items() if name not in ("keys", "aggregates")}
        return {**self.keys, **self.aggregates, **fields}
