"""Transcripts on the real engine: each step of a case is one tick, and the panes that come out are compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.spec.errors import SpecError
from windrow.spec.transcripts.cases import Case
from windrow.testing.matching import match_refusal, match_step
from windrow.testing.memory.chain import MemoryChain


@dataclass(frozen=True)
class Outcome:
    """What became of a case: passed, or failed with messages that a person can read."""

    case: str
    messages: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.messages


def check_cases(spark: SparkSession, cases: Iterable[Case]) -> Iterator[Outcome]:
    """Run cases side by side, as each is mostly planning on one core; their outcomes in order."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda case: check_case(spark, case), cases)


def check_case(spark: SparkSession, case: Case) -> Outcome:
    """Run one case."""
    if case.rejects is not None or case.refusal is not None:
        return Outcome(case.name, tuple(match_refusal(case)))
    try:
        chain = MemoryChain.of(spark, case.stages, case.schema, case.watermark_from, case.size, case.weight)
    except SpecError as error:
        return Outcome(case.name, (f"the stage was refused: {error}",))
    messages: list[str] = []
    for number, step in enumerate(case.steps):
        for stage, (name, out) in zip(case.stages, chain.step(step).items(), strict=True):
            names = (*stage.keys, *stage.result_columns)
            wrong = match_step(step.of(name), out.panes, out.dead, out.unassigned, out.watermark, names)
            place = f"steps[{number}] of {name}" if case.is_chain else f"steps[{number}]"
            messages += [f"{place}: {message}" for message in wrong]
    return Outcome(case.name, tuple(messages))
