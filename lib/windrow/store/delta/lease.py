"""The lease of a lake: streams let a batch go first while it is taken.

A step of a log belongs to whoever commits it first, and a tick is quicker than a backfill: beside a busy stream a batch
would be overtaken each time. One that was overtaken holds the lease until it is done, and streams begin no tick
meanwhile. No result rests on that: a stream that does not see it in time only costs the batch one more attempt. It is
taken for a minute at a time, so that of a batch that was killed ends by itself.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from windrow.store.delta.file_system import delete_file, file_state, read_text, write_file
from windrow.store.delta.location import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LASTS = 60.0
"""Seconds for which it is taken."""
RENEWED = 15.0
"""Seconds after which whoever holds it takes it again."""
MOST = 3600.0
"""Seconds for which it is held: no stream waits longer for one batch."""
LOOK = 0.2
"""Seconds between two looks of a stream that waits."""


@dataclass(frozen=True)
class Lease:
    """The lease of a lake is a file: it is taken for LASTS seconds from when that was written.

    The time of writing is the file system's. Clocks that differ by more than that make the lease one that nobody holds.
    """

    spark: SparkSession
    path: str
    holder: str = field(default_factory=lambda: uuid4().hex)
    """Who takes it by this value."""

    @classmethod
    def of(cls, spark: SparkSession, lake: Lake) -> Lease:
        return cls(spark, lake.internal("lease").path)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold it within, for MOST seconds at most."""
        stop = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(stop,), name="lease", daemon=True)
        self.take()
        renewing.start()
        try:
            yield
        finally:
            stop.set()
            renewing.join()
            self.give_back()

    def take(self) -> None:
        """Take it, for LASTS seconds, in the place of whoever holds it."""
        with _faults_aside():
            write_file(self.spark, self.path, json.dumps({"holder": self.holder}).encode())

    def give_back(self) -> None:
        """Nobody holds it any more, unless another batch has taken it meanwhile."""
        with _faults_aside():
            if self._read().get("holder") == self.holder:
                delete_file(self.spark, self.path)

    def is_taken(self) -> bool:
        """Whether a batch is to go first now."""
        with _faults_aside():
            state = file_state(self.spark, self.path)
            if state is not None and abs(time.time() - state.modified / 1000) < LASTS:
                if not self._has_holder():
                    time.sleep(LOOK)
                return self._has_holder()
        return False

    def wait(self, stop: threading.Event) -> None:
        """Return when nobody holds it, or when `stop` is set."""
        while self.is_taken() and not stop.wait(LOOK):
            pass

    def _renew(self, stop: threading.Event) -> None:
        until = time.monotonic() + MOST
        while not stop.wait(RENEWED) and time.monotonic() < until:
            with _faults_aside():
                if self._read().get("holder") in (None, self.holder):  # else that of another batch, which goes first
                    self.take()

    def _has_holder(self) -> bool:
        """On some file systems a file that is written again is empty for a moment."""
        return "holder" in self._read()

    def _read(self) -> dict[str, Any]:
        """What stands in the file; nothing where it is being taken, or given back, in this moment."""
        try:
            return dict(json.loads(read_text(self.spark, self.path) or "{}"))
        except json.JSONDecodeError:
            return {}


def _faults_aside() -> suppress:
    """Nothing fails by what a file system says of the lease, as no result rests on it."""
    from py4j.protocol import Py4JError

    return suppress(OSError, Py4JError)
