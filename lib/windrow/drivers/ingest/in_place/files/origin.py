"""The files of a source that are read in place.

Who reads them again finds them as they were when they landed, or an error says which of them are not.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.drivers.ingest.file_faults import WAITS
from windrow.drivers.ingest.in_place.files.ahead import FilesAhead, states
from windrow.drivers.ingest.in_place.files.remembered import Remembered
from windrow.drivers.ingest.in_place.files.rows import (
    file_of,
    narrow_rows,
    rows_of_step,
    rows_of_steps,
    widened,
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
from windrow.store.delta.steps import Commit
from windrow.store.upstream.in_place import Part, RawInPlace, Step, counted
from windrow.store.upstream.places import END, FILES

_log = logging.getLogger("windrow")

LOOKS = 3
"""How often a step is tried whose files change or fail meanwhile."""


@dataclass
class FilesOrigin:
    """The files under the path of a source."""

    source: Source
    _remembered: Remembered = field(default_factory=Remembered, init=False, repr=False)
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
            self._remembered.forget_all()

    def landed(self, spark: SparkSession, parts: tuple[Part, ...]) -> Step:
        """A file that cannot be read is a part that says why."""
        for look in range(LOOKS):
            self._remember(spark, parts)
            try:
                narrow = self.narrow(spark, parts)
                found = counted(self.rows(spark, parts, False) if narrow is None else narrow)
            except Exception as failure:
                self._remembered.forget(parts[0].step)
                if not is_of_a_file(failure) or look == LOOKS - 1:
                    raise
                parts = self._sorted_out(spark, parts)
                continue
            changed = self._as_they_are(spark, parts)
            if changed == parts:
                return Step(parts, found, is_fresh=True)
            self._remembered.forget(parts[0].step)
            parts = changed
        raise SourceUnavailable(self.source.name, "files change while they are read")

    def rows(self, spark: SparkSession, parts: Sequence[Part], checks: bool) -> DataFrame:
        if checks:
            self._check(spark, parts)
        rules = _rules(parts)
        frames = self._failed(spark, parts)
        known = [part for part in parts if file_of(part).why is None]
        if len({part.step for part in known}) == 1:
            rows = rows_of_step(spark, self.source, self.files, known)
            rows = with_parts(self.source, rows, known, rules)
            frames.append(self._judged(rows, file_of(known[0]).columns, rules))
        elif known:
            frames += self._of_steps(spark, known, rules)
        return without_those_out(reduce(DataFrame.unionByName, frames), parts)

    def narrow(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame | None:
        """Of what has just landed and is remembered."""
        first = {part.step: part for part in reversed(parts)}
        remembered = {step: self._remembered.rows(step) for step in first}
        if any(part.out is not None for part in parts) or None in remembered.values():
            return None
        rules = _rules(parts)
        frames = self._failed(spark, parts)
        for step, rows in remembered.items():
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

    def _of_steps(self, spark: SparkSession, parts: Sequence[Part], rules: Sequence[str]) -> list[DataFrame]:
        """Apart by the columns that the source had when they landed."""
        found = []
        for columns in dict.fromkeys(file_of(part).columns for part in parts):
            alike = [part for part in parts if file_of(part).columns == columns]
            rows = rows_of_steps(spark, self.source, self.files, alike, rules)
            found.append(self._judged(rows, columns, rules))
        return found

    def _judged(self, rows: DataFrame, columns: tuple[str, ...], rules: Sequence[str]) -> DataFrame:
        return judged_in_place(self.source, with_row(self.source, rows, columns), rules)

    def _remember(self, spark: SparkSession, parts: Sequence[Part]) -> None:
        """Of text files, which take longest to read. Where there are rules, all columns may be judged."""
        known = [part for part in parts if file_of(part).why is None]
        if self._expected is None or not known or self.files.format is FileFormat.PARQUET:
            return
        has_rules = any(json.loads(part.rules) for part in parts)
        columns = frozenset(map(str.lower, self.source.columns)) if has_rules else self._expected
        rows = narrow_rows(spark, self.source, self.files, known, columns)
        self._remembered.keep(parts[0].step, rows, sum(file_of(part).size for part in known))

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

    def _as_they_are(self, spark: SparkSession, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts, with the files as they stand now."""
        found = self._states(spark, parts)
        return tuple(
            replace(part, action=replace(file_of(part), size=state.size, modified=state.modified).action)
            if (state := found.get(part.offset)) is not None and not _is_as(part, state) else part for part in parts
        )  # fmt: skip

    def _check(self, spark: SparkSession, parts: Sequence[Part]) -> None:
        """Raises SpecError where a file is gone, or is another one than the one that landed."""
        found = self._states(spark, parts)
        lost = [part for part in parts if part.offset in found and not _is_as(part, found[part.offset])]
        if lost:
            one = lost[-1]
            what = "is not there any more" if found[one.offset] is None else "has changed since it landed"
            rule = f"are read in place, and {unquote(one.offset)}, of landing step {one.step}, {what}"
            hint = "put it back as it was; with `copy: true` and a new lake path rows are kept there"
            raise SpecError(f"sources.{self.source.name}.files", rule, self.files.path, hint)

    @staticmethod
    def _states(spark: SparkSession, parts: Sequence[Part]) -> dict[str, FileState | None]:
        return states(spark, [part.offset for part in parts if file_of(part).why is None])


def _is_as(part: Part, state: FileState | None) -> bool:
    """Whether a file is the one that landed."""
    landed = file_of(part)
    return state is not None and (state.size, state.modified) == (landed.size, landed.modified)


def _rules(parts: Sequence[Part]) -> list[str]:
    """All that judge rows of these parts."""
    return list(dict.fromkeys(part.rules for part in parts))
