"""Whether the second half of a soak is flat: no series grows by more than a tenth from its begin to its end.

The stream has been killed for the last time a quarter before it begins, and one process lives on; its first period is
left out. Files and log entries fall when maintenance runs. So the points of each period are one: of files and entries
the greatest, of all else the median. A line is laid through these. Old files and log entries are there for as long as
maintenance keeps them, and each tick makes some: how many there are is counted for each tick of that time, as kills
change the pace of ticks, and the kills of the first half hour are still in the time that is kept when the verdict
begins.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

FLAT = 0.10
KEPT = 3900.0
"""For so many seconds maintenance keeps old versions and commits: more than half of a soak, and no multiple of the time
between two runs, as what a run finds a second too young is left until the next one."""
LEAST = 4
"""Periods of the second half that a verdict needs."""
OF_A_PERIOD: Mapping[str, Callable[[Sequence[float]], float]] = {
    "memory": median, "live": median, "threads": median, "files": max, "stored": max, "entries": max, "tick": median,
}  # fmt: skip
"""The series that must be flat."""
OF_WHAT_IS_KEPT = ("stored", "entries")
"""Those that are divided by the number of ticks in the time that is kept."""


@dataclass(frozen=True)
class Growth:
    """How much a series grows over the second half, as a share of its mean; None where that is too short to say."""

    name: str
    share: float | None

    @property
    def is_flat(self) -> bool | None:
        return None if self.share is None else self.share <= FLAT


def is_long_enough(seconds: float, period: float) -> bool:
    """Whether a soak that lasts so long has enough periods in its second half."""
    first, last = math.ceil((seconds / 2 + period) / period), int(seconds // period)
    return last - first >= LEAST


def judged(series: Mapping[str, Sequence[tuple[float, float]]], seconds: float, period: float) -> list[Growth]:
    """The growth of each series in the second half of a soak that has lasted so long."""
    series = {**series, **{name: _for_each_tick(series[name], series["tick"]) for name in OF_WHAT_IS_KEPT}}
    return [Growth(name, _growth(series[name], one, seconds, period)) for name, one in OF_A_PERIOD.items()]


def counted(
    series: Mapping[str, Sequence[tuple[float, float]]], seconds: float, period: float
) -> dict[str, float | None]:
    """The growth of what is kept as it was counted, whatever the pace of ticks: said, and not judged."""
    return {name: _growth(series[name], OF_A_PERIOD[name], seconds, period) for name in OF_WHAT_IS_KEPT}


def as_said(found: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """What has grown in a soak that was written down, by names for people; what is kept twice."""
    for name, share in found["growth"].items():
        yield (f"{name}, for each tick that is kept" if name in found["counted"] else name), share
        if name in found["counted"]:
            yield f"{name}, as counted (not judged)", found["counted"][name]


def _for_each_tick(
    points: Sequence[tuple[float, float]], ticks: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The points divided by the number of ticks in the time that is kept; none before that has gone by."""
    times = sorted(at for at, _ in ticks)
    numbers = [(at, value, bisect(times, at) - bisect(times, at - KEPT)) for at, value in points if at >= KEPT]
    return [(at, value / number) for at, value, number in numbers if number]


def _growth(
    points: Sequence[tuple[float, float]], one: Callable[[Sequence[float]], float], seconds: float, period: float
) -> float | None:
    periods: dict[int, list[float]] = {}
    for at, value in points:
        if seconds / 2 + period <= at < seconds // period * period:
            periods.setdefault(int(at // period), []).append(value)
    if len(periods) < LEAST:
        return None
    values = {number: one(those) for number, those in sorted(periods.items())}
    mean = fmean(values.values())
    return _slope(values) * (max(values) - min(values)) / mean if mean else 0.0


def _slope(values: Mapping[int, float]) -> float:
    """Of the line that is laid through the values."""
    across, up = fmean(values), fmean(values.values())
    spread = sum((number - across) ** 2 for number in values)
    return sum((number - across) * (value - up) for number, value in values.items()) / spread
