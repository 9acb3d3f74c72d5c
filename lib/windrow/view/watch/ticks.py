"""The last ticks of a stage by which it read: their rate, and plots of them.

Rule: docs/operations.md#watch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from windrow.spec.times import SECOND
from windrow.view.pictures.plot import Plot, Series, Unit
from windrow.view.text.times import many

RATE_TICKS = 10
"""Over so many ticks a rate is taken."""


@dataclass(frozen=True)
class ReadingTick:
    """A tick by which a stage read `rows`. Microseconds; `watermark` is None where it is not known, or the end of time.

    `now` is its processing time: that of the clock, or of the history that is replayed.
    """

    tick: int
    now: int
    rows: int
    watermark: int | None = None


@dataclass(frozen=True)
class Rate:
    """Rows, or panes of another stage, a second of processing time, over so many ticks."""

    per_second: float
    ticks: int

    @classmethod
    def of(cls, ticks: Sequence[ReadingTick]) -> Rate | None:
        """That of the last ticks, in order: what they read since the first of them, whose own rows came before.

        None of fewer than two, and of ticks of one moment.
        """
        last = ticks[-RATE_TICKS - 1 :]
        span = last[-1].now - last[0].now if last else 0
        return cls(sum(one.rows for one in last[1:]) * SECOND / span, len(last) - 1) if span > 0 else None

    def text(self, what: str) -> str:
        """`12.5 rows/s over the last 10 ticks`."""
        over = "the last tick" if self.ticks == 1 else f"the last {many(self.ticks, 'tick')}"
        return f"{self.number} {what}/s over {over}"

    @property
    def number(self) -> str:
        """To three digits, or whole."""
        return f"{self.per_second:.3g}" if self.per_second < 999.5 else f"{self.per_second:,.0f}"


def plots_of(stage: str, what: str, ticks: Sequence[ReadingTick]) -> Iterator[Plot]:
    """The rate of each tick in `what` a second, and the lag of the watermark then; none of fewer than two ticks."""
    rates = [(one.now, one.rows * SECOND / (one.now - before.now)) for before, one in pairwise(_by_moment(ticks))]
    if len(rates) > 1:
        yield Plot(f"Rate of {stage}", [Series("rate", rates)], "processing time", f"{what} a second")
    lags = [(one.now, float(one.now - one.watermark)) for one in ticks if one.watermark is not None]
    if len(lags) > 1:
        title, up = f"Lag of the watermark of {stage}", "behind processing time"
        yield Plot(title, [Series("lag", lags, is_steps=True)], "processing time", up, unit_up=Unit.LENGTH)


def _by_moment(ticks: Sequence[ReadingTick]) -> Iterator[ReadingTick]:
    """Ticks of one moment as one, with the rows of all."""
    rows: dict[int, int] = {}
    for one in ticks:
        rows[one.now] = rows.get(one.now, 0) + one.rows
    yield from (ReadingTick(0, now, number) for now, number in sorted(rows.items()))
