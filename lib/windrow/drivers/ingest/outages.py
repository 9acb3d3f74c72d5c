"""Sources that cannot be reached for a while: a stream that runs asks again, one that starts says so and ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from windrow.spec.errors import SourceUnavailable

T = TypeVar("T")

LONGEST = 15 * 60.0
"""Seconds for which a source is asked again before the stream gives up."""

_log = logging.getLogger("windrow")


@dataclass
class Outages:
    """The sources that cannot be reached, and since when. `is_patient`: they are asked again by the next cycle."""

    is_patient: bool = False
    clock: Callable[[], float] = time.monotonic
    _since: dict[str, float] = field(default_factory=dict)

    def tried(self, source: str, start: Callable[[], T]) -> T | None:
        """What `start` gives; None where the source cannot be reached and will be asked again. Errors: those of it."""
        try:
            return start()
        except SourceUnavailable as failure:
            self.failed(source, failure)
            return None

    def failed(self, source: str, failure: Exception) -> None:
        """Wait out an outage, with a warning when it begins; raise anything else, and an outage that lasts."""
        if not isinstance(failure, SourceUnavailable) or not self.is_patient:
            raise failure
        if source not in self._since:
            _log.warning("windrow: %s; it is asked again", failure)
        if self.clock() - self._since.setdefault(source, self.clock()) > LONGEST:
            raise failure

    def over(self, source: str) -> None:
        """The source has answered."""
        if self._since.pop(source, None) is not None:
            _log.warning("windrow: source %s can be reached again", source)
