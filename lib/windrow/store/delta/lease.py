"""The lease of a lake: for how long streams let a batch go first.

A step of a log belongs to whoever commits it first, and a tick is quicker than a backfill: beside a busy stream a batch
would be overtaken each time. One that was overtaken takes the lease, and streams begin no tick while it is taken. No
result rests on that: a stream that does not see it in time only costs the batch one more attempt, and the lease of a
batch that was killed ends by itself.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from windrow.store.delta.file_system import delete_file, file_state, read_text, write_file
from windrow.store.delta.location import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST, MOST = 30.0, 600.0
"""Seconds for which a lease is taken, whatever is wanted."""
LOOK = 0.2
"""Seconds between two looks of a stream that waits."""


@dataclass(frozen=True)
class Lease:
    """The lease of a lake is a file: it is taken from when that was written, for as many seconds as stand in it.

    The time of writing is the file system's. Clocks that differ by more than that make the lease one that nobody holds.
    """

    spark: SparkSession
    path: str
    holder: str = field(default_factory=lambda: uuid4().hex)
    """Who takes it by this value."""

    @classmethod
    def of(cls, spark: SparkSession, lake: Lake) -> Lease:
        return cls(spark, lake.internal("lease").path)

    def take(self, seconds: float) -> None:
        """Hold it for so long, LEAST at least and MOST at most; in the place of whoever holds it."""
        content = {"holder": self.holder, "seconds": min(MOST, max(LEAST, seconds))}
        write_file(self.spark, self.path, json.dumps(content).encode())

    def give_back(self) -> None:
        """Nobody holds it any more, unless another batch has taken it meanwhile."""
        if self._read().get("holder") == self.holder:
            delete_file(self.spark, self.path)

    def is_taken(self) -> bool:
        """Whether a batch is to go first now."""
        state = file_state(self.spark, self.path)
        if state is None:
            return False
        age = abs(time.time() - state.modified / 1000)
        if age > MOST:
            return False
        return bool(age < self._read().get("seconds", 0))

    def wait(self, stop: threading.Event) -> None:
        """Return when nobody holds it, or when `stop` is set."""
        while self.is_taken() and not stop.wait(LOOK):
            pass

    def _read(self) -> dict[str, Any]:
        """What stands in the file; nothing where it is being taken, or given back, in this moment."""
        try:
            return dict(json.loads(read_text(self.spark, self.path) or "{}"))
        except json.JSONDecodeError:
            return {}
