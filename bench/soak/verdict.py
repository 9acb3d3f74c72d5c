"""Whether the second half of a soak is flat: no series grows by more than a tenth from its begin to its end.

The stream is killed in the first eighth, and then one process lives on. Files and log entries fall when maintenance
runs. So the points of each period are one: of files and entries the greatest, of all else the median. A line is laid
through these, but for the first one of the half, and its slope is what all of them grow by. Old files and log entries
are there for as long as maintenance keeps them, and each tick makes some: so ticks come at an even pace, and for these
two the line begins where the time of kills, with its fewer ticks, is no longer kept, but for some minutes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

FLAT = 0.10
KILLED = 1 / 8
"""The share of a soak in which the stream is killed."""
KEPT = 3900.0
"""For so many seconds maintenance keeps old versions and commits: nearly half of a soak, and no multiple of the time
between two runs, as what a run finds a second too young is left until the next one."""
LEAST = 4
"""Periods of the second half that a verdict needs."""
OF_A_PERIOD: Mapping[str, Callable[[Sequence[float]], float]] = {
    "memory": median, "live": median, "threads": median, "files": max, "stored": max, "entries": max, "tick": median,
}  # fmt: skip
"""The series that must be flat."""
OF_WHAT_IS_KEPT = ("stored", "entries")
"""Those of what maintenance keeps for a while."""


@dataclass(frozen=True)
class Growth:
    """How much a series grows over the second half, as a share of its mean; None where that is too short to say."""

    name: str
    share: float | None

    @property
    def is_flat(self) -> bool | None:
        return None if self.share is None else self.share <= FLAT


def is_long_enough(seconds: float, period: float) -> bool:
    """Whether a soak that lasts so long has enough periods to judge each series."""
    last = int(seconds // period)
    return all(last - _first(name, seconds, period) >= LEAST for name in OF_A_PERIOD)


def _first(name: str, seconds: float, period: float) -> int:
    """The first period of a series that is judged, by its number: for what is kept one behind the time of kills."""
    begin = seconds / 2 + period
    if name in OF_WHAT_IS_KEPT:
        begin = max(begin, seconds * KILLED + KEPT)
    return math.ceil(begin / period)


def judged(series: Mapping[str, Sequence[tuple[float, float]]], seconds: float, period: float) -> list[Growth]:
    """The growth of each series in the second half of a soak that has lasted so long."""
    return [Growth(name, _growth(name, series[name], seconds, period)) for name in OF_A_PERIOD]


def _growth(name: str, points: Sequence[tuple[float, float]], seconds: float, period: float) -> float | None:
    periods: dict[int, list[float]] = {}
    first, last = _first(name, seconds, period), int(seconds // period)
    for at, value in points:
        if first * period <= at < last * period:
            periods.setdefault(int(at // period), []).append(value)
    if len(periods) < LEAST:
        return None
    values = {number: OF_A_PERIOD[name](those) for number, those in sorted(periods.items())}
    mean = fmean(values.values())
    steps = last - 1 - math.ceil((seconds / 2 + period) / period)
    return _slope(values) * steps / mean if mean else 0.0


def _slope(values: Mapping[int, float]) -> float:
    """Of the line that is laid through the values."""
    across, up = fmean(values), fmean(values.values())
    spread = sum((number - across) ** 2 for number in values)
    return sum((number - across) * (value - up) for number, value in values.items()) / spread
