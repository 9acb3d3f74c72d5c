"""The table `quality_results` of a lake: what every suite has found, one row for each of its expectations.

The rows of a judgement are one append. A gate that judges again under the name of its run, because its rows have
changed, appends again: the newest of a run and a stage count.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.compile.sql.columns import Column, bigint, call, col, lit, null
from windrow.engine.frames import literals, where
from windrow.spec.pipelines.table_columns import QUALITY_COMMENTS, QUALITY_RESULTS
from windrow.spec.quality.judgements import GateResult, Judgement
from windrow.store.delta.location import Lake, Location
from windrow.store.projections.creation import ensure_table, struct_of


@dataclass(frozen=True)
class Judged:
    """What a suite has judged: the rows of a source or a stage, in a run, at a time in microseconds.

    `version` is the landing step up to which the rows of a source were judged, or the generation of a stage, whose
    newest tick then was `tick`.
    """

    run: str
    subject: str
    suite: str
    at: int
    version: int
    tick: int | None = None


@dataclass(frozen=True)
class QualityResults:
    """The table of one lake."""

    location: Location

    @classmethod
    def of(cls, lake: Lake) -> QualityResults:
        return cls(lake.quality_results)

    def have(self, spark: SparkSession, judged: Judged) -> bool:
        """Whether a judgement stands there: no other of its run and subject was made at the same time."""
        if not self.location.exists(spark):
            return False
        own = (col("run") == judged.run) & (col("stage") == judged.subject)
        at = col("at") == call("timestamp_micros", bigint(judged.at))
        return not where(self.location.read(spark), own & at).isEmpty()

    def append(self, spark: SparkSession, judged: Judged, result: GateResult) -> None:
        """Write down what came of every expectation of a suite; nothing of a suite that has none."""
        if not result.judgements:
            return
        columns = StructType([_commented(one) for one in struct_of(QUALITY_RESULTS).fields])
        ensure_table(spark, self.location, columns, partition_by=["stage"])
        frame = literals(spark, [_row(judged, result.rows, judgement) for judgement in result.judgements])
        self.location.save(frame.write.format("delta").mode("append"))


def _commented(column: StructField) -> StructField:
    return StructField(column.name, column.dataType, True, {"comment": QUALITY_COMMENTS[column.name]})


def _row(judged: Judged, rows: int, judgement: Judgement) -> dict[str, Column]:
    value = null("double") if judgement.value is None else lit(judgement.value).cast("double")
    return {
        "run": lit(judged.run), "stage": lit(judged.subject), "suite": lit(judged.suite),
        "rule": lit(judgement.expectation), "severity": lit(str(judgement.severity)), "rows_judged": bigint(rows),
        "rows_broken": _bigint(judgement.rows_broken), "value": value, "outcome": lit(str(judgement.outcome)),
        "tick": _bigint(judged.tick), "version": bigint(judged.version),
        "at": call("timestamp_micros", bigint(judged.at)),
    }  # fmt: skip


def _bigint(value: int | None) -> Column:
    return null("bigint") if value is None else bigint(value)
