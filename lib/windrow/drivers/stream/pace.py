"""How often tables are projected.

The tables that are only appended to follow every few ticks while a stage catches up, and at the head after each of
them. `current` has a pace of its own: a MERGE costs as much as a tick, and may serve many.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Pace:
    """Knows when something was last done, and how long that took, by the monotonic clock.

    While a stage catches up it is due after `seconds`, and after `times` as long as it last took.
    """

    seconds: float
    times: float
    _ended: float = field(default_factory=time.monotonic)
    _took: float = 0.0

    def is_due(self) -> bool:
        """Whether it should be done again, although the head is not reached."""
        return self.is_older_than(max(self.seconds, self.times * self._took))

    def is_older_than(self, seconds: float) -> bool:
        """Whether it was done longer ago."""
        return time.monotonic() - self._ended > seconds

    def took(self, began: float) -> None:
        """It was done from then until now."""
        self._ended = time.monotonic()
        self._took = self._ended - began


def pace_of_tables() -> Pace:
    """That of the tables that are appended to."""
    return Pace(10.0, 3)


def pace_of_current() -> Pace:
    """That of `current`."""
    return Pace(60.0, 10)
