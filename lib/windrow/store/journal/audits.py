"""What the steps of runs found out, for gates and reports: one row for each step and subject, the newest counts."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from windrow.store.delta.location import Lake, Location
from windrow.store.journal.outcomes import AUDITS, OUTCOME, StepOutcome, subject_of
from windrow.store.reading.tables import Condition, Groups, Tables

if TYPE_CHECKING:  # they are read without Spark too
    from pyspark.sql import SparkSession

STREAM_RUN = "stream"
"""The name under which it is kept what the stream has judged."""

BEGIN = "begin"
"""The step with which a run begins, or is repeated."""

LAND = "land"
"""The step that lands; its subjects are the sources."""

SEEN = "seen"
"""Among what it finds: what stood in front of the source when it began (`drivers.inspect.waiting.arrivals`)."""

Found = Mapping[str, Any]
"""What one step found about one source or stage, as plain values."""

Finding = tuple[str, str, Found, int | None]
"""A step, its subject, what was found, and when, in microseconds; None is now."""

_SCHEMA = "run string, step string, subject string, result string, at bigint"
_ROW = ("step", "subject", "at", "result")
_FOUND = Condition("step", "!=", OUTCOME)
"""How an attempt has ended is for its scheduler: it is nothing that a run has found."""


@dataclass(frozen=True)
class Recorded:
    """One row: what a step of a run found, and when, in microseconds."""

    run: str
    step: str
    subject: str
    at: int
    result: Found


def _by_time(row: Mapping[str, Any]) -> int:
    return int(row["at"])


@dataclass(frozen=True)
class Audits:
    """The audits of all runs of a lake. Rows are only appended; of a step that ran twice the later one counts."""

    location: Location

    @classmethod
    def of(cls, lake: Lake) -> Audits:
        return cls(lake.internal(AUDITS))

    def record(self, spark: SparkSession, run: str, step: str, subject: str, result: Found) -> None:
        """Keep what a step of a run found."""
        self.record_all(spark, run, [(step, subject, result, None)])

    def record_all(self, spark: SparkSession, run: str, findings: Iterable[Finding]) -> None:
        """Keep several findings of a run in one commit."""
        from windrow.engine.frames import struct_of
        from windrow.store.delta.appends import append_rows

        rows = []
        for step, subject, result, at in findings:
            texts = {"run": run, "step": step, "subject": subject, "result": json.dumps(result)}
            rows.append({**texts, "at": time.time_ns() // 1000 if at is None else at})
        append_rows(spark, self.location, rows, struct_of(_SCHEMA), AUDITS)

    def record_outcome(self, spark: SparkSession, run: str, attempt: str, step: str, outcome: StepOutcome) -> None:
        """Keep how a step of a run has ended in an attempt, for a scheduler: it is nothing that the run has found."""
        self.record(spark, run, OUTCOME, subject_of(attempt, step), asdict(outcome))

    def read_run(self, tables: Tables, run: str) -> dict[tuple[str, str], Found]:
        """By step and subject, what a run has found since it last began, in the order in which it was found.

        A run may be repeated under its name.
        """
        table = tables.open(self.location)
        batches = [] if table is None else table.rows(_ROW, Condition("run", "=", run), _FOUND)
        newest: dict[tuple[str, str], tuple[int, str]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                subject, found = (row["step"], row["subject"]), (row["at"], row["result"])
                newest[subject] = max(found, newest.get(subject, found))
        begun = max((at for (step, _), (at, _) in newest.items() if step == BEGIN), default=0)
        found_last = sorted(newest.items(), key=lambda item: item[1][0])
        return {subject: json.loads(result) for subject, (at, result) in found_last if at >= begun}

    def recorded(self, tables: Tables, runs: Collection[str]) -> list[Recorded]:
        """Everything that these runs have recorded, in order; how attempts have ended, too."""
        table = tables.open(self.location)
        only = (Condition("run", "=", next(iter(runs))),) if len(runs) == 1 else ()
        batches = [] if table is None else table.rows(("run", *_ROW), *only)
        rows = [row for batch in batches for row in batch.to_pylist() if row["run"] in runs]
        return [Recorded(**{**row, "result": json.loads(row["result"])}) for row in sorted(rows, key=_by_time)]

    def found_last(self, tables: Tables, step: str) -> dict[str, Found]:
        """By subject, what that step has found last, of whichever run."""
        table = tables.open(self.location)
        batches = [] if table is None else table.rows(("subject", "at", "result"), Condition("step", "=", step))
        rows = sorted((row for batch in batches for row in batch.to_pylist()), key=_by_time)
        newest = {row["subject"]: row["result"] for row in rows}
        return {subject: json.loads(result) for subject, result in newest.items()}

    def runs(self, tables: Tables) -> dict[str, int]:
        """When each run has found something last, by its name, the newest first."""
        table = tables.open(self.location)
        runs = [] if table is None else table.groups(Groups(by=("run",), greatest=("at",)), _FOUND).to_pylist()
        return {row["run"]: row["at"] for row in sorted(runs, key=_by_time, reverse=True)}

    def last_run(self, tables: Tables, but: str) -> str | None:
        """The run that has recorded something last, but for one."""
        table = tables.open(self.location)
        if table is None:
            return None
        runs = table.groups(Groups(by=("run",), greatest=("at",)), Condition("run", "!=", but), _FOUND).to_pylist()
        return max(runs, key=lambda row: row["at"])["run"] if runs else None
