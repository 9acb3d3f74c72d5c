"""Looks at a lake one after the other, so that whoever asks sees the newest, and a failed one ends nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from windrow.drivers.clock import clock_micros
from windrow.sources.java_words import in_one_line
from windrow.spec.errors import WindrowError
from windrow.spec.times import SECOND
from windrow.view.text.times import moment
from windrow.view.watch.look import Look


@dataclass
class Watcher:
    """Looks when it is asked, at most every so many seconds, and one at a time: ten who watch cost as much as one.

    A look that fails behind one that did not is told by `failure` of that one: maintenance may remove what is being
    read, and the next look sees what is there then.
    """

    look: Callable[[], Look]
    every: float
    elapsed: Callable[[], float] = time.monotonic
    clock: Callable[[], int] = clock_micros
    _newest: Look | None = field(default=None, init=False)
    _looked_at: float = field(default=float("-inf"), init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False)

    def newest(self) -> Look:
        """The newest look. Raises whatever the first look raises."""
        with self._turn:
            if self._newest is None or self.elapsed() - self._looked_at >= self.every:
                self._newest = self._look(self._newest)
                self._looked_at = self.elapsed()
            return self._newest

    def _look(self, before: Look | None) -> Look:
        if before is None:
            return self.look()
        try:
            return self.look()
        except Exception as error:  # whatever it is, a later look may not meet it
            now = self.clock()
            what = error.in_words if isinstance(error, WindrowError) else in_one_line(error)
            said = f"The look at {moment(now - now % SECOND)} UTC has failed: {what.removesuffix('.')}."
            return replace(before, failure=f"{said} What is shown is of {before.at}.")
