"""The exit codes of a step: what a scheduler may try again."""

import pytest

from windrow.cli.errors import step_code
from windrow.spec.errors import NotYet, SpecError
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateFailed, GateResult, Judgement, Outcome


def gate(*outcomes: Outcome, severity: Severity = Severity.CRITICAL) -> GateFailed:
    judgements = tuple(Judgement("e", severity, outcome, "") for outcome in outcomes)
    return GateFailed((GateResult("rows", 1, judgements),), "monday")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (gate(Outcome.PASSED, Outcome.FAILED), 3),
        (gate(Outcome.FAILED, Outcome.ERROR), 3),
        (gate(Outcome.PASSED, Outcome.ERROR), 75),
        (gate(Outcome.FAILED, Outcome.ERROR, severity=Severity.WARNING), 75),
        (SpecError("lakee", "is not a field"), 2),
        (SpecError("lakee", "is not a field").within("x.yaml:"), 2),
        (NotYet("stages.x", "an earlier backfill has read further than the stream"), 75),
        (RuntimeError("out of memory"), 75),
    ],
)
def test_only_what_may_come_out_otherwise_is_tried_again(error: Exception, code: int) -> None:
    assert step_code(error) == code
