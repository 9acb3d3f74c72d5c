"""The raw log of a source: every row that was read, one commit a landing batch, with envelope and verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.elements.envelope import (
    ARRIVAL_TIME,
    BEING_FORGOTTEN,
    ENVELOPE,
    EVENT_TIME,
    FORGOTTEN,
    IS_FORGOTTEN,
    OFFSET,
    PARTITION,
    QUARANTINED,
    REASON,
    ROW,
    RULE,
    STEP,
    file_of,
    has_to_go,
)
from windrow.compile.sql.columns import Column, call, col, lit, null
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.statistics import LandedRows
from windrow.spec.errors import SpecError
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.commit_files import AddedFile, FileStatistics
from windrow.store.delta.location import Lake
from windrow.store.delta.rewriting import Rewrite, with_goes
from windrow.store.delta.step_log import StepLog
from windrow.store.delta.steps import REWRITES, Commit, Notes
from windrow.store.upstream.places import IN_PLACE


@dataclass(frozen=True)
class Raw:
    """The raw log of one source. Its steps are those of the landing batches."""

    name: str
    log: StepLog

    @classmethod
    def of(cls, lake: Lake, source: str, schema: StructType | None = None) -> Raw:
        """The raw log; `schema` are the columns that rows have now, where those that landed may have had fewer."""
        return cls(source, StepLog(*lake.raw(source), indexed=len(_COUNTED), schema=schema))

    def check(self, spark: SparkSession) -> None:
        """Refuse a column that has landed with another type than it has now. Errors: SpecError."""
        if self.log.schema is None or not self.log.location.exists(spark):
            return
        landed = {field.name.lower(): field for field in self.log.location.read(spark).schema.fields}
        if IN_PLACE in landed and ROW not in landed:
            rule = "is to be copied, and its rows were read in place before, so that the lake has none of them"
            hint = "copy: false, or take a new lake path (--set lake=...)"
            raise SpecError(f"sources.{self.name}", rule, None, hint)
        for field in self.log.schema.fields:
            before = landed.get(field.name.lower())
            if before is not None and before.dataType.simpleString() != field.dataType.simpleString():
                raise SpecError(
                    f"sources.{self.name}.schema.{field.name}",
                    f"has landed as {before.dataType.simpleString()}",
                    field.dataType.simpleString(),
                    "keep its type and cast it in an expression, or take a new lake path (--set lake=...)",
                )

    def last_step(self, spark: SparkSession) -> int:
        """The newest landing step; 0 before the first."""
        commit = self.log.last(spark)
        return 0 if commit is None else commit.step

    def has_rows(self, after: int, until: int) -> bool:
        return True

    def quarantined(self, spark: SparkSession) -> int:
        """The last step that took a file out, which may change what earlier steps hold; 0 where there is none."""
        return self.quarantined_at(self.log.last(spark))

    @staticmethod
    def quarantined_at(commit: Commit | None) -> int:
        """What a step says of the last step, up to itself, that took a file out."""
        return 0 if commit is None else int(commit.notes.get(QUARANTINED, 0))

    @staticmethod
    def quarantining(last: Commit, step: int) -> Notes:
        """The notes of a step that takes a file out, behind the newest one."""
        return {**last.notes, QUARANTINED: step, REWRITES: True}

    def take_out(self, spark: SparkSession, last: Commit, offset: str) -> None:
        """Take the rows of a file out, in the step behind the last one. Raises StepTaken where another has it."""
        step = last.step + 1
        with self.log.stepping(spark, step, self.quarantining(last, step)):
            out = dict(zip((REASON, RULE), map(lit, quarantine_of(step)), strict=True))
            self.log.location.table(spark).update(is_in(offset).text, {name: value.text for name, value in out.items()})

    def forget(self, spark: SparkSession, last: Commit, tells: Callable[[DataFrame], DataFrame]) -> None:
        """Give rows the reason of those that are being forgotten, in the step behind the last one.

        `tells` says which (`Rewrite`). Raises StepTaken where another writer has the step.
        """
        own = {REASON: lit(FORGOTTEN), RULE: lit(BEING_FORGOTTEN)}
        self._rewrite(spark, last, Rewrite(tells, lambda rows: _with(rows, own)))

    def blank(self, spark: SparkSession, last: Commit, ids: DataFrame, partitions: bool) -> None:
        """Take all values from rows that are being forgotten, by step and number, in the step behind the last one.

        `partitions`: the source partition is none of them. Step, number and offset stay. Raises StepTaken where another
        writer has the step.
        """
        kept = {STEP, ROW, ARRIVAL_TIME, OFFSET, REASON, *([PARTITION] if partitions else [])}

        def becomes(rows: DataFrame) -> DataFrame:
            kinds = dict(rows.dtypes)
            own = {name: col(name) if name in kept else null(kind) for name, kind in kinds.items()}
            return select(rows, {**own, RULE: lit(IS_FORGOTTEN)})

        def tells(rows: DataFrame) -> DataFrame:
            step, row = "_id_step", "_id_row"
            found = with_column(with_column(rows, step, col(STEP)), row, col(ROW))
            named = select(ids, {step: col(STEP), row: col(ROW)})
            return with_goes(found, named, (step, row))

        self._rewrite(spark, last, Rewrite(tells, becomes))

    def _rewrite(self, spark: SparkSession, last: Commit, change: Rewrite) -> None:
        step = last.step + 1
        self.log.rewrite(spark, step, self.quarantining(last, step), change)

    def going(self, spark: SparkSession, until: int) -> DataFrame:
        """The rows up to a step that are being forgotten."""
        return where(self.rows(spark, 0, until), has_to_go())

    def rows_of_file(self, spark: SparkSession, until: int, offset: str) -> DataFrame:
        """The rows of a file that has landed up to a step."""
        return where(self.rows(spark, 0, until), col(OFFSET) == lit(offset))

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until."""
        return self.log.rows(spark, after, until, STEP)

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        return None

    def dead(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """Those of these rows that are dead, but for forgotten ones.

        A file is not read of which it is known that all rows are alive.
        """
        rows = self.log.rows(spark, after, until, STEP, needs=lambda file: not _is_counted_alive(file))
        return where(rows, col(REASON).is_not_null() & (col(REASON) != FORGOTTEN))

    def landings(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """What each of these steps holds: its last arrival, and how many files, rows and dead rows."""
        counts = {
            "landed_at": call("max", col(ARRIVAL_TIME)),
            "files": call("count", Column(f"DISTINCT {file_of().text}")),
            "rows": call("count", 1),
            "dead": call("count_if", col(REASON).is_not_null()),
        }
        return group(self.rows(spark, after, until), (STEP,), counts)

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        """By what Delta has counted in their files; None where a row is dead, or a file does not say enough."""
        files = self.log.files(spark, after, until)
        if not files:
            return None
        greatest: dict[str | None, int] = {}
        arrivals: dict[str | None, int] = {}
        rows, earliest, latest = 0, [], []
        for file in (file.statistics for file in files):
            if not file.rows:
                continue
            partition = _only_partition(file)
            if partition is _SEVERAL or not _is_alive(file):
                return None
            rows += file.rows
            earliest.append(file.least[EVENT_TIME])
            latest.append(file.greatest[EVENT_TIME])
            for known, column in ((greatest, EVENT_TIME), (arrivals, ARRIVAL_TIME)):
                known[partition] = max(known.get(partition, MINUS_INFINITY), file.greatest[column])
        return LandedRows(rows, min(earliest), max(latest), greatest, arrivals) if rows else None

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


def _with(rows: DataFrame, own: Mapping[str, Column]) -> DataFrame:
    """The rows with other values in some of their columns."""
    return select(rows, {name: own.get(name, col(name)) for name in rows.columns})


def is_in(offset: str) -> Column:
    """Whether a row of the file is not in quarantine yet."""
    return (col(OFFSET) == lit(offset)) & ~col(REASON).same(lit(QUARANTINED))


def quarantine_of(step: int) -> tuple[str, str]:
    """The reason of rows that are taken out in a step, and the rule."""
    return QUARANTINED, f"the file was quarantined in landing step {step}"


_COUNTED = ENVELOPE[: ENVELOPE.index(REASON) + 1]
"""The first columns, of which Delta keeps for each file the least and greatest values, and how many are null."""
_SEVERAL: Any = object()


def _only_partition(file: FileStatistics) -> Any:
    """The source partition of all rows of a file: null, or a text that is short enough to be kept whole."""
    if not file.nulls.get(PARTITION, 0):
        least, greatest = file.least.get(PARTITION), file.greatest.get(PARTITION)
        return least if least is not None and least == greatest else _SEVERAL
    return None if file.nulls[PARTITION] == file.rows else _SEVERAL


def _is_alive(file: FileStatistics) -> bool:
    """Whether no row of a file is dead, and all have both times."""
    times = (EVENT_TIME, ARRIVAL_TIME)
    known = all(file.nulls.get(name) == 0 and name in file.least and name in file.greatest for name in times)
    return known and _has_no_reason(file)


def _is_counted_alive(file: AddedFile) -> bool:
    return file.stats is not None and _has_no_reason(file.statistics)


def _has_no_reason(file: FileStatistics) -> bool:
    """Whether it is known of all rows of a file that none says why it is dead."""
    return file.nulls.get(REASON) == file.rows
