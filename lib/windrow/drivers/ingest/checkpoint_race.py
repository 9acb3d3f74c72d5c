"""Several that land one source: a query that loses the race for the checkpoint waits a little and starts again.

That is harmless, as landing is idempotent: `raw` has each batch of a query once, whoever came first. On a file system
of this machine a lock keeps them apart, so that they do not even meet; on others they find out by the files of the
checkpoint that are there already.
"""

from __future__ import annotations

import fcntl
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from pyspark.sql.streaming.query import StreamingQuery

from windrow.sources.readers import words_of
from windrow.store.delta.log.retries import StepTaken

FRUITLESS = 30
"""How many races are lost, without a step that anybody has landed in between, before the error is raised."""
_LEAST, _MOST = 0.1, 1.0
"""Seconds between two attempts; each is drawn anew, so that two do not meet for ever."""

_LOST = re.compile(
    r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY|Multiple streaming (?:jobs|queries)|"
    r"another (?:streaming )?query with same id|"
    r"(?:FileAlreadyExists|RemoteFileChanged)Exception[^\n]*/_windrow/checkpoints/|"
    r"FileNotFoundException[^\n]*/_windrow/checkpoints/|Failed to rename temp file[^\n]*/_windrow/checkpoints/"
)


def is_lost_race(failure: BaseException, fault: BaseException | None = None) -> bool:
    """Whether a landing query has failed because another one is at work, on its checkpoint or on `raw`.

    `fault` is what its last batch has failed with. Of the query's own failure only Spark's and Hadoop's words are left.
    """
    return isinstance(fault, StepTaken) or _LOST.search(words_of(failure)) is not None


class LandingRun:
    """The landing of what is there now: a query, and another one where it has lost a race, until one has ended well.

    `progress` gives the newest landing step, `fault` what the last batch has failed with; `ended` is called when a
    query has ended. Whoever starts it looks at `is_active` until it is False, as that is where it starts again; or ends
    it with `stop`.
    """

    def __init__(
        self,
        start: Callable[[], StreamingQuery | None],
        checkpoint: str,
        progress: Callable[[], int],
        fault: Callable[[], Exception | None] = lambda: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self.failure: Exception | None = None
        self._start, self._progress, self._fault, self._ended = start, progress, fault, ended
        self._lock = CheckpointLock(checkpoint)
        self._query: StreamingQuery | None = None
        self._again: float | None = None
        self._lost, self._seen = 0, -1
        self._attempt()

    @property
    def is_begun(self) -> bool:
        """Whether there was anything to land, or another one is at it."""
        return self._query is not None or self._again is not None

    @property
    def is_active(self) -> bool:
        """Whether it is at work, or will be again."""
        if self._again is not None:
            if time.monotonic() >= self._again:
                try:
                    self._attempt()
                except Exception as error:  # as that of a query: at the first attempt there was none
                    self.failure = error
            return self._again is not None or self._query is not None
        if self._query is None or self._query.isActive:
            return self._query is not None
        failure, self._query = self._query.exception(), None
        self._ended()
        self._lock.release()
        if failure is not None:
            self._failed(failure)
        return self._again is not None

    def wait(self, seconds: float) -> None:
        """Wait until it has ended or must start again, but not longer."""
        if self._again is not None:
            time.sleep(max(0.0, min(seconds, self._again - time.monotonic())))
        elif self._query is not None:
            try:
                self._query.awaitTermination(seconds)  # type: ignore[arg-type]
            except Exception:  # is_active asks it for its failure
                return

    def stop(self) -> None:
        """End it where it is: what its batch has not committed comes again with the next run."""
        query, self._query, self._again = self._query, None, None
        if query is not None:
            query.stop()
            self._ended()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _attempt(self) -> None:
        self._again = None
        if not self._lock.is_taken():
            return self._later()
        try:
            self._query = self._start()
        except Exception as failure:
            self._lock.release()
            if not is_lost_race(failure):
                raise
            return self._failed(failure)
        if self._query is None:
            self._lock.release()

    def _failed(self, failure: Exception) -> None:
        """Go on after a lost race; keep any other failure, and that of races without an end."""
        step = self._progress()
        self._lost = self._lost + 1 if step == self._seen else 1
        self._seen = step
        if is_lost_race(failure, self._fault()) and self._lost <= FRUITLESS:
            self._later()
        else:
            self.failure = failure

    def _later(self) -> None:
        self._again = time.monotonic() + random.uniform(_LEAST, _MOST)


class CheckpointLock:
    """A lock on a checkpoint on a file system of this machine, as long as the process lives; elsewhere none.

    There it matters most: Hadoop's local file system puts a file of the checkpoint in place of one that another process
    has put there in the same instant, so that both go on.
    """

    def __init__(self, checkpoint: str) -> None:
        path = checkpoint.removeprefix("file:")
        self._path = None if "://" in path else Path(re.sub("^/+", "/", path) + ".lock")
        self._file: TextIO | None = None

    def is_taken(self) -> bool:
        """Take it, if nobody has it; where there can be none, yes."""
        if self._path is None or self._file is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        except OSError:  # a file system without locks
            file.close()
            self._path = None
            return True
        self._file = file
        return True

    def release(self) -> None:
        """Let others have it."""
        if self._file is not None:
            self._file.close()
            self._file = None
