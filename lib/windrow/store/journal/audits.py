"""What the steps of runs found out, for gates and reports: one row for each step and subject, the newest counts."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.compile.sql.columns import bigint, call, col, lit
from windrow.engine.frames import group, literals, where
from windrow.store.delta.location import READABLE, Lake, Location
from windrow.store.journal.outcomes import AUDITS, OUTCOME, StepOutcome

BEGIN = "begin"
"""The step with which a run begins, or is repeated."""

Found = Mapping[str, Any]
"""What one step found about one source or stage, as plain values."""


@dataclass(frozen=True)
class Audits:
    """The audits of all runs of a lake. Rows are only appended; of a step that ran twice the later one counts."""

    location: Location

    @classmethod
    def of(cls, lake: Lake) -> Audits:
        return cls(lake.internal(AUDITS))

    def record(self, spark: SparkSession, run: str, step: str, subject: str, result: Found) -> None:
        """Keep what a step of a run found."""
        texts = {"run": run, "step": step, "subject": subject, "result": json.dumps(result)}
        row = {name: lit(text) for name, text in texts.items()}
        frame = literals(spark, [{**row, "at": bigint(time.time_ns() // 1000)}])
        writer = frame.write.format("delta").mode("append")
        for name, value in READABLE.items():
            writer = writer.option(name, value)
        self.location.save(writer)

    def record_outcome(self, spark: SparkSession, run: str, attempt: str, outcome: StepOutcome) -> None:
        """Keep how an attempt at a step of a run has ended, for a scheduler: it is nothing that the run has found."""
        self.record(spark, run, OUTCOME, attempt, asdict(outcome))

    def of_run(self, spark: SparkSession, run: str) -> dict[tuple[str, str], Found]:
        """By step and subject, what a run has found since it last began; a run may be repeated under its name."""
        if not self.location.exists(spark):
            return {}
        rows = where(self.location.read(spark), (col("run") == run) & (col("step") != OUTCOME))
        newest = group(
            rows,
            ("step", "subject"),
            {"result": call("max_by", col("result"), col("at")), "at": call("max", col("at"))},
        ).collect()
        begun = max((row["at"] for row in newest if row["step"] == BEGIN), default=0)
        return {(row["step"], row["subject"]): json.loads(row["result"]) for row in newest if row["at"] >= begun}

    def last_run(self, spark: SparkSession, but: str) -> str | None:
        """The run that has found something last, but for one."""
        if not self.location.exists(spark):
            return None
        rows = where(self.location.read(spark), (col("run") != but) & (col("step") != OUTCOME))
        row = group(rows, (), {"run": call("max_by", col("run"), col("at"))}).first()
        return None if row is None else row["run"]
