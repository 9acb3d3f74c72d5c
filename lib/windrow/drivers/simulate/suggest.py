"""The delay, or the early count, that gives what is wished for: searched over the measured windows.

Rule: docs/simulate.md#suggestions. A longer delay never moves a watermark forward, so the windows that are right at
first only become more with it, and their panes only come later: halving finds the smallest and the largest delay. No
cell has to live for that: where a trigger fires at the watermark, the clocks say when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]

from windrow.drivers.simulate.clocks import times_of
from windrow.drivers.simulate.duck import row_of
from windrow.spec.errors import SpecError
from windrow.spec.simulation.trials import Trial
from windrow.spec.simulation.wishes import Goal, Wish
from windrow.spec.times import DAY, SECOND
from windrow.spec.triggers.all import AfterCount, AfterWatermark
from windrow.spec.words import in_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from windrow.drivers.simulate.clocks import Arrived

UNIT = SECOND
"""Delays are searched in whole seconds."""
LONGEST = 400 * DAY
OFTEN = Fraction(95, 100)
"""The share of windows that a wished latency is to hold for; a first pane is wished for half of them."""


@dataclass(frozen=True)
class Search:
    """Trials that differ from one in its delay or early count, over the touches in a schema of a database."""

    duck: duckdb.DuckDBPyConnection
    of: str
    trial: Trial
    ticks: Sequence[Arrived]
    until: int
    _clocks: dict[int, pa.Table] = field(default_factory=dict)
    """Those of the last delay."""

    def found(self, wish: Wish) -> Trial | None:
        """The trial that gives what is wished for, of windows that end by `until`; None where none does.

        Errors: SpecError for a watermark that has no delay.
        """
        if wish.goal is Goal.FIRST:
            fits = Fraction(1, 2)
            count = self._largest(lambda count: self._shown_early(count, wish.length) >= fits, 1, self._most_elements())
            return None if count is None else self.with_early(count)
        if self.trial.watermark.bounded_delay is None:
            rule = "searches for a delay, and the watermark is made by another rule"
            raise SpecError("--suggest", rule, str(wish), "a source, or a trial, with bounded_delay")
        if wish.goal is Goal.COMPLETE:
            units = self._smallest(lambda units: self._right(units * UNIT) >= Fraction(wish.share), LONGEST // UNIT)
        else:
            units = self._largest(lambda units: self._in_time(units * UNIT, wish.length) >= OFTEN, 0, LONGEST // UNIT)
        return None if units is None else self.with_delay(units * UNIT)

    def with_delay(self, delay: int) -> Trial:
        """The trial with another delay."""
        name = f"suggested: delay {in_units(delay)}"
        return replace(self.trial, name=name, watermark=replace(self.trial.watermark, bounded_delay=delay))

    def with_early(self, count: int) -> Trial:
        """The trial with an early pane each so many elements, one on time, and late ones where there can be any."""
        late = AfterCount(1) if self.trial.stage.allowed_lateness else None
        trigger = AfterWatermark(early=AfterCount(count), late=late)
        stage = replace(self.trial.stage, trigger=trigger)
        return replace(self.trial, name=f"suggested: early every {count}", stage=stage)

    def _most_elements(self) -> int:
        """Of a cell: with a larger count no pane is early."""
        text = f"SELECT coalesce(max(total), 1)::BIGINT FROM {self.of}.cells WHERE window_end <= {self.until}"
        return int(row_of(self.duck, text)[0])

    # ---------------------------------------------------------------- shares of windows

    def _right(self, delay: int) -> Fraction:
        """Of which the last element has come when no pane but early ones had shown the window before its tick.

        That is where the window was not complete before, or its elements came in one tick, which was not too late.
        """
        right = """count(*) FILTER (
            watermark_before < window_end OR (first_tick = tick AND expired_before < window_end))"""
        return self._share(delay, f"SELECT {right}, count(*) FROM {{of}} JOIN clocks USING (tick)")

    def _in_time(self, delay: int, length: int) -> Fraction:
        """That are complete in a tick whose `now` is no later than so long after their end."""
        return self._share(
            delay,
            f"""SELECT count(*) FILTER (now <= window_end + {length}), count(*)
            FROM {{of}} ASOF LEFT JOIN (SELECT watermark, min(now) AS now FROM clocks GROUP BY watermark) AS reached
            ON window_end <= reached.watermark""",
        )

    def _shown_early(self, count: int, length: int) -> Fraction:
        """That have so many elements, or are complete, by then."""
        counted = f"""SELECT cell, tick, sum(elements) OVER (PARTITION BY cell ORDER BY tick) AS so_far
            FROM {self.of}.touches"""
        full = f"SELECT cell, min(tick) AS filled_at FROM ({counted}) WHERE so_far >= {count} GROUP BY cell"
        delay = self.trial.watermark.bounded_delay or 0
        return self._share(
            delay,
            f"""SELECT count(*) FILTER (least(reached.now, filled.now) <= window_end + {length}), count(*)
            FROM {{of}} LEFT JOIN ({full}) AS f USING (cell) LEFT JOIN clocks AS filled ON filled.tick = f.filled_at
            ASOF LEFT JOIN (SELECT watermark, min(now) AS now FROM clocks GROUP BY watermark) AS reached
            ON window_end <= reached.watermark""",
        )

    def _share(self, delay: int, text: str) -> Fraction:
        if delay not in self._clocks:
            self._clocks.clear()
            self._clocks[delay] = self._clocks_with(delay)
        self.duck.register("clocks", self._clocks[delay])
        columns = "cell, window_end, first_tick, last_tick AS tick"
        cells = f"(SELECT {columns} FROM {self.of}.cells WHERE window_end <= {self.until})"
        some, number = row_of(self.duck, text.replace("{of}", f"{cells} AS cells"))
        return Fraction(some, number) if number else Fraction(0)

    def _clocks_with(self, delay: int) -> pa.Table:
        """The clocks of every tick with that delay, where the watermark has one."""
        rule = self.trial.watermark
        if rule.bounded_delay is not None:
            rule = replace(rule, bounded_delay=delay)
        times = list(times_of(self.trial.stage, rule, self.ticks))
        columns = {
            "tick": [one.tick for one in times],
            "now": [one.after.now for one in times],
            "watermark_before": [one.before.watermark for one in times],
            "expired_before": [one.before.expired_end for one in times],
            "watermark": [one.after.watermark for one in times],
        }
        return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})

    # ---------------------------------------------------------------- halving

    @staticmethod
    def _smallest(holds: Callable[[int], bool], most: int) -> int | None:
        """The smallest number from 0 on for which it holds, as for all larger ones; None for none up to `most`."""
        if holds(0):
            return 0
        low, high = 0, 1
        while not holds(high):
            if high >= most:
                return None
            low, high = high, min(2 * high, most)
        return _between(low, high, holds)

    @staticmethod
    def _largest(holds: Callable[[int], bool], least: int, most: int) -> int | None:
        """The largest number from `least` to `most` for which it holds, as for all smaller ones; None for none."""
        if not holds(least):
            return None
        low, high = least, min(max(1, 2 * least), most)
        while low < most and holds(high):
            low, high = high, min(2 * high, most)
        if low >= most:
            return most
        return _between(low, high, lambda number: not holds(number)) - 1


def _between(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number above `low` for which it holds; it does for `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
