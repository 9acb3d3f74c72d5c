"""A cell: all that is kept of one key and one window. SEMANTICS sections 2 and 6."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model.aggregates import compute
from tests.model.elements import Row
from tests.model.panes import Pane
from tests.model.trigger_leaves import Moment, Node
from tests.model.triggers import build
from tests.model.typed_stage import TypedStage


@dataclass
class Cell:
    """The state of a cell. The aggregates are not kept but computed anew from all elements that they hold.

    `new` counts the elements since the last pane, `new_in_time` those of them that were added before the window was
    complete; `panes` and `panes_not_early` count what was emitted; `has_fired_complete` says whether a pane was fired
    when the window was complete.
    """

    trigger: Node
    rows: list[Row] = field(default_factory=list)
    new: int = 0
    new_in_time: int = 0
    panes: int = 0
    panes_not_early: int = 0
    has_fired_complete: bool = False
    last_pane: Pane | None = None
    is_closed: bool = False

    @classmethod
    def empty(cls, typed: TypedStage) -> Cell:
        return cls(build(typed.stage.trigger))

    def copied(self) -> Cell:
        """A cell of the same state that changes on its own."""
        other = copy.copy(self)
        other.rows = list(self.rows)
        other.trigger = copy.deepcopy(self.trigger)
        return other

    def add(self, rows: Sequence[Row], moment: Moment) -> None:
        """Add the elements of a tick."""
        self.rows += rows
        self.new += len(rows)
        if moment.watermark_before < moment.end:
            self.new_in_time += len(rows)
        self.trigger.on_elements(len(rows), moment)

    def aggregates(self, typed: TypedStage) -> Mapping[str, Any]:
        """The aggregates over all elements of the cell."""
        return {
            name: compute(aggregate, typed.value_types[name], [(row.event_time, row.values[name]) for row in self.rows])
            for name, aggregate in typed.stage.aggregates.items()
        }

    def nothing_is_new(self) -> None:
        self.new = self.new_in_time = 0
