"""Which generation of each stage is the current one, and what the stage meant in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.store.delta.data_files import written
from windrow.store.delta.location import Lake
from windrow.store.delta.log.step_log import StepLog
from windrow.store.projections.creation import ensure_table, struct_of
from windrow.store.reading.generations import Generation, generation_of, newest_generations
from windrow.store.reading.spark import SparkTables

_SCHEMA = "stage string, generation int, fingerprint string, step bigint"


@dataclass(frozen=True)
class Generations:
    """The log of the generations of all stages of a lake."""

    log: StepLog

    @classmethod
    def of(cls, lake: Lake) -> Generations:
        return cls(StepLog(lake.internal("generations"), "windrow-generations"))

    def all(self, spark: SparkSession) -> dict[str, Generation]:
        """The newest generation of every stage: as the newest commit says, and by the rows where that is gone."""
        commit = self.log.last(spark)
        if commit is None or _ALL not in commit.notes:
            return newest_generations(SparkTables(spark), self.log.location)
        return {stage: Generation(*found) for stage, found in commit.notes[_ALL].items()}

    def older(self, spark: SparkSession, stage: str, number: int) -> Generation | None:
        """That generation of a stage; None where there was none."""
        return generation_of(SparkTables(spark), self.log.location, stage, number)

    def record(self, spark: SparkSession, generations: Mapping[str, Generation]) -> None:
        """New generations of stages, or new fingerprints of the current ones; all of them, or none."""
        last = self.log.last(spark)
        step = 1 if last is None else last.step + 1
        rows = [
            {
                "stage": stage, "generation": one.number, "step": step,
                "fingerprint": json.dumps(one.fingerprint, sort_keys=True),
            }
            for stage, one in generations.items()
        ]  # fmt: skip
        everything = {**self.all(spark), **generations}
        notes = {_ALL: {name: [one.number, one.fingerprint] for name, one in everything.items()}}
        schema = struct_of(_SCHEMA)
        ensure_table(spark, self.log.location, schema)
        self.log.add(spark, [written(spark, self.log.location, rows, schema)], step, notes)


_ALL = "generations"
"""The note of a commit: the newest generation of every stage, and its fingerprint."""
