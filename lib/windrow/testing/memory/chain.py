"""Stages that read each other, with cells held by the driver: they tick in their order within one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.spec.expressions import Expression
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import read_by
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import Step
from windrow.testing.memory.stage import MemoryStage, TickOutcome


@dataclass
class MemoryChain:
    """Stages by their names, in order."""

    stages: dict[str, MemoryStage]

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        stages: Sequence[Stage],
        schema: Schema,
        rule: Watermark | Mapping[str, Watermark] | None,
        size: Expression | None = None,
        weight: str | None = None,
    ) -> MemoryChain:
        """The stages over elements of that schema and size. Errors: SpecError where a type does not fit."""
        made: dict[str, MemoryStage] = {}
        for stage, read in zip(stages, read_by(stages).values(), strict=True):
            upstreams = {name: made[one.name] for name, one in read.items() if one is not None}
            made[stage.name] = MemoryStage.of(spark, stage, schema, rule, size, weight, upstreams)
        return cls(made)

    def step(self, step: Step) -> dict[str, TickOutcome]:
        """One tick of every stage."""
        return {name: memory.step(step) for name, memory in self.stages.items()}
