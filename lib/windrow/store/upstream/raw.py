"""The raw log of a source: every row that was read, one commit a landing batch, with envelope and verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.elements.envelope import (
    ARRIVAL_TIME,
    ENVELOPE,
    FORGOTTEN,
    OFFSET,
    PARTITION,
    QUARANTINED,
    REASON,
    ROW,
    RULE,
    STEP,
    file_of,
)
from windrow.compile.elements.evolution import as_now, with_defaults
from windrow.compile.sql.columns import Column, any_of, call, coalesce, col, lit
from windrow.engine.frames import group, local, select, where
from windrow.engine.tick.statistics import LandedRows
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.table_columns import ENVELOPE_TYPES
from windrow.spec.sources.evolution import Landed, Resolved, resolved
from windrow.spec.sources.source import Source
from windrow.store.delta.location import REWRITES, Lake
from windrow.store.delta.log.commits import Commit, Notes
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.steps import LOOK_BACK
from windrow.store.projections.creation import struct_of
from windrow.store.upstream.places import IN_PLACE
from windrow.store.upstream.raw_files import COUNTED, PARQUET, is_counted_alive, landed_in, landing_in

MOVED = "moved"
"""The note of a landing step: which column has moved to which other one, since its type or its name has changed."""
COLUMNS = "columns"
"""The note of a landing step: the columns of the source, as the run knew them that has landed it."""
FILES = "files"
"""The note of a landing step: how many files its batch had."""
_LANDING = f"{STEP} bigint, landed_at bigint, files bigint, rows bigint, dead bigint"


@dataclass(frozen=True)
class Raw:
    """The raw log of one source. Its steps are those of the landing batches.

    `source` says which columns its rows have now, where those that landed may have had others; without it they have
    those of the table.
    """

    name: str
    log: StepLog
    source: Source | None
    _resolved: list[Resolved] = field(default_factory=list, repr=False, compare=False, kw_only=True)
    _first: list[int] = field(default_factory=list, repr=False, compare=False, kw_only=True)

    @classmethod
    def of(cls, lake: Lake, name: str, source: Source | None = None) -> Raw:
        """The raw log of the source of that name."""
        return cls(name, StepLog(*lake.raw(name), indexed=len(COUNTED), parquet=PARQUET), source)

    def check(self, spark: SparkSession) -> None:
        """Refuse a column whose rows have landed with a type from which there is no way. Errors: SpecError."""
        if self.source is None or not self.log.location.exists(spark):
            return
        columns = set(self.log.location.read(spark).columns)
        if IN_PLACE in columns and ROW not in columns:
            rule = "is to be copied, and its rows were read in place before, so that the lake has none of them"
            hint = "copy: false, or take a new lake path (--set lake=...)"
            raise SpecError(f"sources.{self.name}", rule, None, hint)
        self.resolved(spark)

    def resolved(self, spark: SparkSession) -> Resolved | None:
        """Where the columns of the source are in the table, as it was at the first look. Errors: SpecError."""
        if self.source is None:
            return None
        if not self._resolved:
            last = self.log.last(spark)
            types: Mapping[str, str] = {}
            if last is not None:
                fields = self.log.location.read(spark).schema.fields
                types = {one.name: one.dataType.simpleString() for one in fields if one.name not in ENVELOPE}
            found = resolved(self.source, Landed(types, {} if last is None else last.notes.get(MOVED, {})))
            before = {name: types[name] for one in found.places.values() for name in one.before}
            self.log.schema = _columns({**found.types, **before})
            self._resolved.append(found)
        return self._resolved[0]

    def last(self, spark: SparkSession) -> Commit | None:
        """The newest landing step.

        Raises SpecError where another run has landed it with columns of which this run knows nothing: what either reads
        or lands would lack values that the files have.
        """
        found, commit = self.resolved(spark), self.log.last(spark)
        if not self._first:
            self._first.append(0 if commit is None else commit.step)
        if self.source is None or commit is None or commit.step <= self._first[0]:
            return commit
        known = {name.lower() for name in self.source.schema}
        unknown = [name for name in commit.notes.get(COLUMNS, ()) if name.lower() not in known]
        places = {} if found is None else found.places
        others = [name for name, one in places.items() if one.written in commit.notes.get(MOVED, {})]
        if unknown or others:
            name = (others or unknown)[0]
            what = "has another type or name" if others else "is a column"
            rule = f"{what} in landing step {commit.step}, which another run has landed with its pipeline file"
            hint = (
                "end this run and go on with that file"
                if others
                else "name it in this file too: no stage changes by it"
            )
            raise SpecError(f"sources.{self.name}.schema.{name}", rule, None, hint)
        return commit

    def append(self, frame: DataFrame, step: int, notes: Notes) -> None:
        """Append rows of the source, with their envelope, as a landing step. Raises StepTaken."""
        found = self.resolved(frame.sparkSession)
        if found is not None:
            written = {one.written: col(name) for name, one in found.places.items()}
            if any(one.written != name for name, one in found.places.items()):
                frame = select(frame, {**{name: col(name) for name in ENVELOPE}, **written})
            notes = {**notes, MOVED: dict(found.moved)} if found.moved else notes
        self.log.append(frame, step, self.with_columns(notes))

    def with_columns(self, notes: Notes) -> Notes:
        """The notes of a landing step, with the columns that its rows have."""
        return notes if self.source is None else {**notes, COLUMNS: [*self.source.schema]}

    def last_step(self, spark: SparkSession) -> int:
        """The newest landing step; 0 before the first. Errors: those of `last`."""
        commit = self.last(spark)
        return 0 if commit is None else commit.step

    def has_rows(self, after: int, until: int) -> bool:
        return True

    def quarantined(self, spark: SparkSession) -> int:
        """The last step that took rows out, which may change what earlier steps hold; 0 where there is none."""
        return self.quarantined_at(self.log.last(spark))

    @staticmethod
    def quarantined_at(commit: Commit | None) -> int:
        """What a step says of the last step, up to itself, that took rows out."""
        return 0 if commit is None else int(commit.notes.get(QUARANTINED, 0))

    @staticmethod
    def quarantining(last: Commit, step: int) -> Notes:
        """The notes of a step that takes rows out, behind the newest one."""
        return {**last.notes, QUARANTINED: step, REWRITES: True}

    def take_out(self, spark: SparkSession, last: Commit, offset: str) -> None:
        """Take the rows of a file out, in the step behind the last one. Raises StepTaken where another has it."""
        step = last.step + 1
        with self.log.stepping(spark, step, self.quarantining(last, step)):
            out = dict(zip((REASON, RULE), map(lit, quarantine_of(step)), strict=True))
            self.log.location.table(spark).update(is_in(offset).text, {name: value.text for name, value in out.items()})

    def rows_of_file(self, spark: SparkSession, until: int, offset: str) -> DataFrame:
        """The rows of a file that has landed up to a step."""
        return where(self.rows(spark, 0, until), col(OFFSET) == lit(offset))

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until, with the columns of the source and its defaults."""
        self.resolved(spark)
        return self._with_defaults(self._as_now(spark, self.log.rows(spark, after, until, STEP)))

    def _as_now(self, spark: SparkSession, rows: DataFrame) -> DataFrame:
        """Rows of the table with the columns that the source has now."""
        found = self.resolved(spark)
        if found is None or all(one.names == (name,) for name, one in found.places.items()):
            return rows
        types = {one.name: one.dataType.simpleString() for one in rows.schema.fields}
        return select(rows, {**{name: col(name) for name in ENVELOPE}, **as_now(found.places, types)})

    def _with_defaults(self, rows: DataFrame) -> DataFrame:
        """Rows with what the source says that stands where they have no value."""
        if self.source is None or not self.source.defaults:
            return rows
        return select(rows, with_defaults(self.source.schema, self.source.defaults, rows.columns))

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        return None

    def dead(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """Those of these rows that are dead, but for forgotten ones.

        A file is not read of which it is known that all rows are alive.
        """
        self.resolved(spark)
        rows = self.log.rows(spark, after, until, STEP, needs=lambda file: not is_counted_alive(file))
        is_letter = col(REASON).is_not_null() & (col(REASON) != FORGOTTEN)
        return where(self._as_now(spark, rows), is_letter)

    def landings(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """What each of these steps holds: its last arrival, and how many files, rows and dead rows.

        As its commit says; of all of them by a look at their rows where one does not say enough, or was changed since.
        """
        files = self._files_noted(spark, after, until)
        known = {step: landing_in(self.log.files(spark, step - 1, step)) for step in files}
        if len(known) < until - after or None in known.values():
            return self._landings_counted(spark, after, until, files)
        rows = [(step, one.arrival, files[step], one.rows, one.dead) for step, one in known.items() if one and one.rows]
        return local(spark, rows, struct_of(_LANDING))

    def _files_noted(self, spark: SparkSession, after: int, until: int) -> dict[int, int]:
        """How many files each of these steps had, as far back as commits are known that say so."""
        noted: dict[int, int] = {}
        for step in range(until, max(after, until - LOOK_BACK), -1):
            commit = self.log.commit(spark, step)
            if commit is None:
                break
            if FILES in commit.notes:
                noted[step] = commit.notes[FILES]
        return noted

    def _landings_counted(self, spark: SparkSession, after: int, until: int, files: Mapping[int, int]) -> DataFrame:
        """The same, by a look at the rows: files that have none are known only where the commit says how many."""
        counted = call("count", Column(f"DISTINCT {file_of().text}"))
        noted = call("element_at", call("map", *(one for pair in files.items() for one in pair)), col(STEP))
        counts = {
            "landed_at": call("max", col(ARRIVAL_TIME)),
            "files": coalesce(noted, counted) if files else counted,
            "rows": call("count", 1),
            "dead": call("count_if", col(REASON).is_not_null()),
        }
        return group(self.rows(spark, after, until), (STEP,), counts)

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        """By what Delta has counted in their files; None where a file does not say enough, or all rows are dead."""
        return landed_in(self.log.files(spark, after, until) or ())

    def offsets(self, spark: SparkSession) -> dict[str, int]:
        """The greatest offset of each partition, of a source whose offsets are numbers."""
        until = self.last_step(spark)
        if until == 0:
            return {}
        greatest = {"offset": call("max", col(OFFSET).cast("bigint"))}
        rows = group(self.rows(spark, 0, until), (PARTITION,), greatest).collect()
        return {row[PARTITION]: row["offset"] for row in rows}

    def files(self, spark: SparkSession, until: int) -> DataFrame:
        """The paths of the files that the steps up to `until` hold, each once."""
        return self.rows(spark, 0, until).select(OFFSET).distinct()


def _columns(types: Mapping[str, str]) -> StructType:
    """The envelope and these columns, as they stand in the table."""
    own = Schema([*Schema.parse(ENVELOPE_TYPES).items(), *types.items()])
    return struct_of(own.ddl)


def is_in(offset: str) -> Column:
    """Whether a row of the file is not in quarantine yet; one that is forgotten, or being so, keeps its reason."""
    return (col(OFFSET) == lit(offset)) & ~any_of(col(REASON).same(lit(name)) for name in (QUARANTINED, FORGOTTEN))


def quarantine_of(step: int) -> tuple[str, str]:
    """The reason of rows that are taken out in a step, and the rule."""
    return QUARANTINED, f"the file was quarantined in landing step {step}"
