"""A landing in place at work: a step at a time, beside whoever has started it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait


class InPlaceRun:
    """A landing at work, as `LandingRun` is. The next step begins when somebody looks whether it is active.

    So it is one step ahead of who reads what has landed, and no more.
    """

    def __init__(self, land: Callable[[], bool]) -> None:
        self.failure: Exception | None = None
        self._land = land
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="landing")
        self._step: Future[bool] | None = None
        self._is_over = False

    @property
    def is_active(self) -> bool:
        """Whether there may be more to land. Raises what is no Exception, as it ends the process."""
        if self._step is not None and self._step.done() and not self._is_over:
            self._ended(self._step)
        if self._step is None and not self._is_over:
            self._step = self._pool.submit(self._land)
        return not self._is_over

    def _ended(self, step: Future[bool]) -> None:
        self._step, failure = None, step.exception()
        if failure is None and step.result():
            return
        self.stop()
        if isinstance(failure, Exception):
            self.failure = failure
        elif failure is not None:
            raise failure

    def wait(self, seconds: float) -> None:
        """Wait for the step that lands, but not longer."""
        if self._step is not None:
            wait([self._step], seconds)

    def stop(self) -> None:
        """Land no more than the step that is landing, and wait for that."""
        self._is_over = True
        self._pool.shutdown()
        failure = None if self._step is None else self._step.exception()
        if isinstance(failure, Exception):
            self.failure = failure
