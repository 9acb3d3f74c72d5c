"""Transcripts on the model: a case is run tick by tick, and what comes is compared with what it expects."""

from __future__ import annotations

from tests.model.chain import Chain
from tests.model.tick import Tick
from windrow.spec.transcripts.cases import Case, Step
from windrow.testing.matching import match_refusal, match_step


def check(case: Case) -> list[str]:
    """What is wrong with a case, as messages that name its step; none if it passes."""
    if case.refusal is not None or case.rejects is not None:
        return match_refusal(case)
    chain = Chain(case.stages, case.schema, case.watermark_from, case.size, case.weight)
    messages = []
    for number, step in enumerate(case.steps):
        ticks = chain.tick(step.add, step.now, step.watermark)
        for stage in case.stages:
            place = f"steps[{number}] of {stage.name}" if case.is_chain else f"steps[{number}]"
            names = (*stage.keys, *stage.result_columns)
            messages += [f"{place}: {m}" for m in _check(ticks[stage.name], step.of(stage.name), names)]
    return messages


def _check(result: Tick, step: Step, names: tuple[str, ...]) -> list[str]:
    return match_step(
        step,
        [pane.row() for pane in result.panes],
        [letter.row() for letter in result.dead],
        result.counts.unassigned,
        result.clock.watermark_after,
        names,
    )
