"""The statistics of a micro-batch, collected before the tick, so that its watermark is a literal of the main plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.engine.tick.counters import NOTHING, Counters
from windrow.spec.times import MINUS_INFINITY


@dataclass(frozen=True)
class BatchStatistics:
    """The statistics of a micro-batch of one input.

    `suspects` are elements that are late if their window would merge with one that has expired.
    """

    counters: Counters = NOTHING
    suspects: int = 0
    earliest: int | None = None
    latest: int | None = None
    latest_end: int | None = None
    greatest_arrival: int = MINUS_INFINITY
    greatest: dict[str | None, int] = field(default_factory=dict)
    """The greatest event time of each source partition, over the rows that are not dead."""
    asserted: dict[str | None, int] = field(default_factory=dict)
    """The greatest watermark that rows of each source partition assert, over those that are not dead."""
    arrivals: dict[str | None, int] | None = field(default_factory=dict)
    """The greatest arrival time of each source partition, over the rows that are not dead; None where it is unknown."""


@dataclass(frozen=True)
class LandedRows:
    """What is known of rows since they have landed, so that no job has to look at them. Times are in microseconds."""

    rows: int
    """Those that are not dead: one at least."""
    dead: int
    earliest: int
    """The earliest event time of a row that is not dead."""
    greatest: dict[str | None, int]
    """The greatest event time of each source partition, over the rows that are not dead."""
    greatest_arrival: int
    """Over all rows."""
    arrivals: dict[str | None, int] | None
    """The greatest arrival time of each source partition, over the rows that are not dead; None where it is unknown."""

    @property
    def latest(self) -> int:
        """The latest event time of a row that is not dead."""
        return max(self.greatest.values())


def summed(statistics: Sequence[BatchStatistics]) -> BatchStatistics:
    """What several inputs hold together. Their source partitions are not: each has a watermark of its own."""
    if len(statistics) <= 1:
        return statistics[0] if statistics else BatchStatistics()
    return BatchStatistics(
        counters=sum((s.counters for s in statistics), NOTHING),
        suspects=sum(s.suspects for s in statistics),
        earliest=min((s.earliest for s in statistics if s.earliest is not None), default=None),
        latest=max((s.latest for s in statistics if s.latest is not None), default=None),
        latest_end=max((s.latest_end for s in statistics if s.latest_end is not None), default=None),
        greatest_arrival=max((s.greatest_arrival for s in statistics), default=MINUS_INFINITY),
    )
