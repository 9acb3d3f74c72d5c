"""Where a backfill puts recomputed windows before anybody may see them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.store.location import Lake
from windrow.store.steps import StepLog


@dataclass(frozen=True)
class Staged:
    """The windows that stand in a staging area.

    `step` tells one computation from the next, `tick` is the last one of the journal that it knew of, `raw_step` the
    last landing step that it read.
    """

    step: int
    tick: int
    raw_step: int


@dataclass(frozen=True)
class Staging:
    """The staging area of one stage in one run. Two writers of one step: the later one gets StepTaken."""

    log: StepLog

    @classmethod
    def of(cls, lake: Lake, run: str, stage: str) -> Staging:
        """`run` may be any text, as Airflow's ids of runs are."""
        folder = re.sub(r"[^A-Za-z0-9_.-]", "_", run)
        return cls(StepLog(lake.internal(f"staging/{folder}/{stage}"), f"windrow-staging-{run}-{stage}"))

    def last(self, spark: SparkSession) -> Staged | None:
        """What stands there, or None."""
        commit = self.log.last(spark)
        return None if commit is None else Staged(commit.step, commit.notes["tick"], commit.notes["raw_step"])

    def write(self, frame: DataFrame, tick: int, raw_step: int) -> Staged:
        """Put recomputed windows in place of what stood there."""
        before = self.last(frame.sparkSession)
        staged = Staged(1 if before is None else before.step + 1, tick, raw_step)
        self.log.replace(frame, staged.step, {"tick": tick, "raw_step": raw_step})
        return staged

    def read(self, spark: SparkSession) -> DataFrame:
        """The windows: `key`, bounds and `v_` columns."""
        return self.log.location.read(spark)
