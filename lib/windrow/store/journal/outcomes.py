"""How attempts at the steps of a run have ended: rows of the audits, which a scheduler reads without Spark.

A step that is made again under the same run is another attempt, with a name of its own.
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
"""The step of their rows, whose subject is the name of the attempt."""


@dataclass(frozen=True)
class StepOutcome:
    """The exit code of a step (`windrow.spec.errors`), and what it said of its error: nothing after a success.

    `until`: of a step that waits, by stage, the watermark at which its windows have expired, in microseconds.
    """

    exit_code: int
    message: str = ""
    until: Mapping[str, int] = field(default_factory=dict)


def outcome_of(lake: Lake, run: str, attempt: str) -> StepOutcome | None:
    """How an attempt has ended, by what its step has recorded last; None where it has recorded nothing.

    Raises NotReadable where `deltalake` cannot read the lake.
    """
    from windrow.store.reading.arrow import ArrowTables

    table = ArrowTables().open(lake.internal(AUDITS))
    if table is None:
        return None
    own = (Condition("run", "=", run), Condition("step", "=", OUTCOME), Condition("subject", "=", attempt))
    rows = [row for batch in table.rows(("at", "result"), *own) for row in batch.to_pylist()]
    last = max(rows, key=lambda row: row["at"], default=None)
    return None if last is None else StepOutcome(**json.loads(last["result"]))
