"""A cell: all that is kept of one key and one window. Rules: docs/semantics.md#ticks, docs/semantics.md#panes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model.aggregates import compute
from tests.model.assign import Window
from tests.model.elements import Row
from tests.model.panes import Pane
from tests.model.trigger_leaves import Moment, Node
from tests.model.triggers import build
from tests.model.typed_stage import TypedStage
from tests.model.values import normal
from windrow.spec.stages.stage import PaneTime
from windrow.spec.times import INFINITY


@dataclass
class Cell:
    """The state of a cell. The aggregates are not kept but computed anew from all elements that they hold.

    `new` counts the elements since the last pane, and `since` is the least watermark before a tick in which one of them
    was added to the stage. `panes` and `panes_not_early` count what was emitted; `has_fired_complete` says whether a
    pane was fired when the window was complete. `times` are the event times of new elements that were not behind the
    output watermark. `superseded` are panes of windows that were merged into this one, retracted when it first fires.
    """

    trigger: Node
    rows: list[Row] = field(default_factory=list)
    new: int = 0
    since: int = INFINITY
    panes: int = 0
    panes_not_early: int = 0
    has_fired_complete: bool = False
    last_pane: Pane | None = None
    is_closed: bool = False
    times: list[int] = field(default_factory=list)
    superseded: list[Pane] = field(default_factory=list)

    @classmethod
    def empty(cls, typed: TypedStage) -> Cell:
        return cls(build(typed.stage.trigger))

    def copied(self) -> Cell:
        """A cell of the same state that changes on its own."""
        other = copy.copy(self)
        other.rows, other.times, other.superseded = list(self.rows), list(self.times), list(self.superseded)
        other.trigger = copy.deepcopy(self.trigger)
        return other

    def add(self, rows: Sequence[Row], moment: Moment) -> None:
        """Add the elements of a tick."""
        self.rows += rows
        self.new += len(rows)
        self.since = min([self.since, *[row.watermark_before for row in rows]])
        self.times += [row.event_time for row in rows if row.is_ahead]
        self.trigger.on_elements(rows, moment)

    def aggregates(self, typed: TypedStage) -> Mapping[str, Any]:
        """The aggregates over all elements of the cell that were not taken back."""
        return {
            name: compute(aggregate, typed.value_types[name], self._there(name))
            for name, aggregate in typed.stage.aggregates.items()
        }

    @property
    def net(self) -> int:
        """The number of elements that are left."""
        return sum(row.weight for row in self.rows)

    def _there(self, name: str) -> list[tuple[int, Any]]:
        """The event times and values that are left: each as often as it was added and not taken back."""
        counts: Counter[tuple[int, Any]] = Counter()
        if all(row.weight > 0 for row in self.rows):
            return [(row.event_time, row.values[name]) for row in self.rows]
        for row in self.rows:
            counts[row.event_time, normal(row.values[name])] += row.weight
        return list(counts.elements())

    def event_time(self, typed: TypedStage, window: Window) -> int | None:
        """The event time of a pane that carries what is new; the global window has no last instant."""
        if typed.stage.event_time is PaneTime.EARLIEST and self.times:
            return min(self.times)
        if typed.stage.event_time is PaneTime.LATEST and self.times:
            return max(self.times)
        return None if window.is_global else window.end - 1

    def nothing_is_new(self) -> None:
        self.new, self.since, self.times = 0, INFINITY, []
