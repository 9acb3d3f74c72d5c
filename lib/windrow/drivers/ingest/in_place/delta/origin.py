"""A Delta table that a source reads in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.drivers.ingest.in_place.delta.ahead import Ahead, Position
from windrow.drivers.ingest.in_place.delta.rows import check_kept, checked, rows_of
from windrow.drivers.ingest.in_place.origin import Next
from windrow.sources.delta import delta_of
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.foreign import ForeignTable, Snapshot
from windrow.store.delta.log.commits import Commit
from windrow.store.upstream.in_place import Part, RawInPlace, Step, counted
from windrow.store.upstream.places import FILES

PASSED = 50
"""After so many versions without rows a step says where it stands: the table will not keep their commits for ever."""


@dataclass
class DeltaOrigin:
    """The log of the table."""

    source: Source
    _ahead: Ahead | None = field(default=None, init=False, repr=False)
    _head: Snapshot | None = field(default=None, init=False, repr=False)
    _passed: tuple[int, Position] | None = field(default=None, init=False, repr=False)

    def look(self, spark: SparkSession) -> None:
        delta = delta_of(self.source)
        table = ForeignTable(spark, resolve_environment(delta.path))
        self._head = checked(self.source, delta, table)
        if self._ahead is None:
            self._ahead = Ahead(self.source, delta, table)

    def next(self, spark: SparkSession, raw: RawInPlace, last: Commit | None) -> Next:
        """Versions without rows are passed once."""
        assert self._ahead is not None and self._head is not None, "there was a look"
        head, step = self._head, 0 if last is None else last.step
        start = Position(head.id, head.version, is_first=True) if last is None else Position.of(last.notes)
        if self._passed is not None and self._passed[0] == step:
            start = self._passed[1]
        portions, behind = self._ahead.portions(start, head)
        self._passed = None if portions or last is None else (step, behind)
        is_far = last is not None and behind.version - Position.of(last.notes).version >= PASSED
        return Next(portions, behind.notes, is_far)

    def landed(self, spark: SparkSession, parts: tuple[Part, ...]) -> Step:
        try:
            found = counted(rows_of(spark, self.source, parts, checks=False))
        except Exception:
            check_kept(spark, self.source, parts)
            raise
        return Step(parts, found, is_fresh=True)

    def expect(self, columns: frozenset[str] | None) -> None:
        """A table is read by columns, so that it takes little to read them again."""

    def is_own(self, end: Mapping[str, Any]) -> bool:
        return FILES not in end

    def narrow(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame | None:
        return None

    def rows(self, spark: SparkSession, parts: Sequence[Part], checks: bool) -> DataFrame:
        return rows_of(spark, self.source, parts, checks)
