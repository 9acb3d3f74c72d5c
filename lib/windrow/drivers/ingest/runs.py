"""The landing of what is there now, as whoever has started it sees it."""

from __future__ import annotations

from typing import Protocol


class Run(Protocol):
    """A landing at work. Whoever starts it looks at `is_active` until it is False, or ends it with `stop`."""

    failure: Exception | None

    @property
    def is_active(self) -> bool:
        """Whether it is at work, or will be again."""

    def wait(self, seconds: float) -> None:
        """Wait until it has come further, or do the next step of it."""

    def stop(self) -> None:
        """End it where it is."""
