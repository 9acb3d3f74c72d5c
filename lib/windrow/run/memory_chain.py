"""Stages that read each other, with cells held by the driver: they tick in their order within one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.run.memory import MemoryStage, TickOutcome
from windrow.spec.chains import upstreams_of
from windrow.spec.expressions import Expression
from windrow.spec.schemas import Schema
from windrow.spec.stages import Stage
from windrow.spec.transcripts import Step
from windrow.spec.watermarks import Watermark


@dataclass
class MemoryChain:
    """Stages by their names, and for each the one that it reads, if it does not read the source."""

    stages: dict[str, MemoryStage]
    upstreams: Mapping[str, str | None]

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        stages: Sequence[Stage],
        schema: Schema,
        rule: Watermark | None,
        size: Expression | None = None,
        weight: str | None = None,
    ) -> MemoryChain:
        """The stages over elements of that schema and size. Errors: SpecError where a type does not fit."""
        read = {name: None if one is None else one.name for name, one in upstreams_of(stages).items()}
        made: dict[str, MemoryStage] = {}
        for stage in stages:
            upstream = read[stage.name]
            if upstream is None:
                made[stage.name] = MemoryStage.of(spark, stage, schema, rule, size, weight)
            else:
                made[stage.name] = MemoryStage.behind(made[upstream], stage)
        return cls(made, read)

    def step(self, step: Step) -> dict[str, TickOutcome]:
        """One tick of every stage."""
        outcomes: dict[str, TickOutcome] = {}
        for name, memory in self.stages.items():
            upstream = self.upstreams[name]
            if upstream is None:
                outcomes[name] = memory.step(step)
            else:
                outcomes[name] = memory.follow(self.stages[upstream], outcomes[upstream])
        return outcomes
