"""The rows of files that have just landed, which somebody is about to read: held in memory, and made of text once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import DataFrame

LONGEST = 512 * 1024 * 1024
"""So many bytes of files are cached; a landing step with more is not."""


@dataclass
class CachedRows:
    """The rows of the newest steps. What Spark has no room for in memory it puts on its disk."""

    _steps: OrderedDict[int, tuple[DataFrame, int]] = field(default_factory=OrderedDict)

    def keep(self, step: int, rows: DataFrame, size: int) -> None:
        """Hold the rows of a step, of files with so many bytes, in place of older ones. The first reader makes them."""
        if size > LONGEST:
            return
        rows.persist(StorageLevel.MEMORY_AND_DISK)
        self._steps[step] = rows, size
        while sum(known for _, known in self._steps.values()) > LONGEST:
            self.forget(next(iter(self._steps)))

    def forget(self, *steps: int) -> None:
        """Let go of the rows of steps."""
        for step in steps:
            found = self._steps.pop(step, None)
            if found is not None:
                found[0].unpersist()

    def forget_all(self) -> None:
        """Let go of all rows."""
        self.forget(*self._steps)

    def rows(self, step: int) -> DataFrame | None:
        """The rows of a step, if they are held."""
        found = self._steps.get(step)
        return None if found is None else found[0]
