"""The raw log of a source that is read in place: where the rows of each landing step are, and what is known of them.

A step copies no row. Its commit has a row for each part of the source's own log that is landed, and one for each source
partition and reason with what was counted when the rows were judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, OFFSET, PARTITION, REASON, RULE, STEP
from windrow.compile.sql.columns import call, coalesce, col, when
from windrow.engine.frames import group, local, where
from windrow.engine.tick.statistics import LandedRows
from windrow.spec.errors import SpecError
from windrow.spec.sources.evolution import Resolved
from windrow.spec.sources.source import Source
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.data_files import written
from windrow.store.delta.location import READABLE, Lake
from windrow.store.delta.log.commits import Commit, Notes
from windrow.store.delta.log.retries import StepTaken
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender
from windrow.store.projections.creation import ensure_table
from windrow.store.upstream.places import COUNT, END, IN_PLACE, KIND, PART
from windrow.store.upstream.raw import Raw, quarantine_of

_NUMBERS = {
    STEP: "landing step", "number": "number of the part within its step, from 0",
    "version": "version of the source's table that the part is of", "files": "files of the part",
    "clock": "processing time when it landed, in microseconds", "rows": "rows of a source partition with a reason",
    "earliest": "their earliest event time, in microseconds", EVENT_TIME: "their latest event time, in microseconds",
    ARRIVAL_TIME: "their latest arrival time, in microseconds",
}  # fmt: skip
_TEXTS = {
    KIND: "part or count", OFFSET: "the path of its file, or the version of the changes",
    IN_PLACE: "which file the part is, as the table's log adds it, or that it is all changes of its version",
    "rules": "the row rules that judged its rows, as JSON", PARTITION: "source partition of the watermark",
    REASON: "why the rows are dead, or null", RULE: "why a part was taken out, in words, or null",
}  # fmt: skip
COLUMNS = StructType(
    [StructField(name, LongType(), True, {"comment": comment}) for name, comment in _NUMBERS.items()]
    + [StructField(name, StringType(), True, {"comment": comment}) for name, comment in _TEXTS.items()]
)


@dataclass(frozen=True)
class Part:
    """A part of the source's log: a file, by the action that adds it, or all changes of a version.

    `number` counts the parts of a step, `files` are those of the part. `clock` was the time of landing, `rules` are
    those that judged the rows, as JSON. `out` says why rows were taken out later: a reason, and the rule in words.
    """

    step: int
    number: int
    version: int
    files: int
    offset: str
    action: str
    clock: int
    rules: str
    out: tuple[str, str] | None = None

    def to_row(self) -> dict[str, Any]:
        reason, rule = self.out or (None, None)
        own = {name: getattr(self, name) for name in ("number", "version", "files", "clock", "rules")}
        said = {OFFSET: self.offset, IN_PLACE: self.action, REASON: reason, RULE: rule}
        return {STEP: self.step, KIND: PART, **own, **said}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Part:
        own = {name: row[name] for name in ("number", "version", "files", "clock", "rules")}
        out = None if row[REASON] is None else (row[REASON], row[RULE])
        return cls(step=row[STEP], offset=row[OFFSET], action=row[IN_PLACE], out=out, **own)


@dataclass(frozen=True)
class Count:
    """What was counted of the rows of one source partition that have one reason, or none. Times are microseconds."""

    partition: str | None
    reason: str | None
    rows: int
    earliest: int | None
    latest: int | None
    arrival: int | None

    def to_row(self) -> dict[str, Any]:
        named = {PARTITION: self.partition, REASON: self.reason, "rows": self.rows, "earliest": self.earliest}
        return {KIND: COUNT, **named, EVENT_TIME: self.latest, ARRIVAL_TIME: self.arrival}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Count:
        return cls(*(row[name] for name in (PARTITION, REASON, "rows", "earliest", EVENT_TIME, ARRIVAL_TIME)))


@dataclass(frozen=True)
class Step:
    """One landing step. `is_fresh`: this process has landed it, so that its parts are there."""

    parts: tuple[Part, ...] = ()
    counts: tuple[Count, ...] = ()
    is_fresh: bool = False

    @property
    def has_dead_rows(self) -> bool:
        return any(count.reason is not None for count in self.counts)

    @property
    def offsets(self) -> list[str]:
        """Where its parts are."""
        return [part.offset for part in self.parts]

    def to_rows(self, number: int) -> list[dict[str, Any]]:
        counts = [{STEP: number, **count.to_row()} for count in self.counts]
        return [*(part.to_row() for part in self.parts), *counts]


class Reader(Protocol):
    """What reads the rows of parts."""

    def rows(self, spark: SparkSession, parts: Sequence[Part], checks: bool) -> DataFrame:
        """The rows of parts, as `raw` holds those that are copied.

        Raises SpecError where they cannot be read any more, with `checks` also where a look is needed to know it.
        """

    def is_own(self, end: Mapping[str, Any]) -> bool:
        """Whether the note of where a step ended is of such a source."""

    def narrow(self, spark: SparkSession, parts: Sequence[Part]) -> DataFrame | None:
        """The same rows with nothing but what stages use, where that takes less; else None."""


_KEPT = 256
"""So many steps are remembered."""


@dataclass(frozen=True)
class RawInPlace(Raw):
    """The raw log of a source that is read in place. `schema` are the columns of its rows as they are now."""

    schema: StructType
    reader: Reader
    _known: dict[int, Step] = field(default_factory=dict, repr=False, compare=False)
    _as_of: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def over(cls, lake: Lake, source: Source, schema: StructType, reader: Reader) -> RawInPlace:
        return cls(source.name, StepLog(*lake.raw(source.name), schema=COLUMNS), source, schema, reader)

    def check(self, spark: SparkSession) -> None:
        """Refuse a lake into which rows of the source were copied, or that has them elsewhere. Errors: SpecError."""
        if not self.log.location.exists(spark):
            return
        if IN_PLACE in {field.name for field in self.log.location.read(spark).schema.fields}:
            last = self.log.last(spark)
            if last is None or self.reader.is_own(last.notes[END]):
                return
            rule = "was a Delta table that is read in place, or files, and is the other now"
            raise SpecError(f"sources.{self.name}", rule, None, "read it as a source of another name")
        rule = "is read in place, and its rows were copied into the lake before"
        hint = "copy: true, or take a new lake path (--set lake=...)"
        raise SpecError(f"sources.{self.name}", rule, None, hint)

    def resolved(self, spark: SparkSession) -> Resolved | None:
        """The log has no column of the source: each part says how it was read when it landed."""
        return None

    def land(self, spark: SparkSession, number: int, step: Step, notes: Notes) -> None:
        """Commit a landing step. Raises StepTaken where another writer owns it."""
        if self.log.last(spark) is None:
            ensure_table(spark, self.log.location, COLUMNS, properties=READABLE)

        def fill(append: Appender) -> Notes:
            append.add([written(spark, self.log.location, step.to_rows(number), COLUMNS)])
            return self.with_columns(notes)

        if not self.log.begun(spark, number, fill):
            raise StepTaken(self.log.location.path, number, None)
        self._keep({number: step})

    def steps(self, spark: SparkSession, after: int, until: int) -> dict[int, Step]:
        """The steps after < step <= until; one that took files out has no parts."""
        quarantined = self.quarantined(spark)
        if self._as_of.get("quarantined", quarantined) != quarantined:
            self._known.clear()
        self._as_of["quarantined"] = quarantined
        found = {step: self._known.get(step) for step in range(after + 1, until + 1)}
        lacking = [step for step, one in found.items() if one is None]
        if lacking:
            read = self._read(spark, lacking[0] - 1, lacking[-1])
            if self._as_of["quarantined"] == quarantined:
                self._keep(read)
            found = {step: one or read.get(step, Step()) for step, one in found.items()}
        return {step: one for step, one in found.items() if one is not None}

    def _read(self, spark: SparkSession, after: int, until: int) -> dict[int, Step]:
        rows: dict[int, list[Any]] = {step: [] for step in range(after + 1, until + 1)}
        for row in self.log.rows(spark, after, until, STEP).collect():
            rows[row[STEP]].append(row)
        return {step: _step(some) for step, some in rows.items()}

    def _keep(self, steps: Mapping[int, Step]) -> None:
        if len(self._known) + len(steps) > _KEPT:
            self._known.clear()
        if len(steps) <= _KEPT:
            self._known.update(steps)

    def take_out(self, spark: SparkSession, last: Commit, offset: str) -> None:
        """The part says so, and the rows of its step are counted again.

        Raises SpecError where the source does not keep all rows that are dead: their table is made anew.
        """
        step = last.step + 1
        self.dead(spark, 0, last.step)
        before = self.steps(spark, 0, last.step)
        (of,) = [n for n, one in before.items() if any(part.offset == offset for part in one.parts)]
        out = quarantine_of(step)
        parts = tuple(replace(part, out=out) if part.offset == offset else part for part in before[of].parts)
        rows = Step(parts, counted(self.reader.rows(spark, parts, True))).to_rows(of)
        frame = local(spark, [tuple(row.get(name) for name in COLUMNS.names) for row in rows], COLUMNS)
        with self.log.stepping(spark, step, self.quarantining(last, step)):
            writer = frame.write.format("delta").mode("overwrite").option("replaceWhere", f"{STEP} = {of}")
            self.log.location.save(writer)

    def rows_of_file(self, spark: SparkSession, until: int, offset: str) -> DataFrame:
        parts = [part for step in self.steps(spark, 0, until).values() for part in step.parts if part.offset == offset]
        return self.reader.rows(spark, parts, True)

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until. Raises SpecError where the source does not keep them."""
        return self._with_defaults(self._rows_of(spark, self.steps(spark, after, until).values()))

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        steps = self.steps(spark, after, until).values()
        parts = [part for step in steps for part in step.parts]
        found = self.reader.narrow(spark, parts) if parts and all(step.is_fresh for step in steps) else None
        return None if found is None else self._with_defaults(found)

    def dead(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """Read of the steps only that have some."""
        steps = [step for step in self.steps(spark, after, until).values() if step.has_dead_rows]
        return where(self._rows_of(spark, steps), col(REASON).is_not_null())

    def _rows_of(self, spark: SparkSession, steps: Iterable[Step]) -> DataFrame:
        read = [*steps]
        parts = [part for step in read for part in step.parts]
        if not parts:
            return local(spark, [], self.schema)
        return self.reader.rows(spark, parts, not all(step.is_fresh for step in read))

    def landings(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        rows = self.log.rows(spark, after, until, STEP)
        is_count = col(KIND) == COUNT
        return group(
            rows,
            (STEP,),
            {
                "landed_at": call("max", col(ARRIVAL_TIME)),
                "files": coalesce(call("sum", col("files")), 0),
                "rows": coalesce(call("sum", col("rows")), 0),
                "dead": coalesce(call("sum", when(is_count & col(REASON).is_not_null(), col("rows"))), 0),
            },
        )

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        """By what was counted when they landed; None where all rows are dead."""
        counts = [count for step in self.steps(spark, after, until).values() for count in step.counts]
        greatest: dict[str | None, int] = {}
        arrivals: dict[str | None, int] = {}
        earliest: list[int] = []
        alive = [one for one in counts if one.reason is None]
        for one in alive:
            if one.earliest is None or one.latest is None or one.arrival is None:
                return None
            earliest.append(one.earliest)
            for known, value in ((greatest, one.latest), (arrivals, one.arrival)):
                known[one.partition] = max(known.get(one.partition, MINUS_INFINITY), value)
        if not alive:
            return None
        rows = sum(one.rows for one in alive)
        arrival = max(one.arrival for one in counts if one.arrival is not None)
        return LandedRows(rows, sum(one.rows for one in counts) - rows, min(earliest), greatest, arrival, arrivals)

    def files(self, spark: SparkSession, until: int) -> DataFrame:
        rows = where(self.log.rows(spark, 0, until, STEP), (col(KIND) == PART) & col(OFFSET).rlike("[^0-9]"))
        return rows.select(OFFSET).distinct()


def counted(rows: DataFrame) -> tuple[Count, ...]:
    """What is known of rows that were judged, by one look at the columns that their verdicts need."""
    at, lost = col(EVENT_TIME), col(STEP).is_null()
    counts = {
        "rows": call("count", 1), "earliest": call("min", at), "latest": call("max", at),
        "arrival": call("max", col(ARRIVAL_TIME)), "lost": call("count_if", lost),
    }  # fmt: skip
    found = group(rows, (PARTITION, REASON), counts).collect()
    assert not any(row["lost"] for row in found), "each row is of one of the parts"
    return tuple(
        Count(*(row[name] for name in (PARTITION, REASON, "rows", "earliest", "latest", "arrival"))) for row in found
    )


def _step(rows: Sequence[Any]) -> Step:
    parts = sorted((Part.of(row) for row in rows if row[KIND] == PART), key=lambda part: part.number)
    return Step(tuple(parts), tuple(Count.of(row) for row in rows if row[KIND] == COUNT))
