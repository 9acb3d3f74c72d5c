"""The raw log of a source: every row that was read, one commit a landing batch, with envelope and verdict."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.envelope import OFFSET, STEP
from windrow.store.location import Lake
from windrow.store.steps import StepLog


@dataclass(frozen=True)
class Raw:
    """The raw log of one source. Its steps are those of the landing batches."""

    source: str
    log: StepLog

    @classmethod
    def of(cls, lake: Lake, source: str) -> Raw:
        return cls(source, StepLog(lake.table(source, "raw"), f"windrow-raw-{source}", indexed=4))

    def last_step(self, spark: SparkSession) -> int:
        """The newest landing step; 0 before the first."""
        commit = self.log.last(spark)
        return 0 if commit is None else commit.step

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until."""
        return self.log.rows(spark, after, until, STEP)

    def files(self, spark: SparkSession, until: int) -> DataFrame:
        """The paths of the files that the steps up to `until` hold, each once."""
        return self.rows(spark, 0, until).select(OFFSET).distinct()
