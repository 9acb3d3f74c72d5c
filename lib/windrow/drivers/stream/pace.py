"""How often the stream looks for rows, and how often it projects tables.

The tables that are only appended to follow every few ticks while a stage catches up, and at the head after each of
them. `current` has a pace of its own: a MERGE costs as much as a tick, and may serve many. At the head its time, too,
is counted from the beginning of a look to that of another one, so that with a `refresh` as long as `--every` each look
writes it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass
class Looks:
    """Looks that begin every `seconds`; one that takes longer is followed by the next at once, as in Spark's
    `processingTime`. So a machine that keeps up makes as many as any other.
    """

    seconds: float
    _began: float = field(default_factory=time.monotonic)

    def wait(self, stop: threading.Event) -> bool:
        """Wait until the next one is due; whether `stop` was set meanwhile."""
        ended = stop.wait(max(0.0, self._began + self.seconds - time.monotonic()))
        self._began = time.monotonic()
        return ended


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
        return time.monotonic() - self._ended > max(self.seconds, self.times * self._took)

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
