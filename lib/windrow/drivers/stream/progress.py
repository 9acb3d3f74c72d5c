"""What a stream tells of its ticks, and their totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from windrow.engine.tick.counters import NOTHING, Counters
from windrow.store.journal.control import Control


@dataclass(frozen=True)
class Progress:
    """One tick of a stage and what it counted, for whoever watches, when its panes are in the tables.

    `lag` is the number of landing steps that the stage had not read when it had ticked.
    """

    stage: str
    control: Control
    lag: int
    counters: Counters


@dataclass
class Totals:
    """What a run did."""

    ticks: int = 0
    rows: int = 0
    panes: int = 0
    retractions: int = 0
    late: int = 0

    def add(self, counted: Mapping[int, Counters]) -> None:
        """Count ticks that were projected; their rows were counted when they were read."""
        done = sum(counted.values(), NOTHING)
        self.panes += done.panes
        self.retractions += done.retractions
        self.late += done.late


Watch = Callable[[Progress], None]
