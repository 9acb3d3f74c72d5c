"""Axes of time: where a time is in the drawing, and which round times are written beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from windrow.spec.times import DAY, HOUR, INFINITY, MINUS_INFINITY, MINUTE, SECOND, format_time

_EPOCH_DAY = HOUR
"""Times that are nearer to the epoch are written in seconds: those of a transcript that counts from 0."""
_FEW_HOURS = 20 * HOUR
"""Times that are so near to each other are told apart without a day."""
_NO_DAY = "2000-01-01"
"""The day of transcripts, which nobody has written."""


@dataclass(frozen=True)
class Axis:
    """From `first` to `last` (microseconds) at `start` to `end` (units of the drawing), which may be less."""

    first: int
    last: int
    start: float
    end: float

    def at(self, time: int) -> float:
        """Where a time is; one outside is at the edge."""
        inside = min(max(time, self.first), self.last)
        return self.start + (self.end - self.start) * (inside - self.first) / (self.last - self.first)

    def has(self, time: int) -> bool:
        return self.first <= time <= self.last

    def marks(self, room: float) -> list[tuple[str, float]]:
        """Round times with their places, at least `room` apart."""
        most = max(1, int(abs(self.end - self.start) // room))
        step = step_of(self.last - self.first, most)
        times = range(-(-self.first // step) * step, self.last + 1, step)
        return [(self.label(time, step), self.at(time)) for time in times]

    def label(self, time: int, step: int) -> str:
        if self._counts_seconds:
            return f"{time / SECOND:g} s"
        if step < SECOND:
            return f"{time % MINUTE / SECOND:g} s"
        text = format_time(time)
        if step >= DAY:
            return text[5:10] if self._is_of_one_year else text[:10]
        end = 19 if step < MINUTE else 16
        return text[11:end] if self.day is not None else text[5:end].replace("T", " ")

    @property
    def day(self) -> str | None:
        """The day that all times are of, or that of most, where they are few hours; none where there are several."""
        first, last = format_time(self.first)[:10], format_time(self.last)[:10]
        if first == last or self.last - self.first < _FEW_HOURS:
            return format_time((self.first + self.last) // 2)[:10]
        return None

    @property
    def words(self) -> str:
        """What stands beside its name: the day, unless nobody has written one."""
        return "" if self._counts_seconds or self.day in (None, _NO_DAY) else f" ({self.day})"

    @property
    def _counts_seconds(self) -> bool:
        return max(abs(self.first), abs(self.last)) < _EPOCH_DAY

    @property
    def _is_of_one_year(self) -> bool:
        return format_time(self.first)[:4] == format_time(self.last)[:4]


def step_of(span: int, most: int) -> int:
    """The least round step of which at most so many fit into a span."""
    return next(step for step in _steps() if span / step <= most)


def _steps() -> Iterator[int]:
    """Lengths between two marks, growing without end."""
    yield from (n * 10**power for power in range(6) for n in (1, 2, 5))
    yield from (n * SECOND for n in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800))
    yield from (n * HOUR for n in (1, 2, 3, 6, 12))
    yield from (DAY * n * 10**power for power in count() for n in (1, 2, 5))


def finite(times: Iterable[int]) -> list[int]:
    """Without the infinities."""
    return [time for time in times if MINUS_INFINITY < time < INFINITY]


def spread(times: Iterable[int], share: float) -> tuple[int, int]:
    """From the least to the greatest with a share of that on both sides, and never nothing."""
    known = finite(times) or [0]
    first, last = min(known), max(known)
    margin = max(round((last - first) * share), 1 if last > first else SECOND)
    return first - margin, last + margin
