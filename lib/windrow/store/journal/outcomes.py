"""How attempts at the steps of a run have ended: rows of the audits, which a scheduler reads without Spark.

A step that is made again under the same run is another attempt, with a name of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from windrow.spec.errors import SpecError
from windrow.store.delta.location import Lake

AUDITS = "audits"
"""The table of the lake that has them."""
OUTCOME = "outcome"
"""The step of their rows, whose subject is the name of the attempt."""


@dataclass(frozen=True)
class StepOutcome:
    """The exit code of a step (`windrow.spec.errors`), and what it said of its error: nothing after a success."""

    exit_code: int
    message: str = ""


def outcome_of(lake: Lake, run: str, attempt: str) -> StepOutcome | None:
    """How an attempt has ended, by what its step has recorded last; None where it has recorded nothing.

    Raises SpecError where `deltalake` cannot read the lake.
    """
    from deltalake.exceptions import DeltaError

    path = lake.internal(AUDITS).path
    try:
        results = _results(path, run, attempt)
    except (DeltaError, OSError, ValueError) as error:
        rule = f"cannot be read without Spark: {str(error).splitlines()[0]}"
        raise SpecError(f"_windrow/{AUDITS}", rule, path) from error
    return StepOutcome(**json.loads(results[max(results)])) if results else None


def _results(path: str, run: str, attempt: str) -> dict[int, str]:
    """By the time at which it was recorded, what is recorded of an attempt."""
    from deltalake import DeltaTable

    if not DeltaTable.is_deltatable(path):
        return {}
    wanted = [("run", "=", run), ("step", "=", OUTCOME), ("subject", "=", attempt)]
    rows = DeltaTable(path).to_pyarrow_table(columns=["at", "result"], filters=wanted).to_pylist()
    return {row["at"]: row["result"] for row in rows}
