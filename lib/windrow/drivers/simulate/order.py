"""In which order a history arrives: the tick in which each row would have been read.

Rule: docs/simulate.md#the-order-of-arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from windrow.compile.elements.envelope import ARRIVAL_TIME, STEP
from windrow.compile.sql.columns import Column, bigint, col, div, floor_to
from windrow.drivers.simulate.clocks import Arrived
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.errors import SpecError
from windrow.spec.times import MINUS_INFINITY, format_duration

MOST_TICKS = 200_000
"""Of a history. A month in ticks of ten seconds has more than that."""


@dataclass(frozen=True)
class ByArrival:
    """A tick every so many microseconds: it reads the rows that arrived before it, and its `now` is when it is.

    So is a stream at the head of its log, whose clock goes on without rows.
    """

    every: int

    @property
    def words(self) -> str:
        """The order for people."""
        return f"by arrival time, a tick every {format_duration(self.every)}"

    @property
    def step(self) -> Column:
        """The number of a row's tick, counted from 1970."""
        return div(floor_to(col(ARRIVAL_TIME), self.every, 0), self.every) + bigint(1)

    def ticks(self, found: Mapping[int, BatchStatistics]) -> Iterator[Arrived]:
        """All ticks from the first row to the last, by that number. Errors: SpecError where there are too many."""
        first, last = min(found), max(found)
        if last - first >= MOST_TICKS:
            rule = f"gives more than {MOST_TICKS} ticks over this history"
            raise SpecError("--every", rule, format_duration(self.every), "a longer time between two ticks")
        for step in range(first, last + 1):
            yield Arrived(step, step * self.every, found.get(step, BatchStatistics()))


@dataclass(frozen=True)
class ByLanding:
    """A tick for each landing batch; `now` is the greatest arrival time so far, as for a stream that catches up."""

    @property
    def words(self) -> str:
        """The order for people."""
        return "by landing, a tick for each landing batch"

    @property
    def step(self) -> Column:
        return col(STEP)

    def ticks(self, found: Mapping[int, BatchStatistics]) -> Iterator[Arrived]:
        """The landing steps in their order; one that holds no rows passes no time."""
        now = MINUS_INFINITY
        for step in range(min(found), max(found) + 1):
            statistics = found.get(step, BatchStatistics())
            now = max(now, statistics.greatest_arrival)
            yield Arrived(step, now, statistics)


Order = ByArrival | ByLanding


def span_of(ticks: Iterable[Arrived]) -> tuple[int, int]:
    """The first and the last `now`."""
    nows = [one.now for one in ticks]
    return nows[0], nows[-1]
