"""The files of a source that are read in place.

Who reads them again finds them as they were when they landed, or an error says which of them are not.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.drivers.ingest.file_faults import WAITS
from windrow.drivers.ingest.in_place.files.ahead import FilesAhead, states
from windrow.drivers.ingest.in_place.files.cached import CachedRows
from windrow.drivers.ingest.in_place.files.rows import (
    file_of,
    narrow_rows,
    rows_of_step,
    rows_of_steps,
    widened,
    with_headers,
    with_parts,
    with_row,
)
from windrow.drivers.ingest.in_place.origin import Next
from windrow.drivers.ingest.in_place.placing import judged_in_place, without_those_out
from windrow.sources.batch_files import offset_of
from windrow.sources.files import files_of
from windrow.sources.unreadable import is_of_a_file, sort_out
from windrow.sources.verdicts import unread
from windrow.spec.errors import SourceUnavailable, SpecError
from windrow.spec.sources.files import FileFormat, Files
from windrow.spec.sources.source import Source
from windrow.store.delta.file_system import FileState
from windrow.store.delta.log.commits import Commit
from windrow.store.upstream.in_place import Part, RawInPlace, Step, counted
from windrow.store.upstream.places import END, FILES, LandedFile, Reading

_log = logging.getLogger("windrow")

LOOKS = 3
"""How often a step is tried whose files change or fail meanwhile."""


@dataclass
class FilesOrigin:
    """The files under the path of a source."""

    source: Source
    _cached: CachedRows = field(default_factory=CachedRows, init=False, repr=False)
    _expected: frozenset[str] | None = field(default=None, init=False, repr=False)
    _ahead: FilesAhead = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._ahead = FilesAhead(self.source, self.files)

    @property
    def files(self) -> Files:
        return files_of(self.source)

    def look(self, spark: SparkSession) -> None:
        self._ahead.look(spark)

    def next(self, spark: SparkSession, raw: RawInPlace, last: Commit | None) -> Next:
        portions = self._ahead.portions(spark, raw, 0 if last is None else last.step)
        return Next(portions, {END: {FILES: self._ahead.number_landed + len(portions)}})

    def expect(self, columns: frozenset[str] | None) -> None:
        self._expected = columns
        if columns is None:
            self._cached.forget_all()

    def landed(self, spark: SparkSession, parts: tuple[Part, ...]) -> Step:
        """A file that cannot be read is a part that says why; one that changes meanwhile is read again."""
        for look in range(LOOKS):
            try:
                parts = with_headers(spark, self.source, parts)
                self._cache(spark, parts)
                narrow = self._narrow(spark, parts)
                found = counted(self._rows(spark, parts) if narrow is None else narrow)
            except Exception as failure:
                self._cached.forget(parts[0].step)
                if not is_of_a_file(failure) or look == LOOKS - 1:
                    raise
                parts = self._sorted_out(spark, parts)
                continue
            changed = self._changed(spark, parts)
            if not changed:
                return Step(parts, found, is_fresh=True)
            self._cached.forget(parts[0].step)
            parts = tuple(_as_it_is(part, changed[part.offset]) if part.offset in changed else part for part in parts)
            if look < LOOKS - 1:
                time.sleep(WAITS[look])
        raise SourceUnavailable(self.source.name, "files change while they are read")

    def rows(self, spark: SparkSession, parts: Sequence[Part], checks: bool) -> DataFrame:
        """Whoever has landed them, somebody else may have changed a file since."""
        changed = self._changed(spark, parts)
        if changed:
            raise self._lost(parts, changed)
        return self._rows(spark, parts)

    def narrow(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame | None:
        """Of what has just landed and is cached."""
        return None if self._changed(spark, parts) else self._narrow(spark, parts)

    def is_own(self, end: Mapping[str, Any]) -> bool:
        return FILES in end

    def _rows(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame:
        rules = _rules(parts)
        frames = self._failed(spark, parts)
        known = [part for part in parts if file_of(part).why is None]
        for reading in dict.fromkeys(file_of(part).reading for part in known):
            alike = [part for part in known if file_of(part).reading == reading]
            if len({part.step for part in alike}) == 1:
                rows = with_parts(self.source, rows_of_step(spark, self.source, alike), alike, rules)
            else:
                rows = rows_of_steps(spark, self.source, alike, rules)
            frames.append(judged_in_place(self.source, with_row(self.source, rows, reading), rules))
        return without_those_out(reduce(DataFrame.unionByName, frames), parts)

    def _narrow(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame | None:
        first = {part.step: part for part in reversed(parts)}
        cached = {step: self._cached.rows(step) for step in first}
        if any(part.out is not None for part in parts) or None in cached.values():
            return None
        rules = _rules(parts)
        frames = self._failed(spark, parts)
        for step, rows in cached.items():
            if rows is not None:
                placed = widened(self.source, rows, first[step], rules)
                frames.append(judged_in_place(self.source, placed, rules))
        return reduce(DataFrame.unionByName, frames)

    def _failed(self, spark: SparkSession, parts: Sequence[Part]) -> list[DataFrame]:
        """A row for each file that could not be read, by steps."""
        found = []
        for step, clock in {part.step: part.clock for part in parts}.items():
            of_step = [part for part in parts if part.step == step]
            failed = {part.offset: why for part in of_step if (why := file_of(part).why) is not None}
            if failed:
                found.append(unread(spark, self.source, failed, step, clock))
        return found

    def _cache(self, spark: SparkSession, parts: Sequence[Part]) -> None:
        """Of text files, which take longest to read. Where there are rules, all columns may be judged."""
        known = [part for part in parts if file_of(part).why is None]
        if self._expected is None or not known or self.files.format is FileFormat.PARQUET:
            return
        has_rules = any(json.loads(part.rules) for part in parts)
        columns = frozenset(map(str.lower, self.source.columns)) if has_rules else self._expected
        alike = {reading: [one for one in known if file_of(one).reading == reading] for reading in map(_reading, known)}
        rows = reduce(
            DataFrame.unionByName, [narrow_rows(spark, self.source, some, columns) for some in alike.values()]
        )
        self._cached.keep(parts[0].step, rows, sum(file_of(part).size for part in known))

    def _sorted_out(self, spark: SparkSession, parts: Sequence[Part]) -> tuple[Part, ...]:
        """The parts, of which those that cannot be read say why. Errors: those of `sort_out`."""
        paths = [unquote(part.offset) for part in parts if file_of(part).why is None]
        found = sort_out(spark, self.source, self.files, paths, WAITS, time.sleep)
        failed = {offset_of(spark, path): why for path, why in found.failed.items()}
        for offset, why in failed.items():
            _log.warning("windrow: source %s: %s cannot be read: %s", self.source.name, unquote(offset), why)
        return tuple(
            replace(part, action=replace(file_of(part), why=failed[part.offset]).action) if part.offset in failed
            else part for part in parts
        )  # fmt: skip

    def _changed(self, spark: SparkSession, parts: Sequence[Part]) -> dict[str, FileState | None]:
        """The files that are not as they were when they landed, as they are now."""
        landed = {part.offset: file_of(part) for part in parts if file_of(part).why is None}
        found = states(spark, [*landed])
        return {offset: now for offset, now in found.items() if now is None or not _is_as(landed[offset], now)}

    def _lost(self, parts: Sequence[Part], changed: Mapping[str, FileState | None]) -> SpecError:
        (*_, one) = (part for part in parts if part.offset in changed)
        what = "is not there any more" if changed[one.offset] is None else "has changed since it landed"
        rule = f"are read in place, and {unquote(one.offset)}, of landing step {one.step}, {what}"
        hint = "put it back as it was; with `copy: true` and a new lake path rows are kept there"
        return SpecError(f"sources.{self.source.name}.files", rule, self.files.path, hint)


def _reading(part: Part) -> Reading:
    return file_of(part).reading


def _is_as(landed: LandedFile, now: FileState) -> bool:
    """Whether a file is the one that landed."""
    return (now.size, now.modified) == (landed.size, landed.modified)


def _as_it_is(part: Part, now: FileState | None) -> Part:
    """The part with its file as it is now; one that is gone will fail when it is read."""
    if now is None:
        return part
    return replace(part, action=replace(file_of(part), size=now.size, modified=now.modified).action)


def _rules(parts: Sequence[Part]) -> list[str]:
    """All that judge rows of these parts."""
    return list(dict.fromkeys(part.rules for part in parts))
