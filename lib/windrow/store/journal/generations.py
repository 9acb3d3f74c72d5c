"""Which generation of each stage is the current one, and what the stage meant in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.compile.sql.columns import call, col, struct
from windrow.engine.frames import group, local
from windrow.store.delta.location import Lake
from windrow.store.delta.steps import StepLog
from windrow.store.projections.schemas import struct_of

_SCHEMA = "stage string, generation int, fingerprint string, step bigint"


@dataclass(frozen=True)
class Generation:
    """A generation of a stage, and its fingerprint: the fields whose change makes another result."""

    number: int
    fingerprint: Mapping[str, Any]


@dataclass(frozen=True)
class Generations:
    """The log of the generations of all stages of a lake."""

    log: StepLog

    @classmethod
    def of(cls, lake: Lake) -> Generations:
        return cls(StepLog(lake.internal("generations"), "windrow-generations"))

    def all(self, spark: SparkSession) -> dict[str, Generation]:
        """The newest generation of every stage."""
        if not self.log.location.exists(spark):
            return {}
        newest = group(
            self.log.location.read(spark),
            ("stage",),
            {"row": call("max_by", struct(generation=col("generation"), fingerprint=col("fingerprint")), col("step"))},
        )
        return {
            row["stage"]: Generation(row["row"]["generation"], json.loads(row["row"]["fingerprint"]))
            for row in newest.collect()
        }

    def record(self, spark: SparkSession, stage: str, generation: Generation) -> None:
        """A new generation, or a new fingerprint of the current one."""
        last = self.log.last(spark)
        step = 1 if last is None else last.step + 1
        row = (stage, generation.number, json.dumps(generation.fingerprint, sort_keys=True), step)
        self.log.append(local(spark, [row], struct_of(_SCHEMA)), step, {})
