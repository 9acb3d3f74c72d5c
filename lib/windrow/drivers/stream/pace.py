"""How often tables are projected while a stage catches up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

SECONDS = 10.0
"""Between two times, at least."""
TIMES = 3
"""And so many times as long as the last one took: a MERGE costs as much as a tick, and serves many."""


@dataclass
class Pace:
    """Knows when tables were last projected, and how long that took."""

    _ended: float = field(default_factory=time.monotonic)
    _took: float = 0.0

    def is_due(self) -> bool:
        """Whether they should be projected again, although the head is not reached."""
        return time.monotonic() - self._ended > max(SECONDS, TIMES * self._took)

    def took(self, began: float) -> None:
        """Tables were projected from then, on the monotonic clock, until now."""
        self._ended = time.monotonic()
        self._took = self._ended - began
