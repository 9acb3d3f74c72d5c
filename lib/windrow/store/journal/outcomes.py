"""How the steps of a run have ended: rows of the audits, which a scheduler reads without Spark.

An attempt is one job, which makes one step or several; steps that are made again are another one. Each has a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.store.delta.location import Lake
from windrow.store.reading.tables import Condition

AUDITS = "audits"
"""The table of the lake that has them."""
OUTCOME = "outcome"
"""The step of their rows, whose subject is `subject_of` the attempt and its step."""


@dataclass(frozen=True)
class StepOutcome:
    """The exit code of a step (`windrow.spec.errors`), and what it said of its error: nothing after a success.

    `until`: of a step that waits, by stage, the watermark at which its windows have expired, in microseconds.
    """

    exit_code: int
    message: str = ""
    until: Mapping[str, int] = field(default_factory=dict)


def subject_of(attempt: str, step: str) -> str:
    """The subject under which it is kept how a step has ended in an attempt."""
    return f"{attempt} {step}"


def outcome_of(lake: Lake, run: str, attempt: str, step: str) -> StepOutcome | None:
    """How a step has ended in an attempt, by what it has recorded last; None where it has recorded nothing.

    Raises NotReadable where `deltalake` cannot read the lake.
    """
    from windrow.store.reading.arrow import ArrowTables

    table = ArrowTables().open(lake.internal(AUDITS))
    if table is None:
        return None
    subject = subject_of(attempt, step)
    own = (Condition("run", "=", run), Condition("step", "=", OUTCOME), Condition("subject", "=", subject))
    rows = [row for batch in table.rows(("at", "result"), *own) for row in batch.to_pylist()]
    last = max(rows, key=lambda row: row["at"], default=None)
    return None if last is None else StepOutcome(**json.loads(last["result"]))
