"""What of a Delta table's own log has not landed yet, in parts: files that were added, or whole versions of a feed.

Positions are those of Delta's stream: a version, the number of a file within it, and whether it is one of the rows that
the table held when it was first read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from windrow.drivers.ingest.in_place.origin import Portion
from windrow.sources.delta import rows_taken_out
from windrow.spec.errors import SpecError
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.source import Source
from windrow.store.delta.foreign import Change, ForeignTable, Snapshot
from windrow.store.upstream.places import CHANGES, END, path_of


@dataclass(frozen=True)
class Position:
    """Where to go on: behind `index` files of a version. `table` is the identity of the table."""

    table: str
    version: int
    index: int = 0
    is_first: bool = False

    @classmethod
    def of(cls, notes: Mapping[str, Any]) -> Position:
        return cls(**notes[END])

    @property
    def notes(self) -> dict[str, Any]:
        return {END: asdict(self)}

    @property
    def behind(self) -> Position:
        """The beginning of the next version."""
        return Position(self.table, self.version + 1)


def gone(source: Source, delta: DeltaSource, what: str, oldest: int) -> SpecError:
    """The error where the table keeps something no more that has to be read."""
    rule = f"is read in place, and the table does not keep {what} any more"
    hint = f"it keeps its commits from version {oldest} on; with `copy: true` and a new lake path rows are kept there"
    return SpecError(f"sources.{source.name}.delta", rule, delta.path, hint)


@dataclass
class Ahead:
    """What is ahead in the log of a source's table."""

    source: Source
    delta: DeltaSource
    table: ForeignTable
    _first: tuple[int, list[str]] | None = None

    def portions(self, start: Position, head: Snapshot) -> tuple[list[Portion], Position]:
        """What the next step reads, as far as `head`, and the position behind it; nothing where no rows are ahead.

        Errors: SpecError where the table has changes that cannot be read, or does not keep what is ahead.
        """
        if start.table != head.id:
            raise self._refused("is another table than the one that was read before")
        if start.is_first:
            found, start = self._of_first(start)
            if found:
                return found, start
        found = []
        while start.version <= head.version and self._left(found) > 0:
            change = self._change(start.version)
            if not self.delta.is_feed and change.removes:
                if found:
                    break  # it is refused when what is before it has landed
                raise rows_taken_out(self.source, self.delta, f" in version {change.version}")
            some, start = self._of_change(change, start, self._left(found), head)
            found += some
        return found, start

    def _left(self, found: list[Portion]) -> int:
        """How many files a step may still take."""
        return self.delta.max_files_per_batch - sum(portion.files for portion in found)

    def _of_first(self, start: Position) -> tuple[list[Portion], Position]:
        if self._first is None or self._first[0] != start.version:
            self._first = start.version, self.table.files(self._snapshot(start.version))
        files = self._first[1]
        until = min(start.index + self.delta.max_files_per_batch, len(files))
        found = [self._file(start.version, action) for action in files[start.index : until]]
        return found, start.behind if until == len(files) else replace(start, index=until)

    def _snapshot(self, version: int) -> Snapshot:
        newest = self.table.newest()
        if newest is not None and newest.version == version:
            return newest
        if version < self.table.oldest():
            raise gone(self.source, self.delta, f"version {version}, of which not all rows have landed", self.oldest)
        return self.table.at(version)

    def _change(self, version: int) -> Change:
        change = self.table.change(version)
        if change is None:
            raise gone(self.source, self.delta, f"version {version}, which has not landed", self.oldest)
        return change

    def _of_change(self, change: Change, start: Position, left: int, head: Snapshot) -> tuple[list[Portion], Position]:
        if change.table not in (None, start.table):
            raise self._refused(f"is another table since version {change.version}")
        if self.delta.is_feed:
            portions = [self._changes(change, head)] if change.opened else []
            return portions, start.behind
        until = start.index + left
        portions = [self._file(change.version, action) for action in change.added[start.index : until]]
        return portions, start.behind if until >= len(change.added) else replace(start, index=until)

    def _file(self, version: int, action: str) -> Portion:
        path = path_of(action)
        assert path is not None, "it adds a file"
        return Portion(version, 1, self.table.file_name(path), action)

    def _changes(self, change: Change, head: Snapshot) -> Portion:
        known = {name.lower() for name in self.source.fields.every}
        read = [field for field in head.schema.fields if field.name.lower() in known]
        action = json.dumps({CHANGES: {"columns": {one.name: one.dataType.simpleString() for one in read}}})
        return Portion(change.version, len(change.opened), str(change.version), action)

    @property
    def oldest(self) -> int:
        return self.table.oldest()

    def _refused(self, rule: str) -> SpecError:
        hint = "read it as a source of another name"
        return SpecError(f"sources.{self.source.name}.delta", rule, self.delta.path, hint)
