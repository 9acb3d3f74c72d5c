"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], bool], seconds: float = 240, every: float = 0.5) -> None:
    """Wait until something holds. Fails when it has not in so many seconds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not in {seconds:g} s"
        time.sleep(every)
