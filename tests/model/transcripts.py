"""Transcripts on the model: a case is run tick by tick, and what comes is compared with what it expects."""

from __future__ import annotations

from tests.model.stream import Stream
from windrow.run.matching import match_refusal, match_step
from windrow.spec.transcripts import Case, Step


def check(case: Case) -> list[str]:
    """What is wrong with a case, as messages that name its step; none if it passes."""
    if case.refusal is not None or case.rejects is not None:
        return match_refusal(case)
    assert case.stage is not None
    stream = Stream(case.stage, case.schema, case.watermark_from, case.size, case.weight)
    names = (*case.stage.keys, *case.stage.result_columns)
    messages = []
    for number, step in enumerate(case.steps):
        messages += [f"steps[{number}]: {message}" for message in _check_step(stream, step, names)]
    return messages


def _check_step(stream: Stream, step: Step, names: tuple[str, ...]) -> list[str]:
    result = stream.tick(step.add, step.now, step.watermark)
    return match_step(
        step,
        [pane.row() for pane in result.panes],
        [letter.row() for letter in result.dead],
        result.counts.unassigned,
        result.clock.watermark_after,
        names,
    )
