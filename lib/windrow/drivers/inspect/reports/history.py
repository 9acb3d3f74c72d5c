"""When the steps of a run were done, and how its tries have ended, read from the audits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.store.delta.location import Lake
from windrow.store.journal.audits import BEGIN, LAND, Audits, Recorded
from windrow.store.journal.outcomes import OUTCOME
from windrow.store.reading.tables import Tables
from windrow.view.reports.parts import Attempt, StepTime

MOST = 60
"""Steps and tries that are listed, the last ones."""

_NAMES = {
    BEGIN: "begin", LAND: "landed", "gate": "judged", "rows": "computed", "changes": "compared",
    "publishing": "publishing", "publish": "published", "mode": "told otherwise",
}  # fmt: skip


@dataclass(frozen=True)
class RunHistory:
    """What a run has recorded since it last began."""

    steps: list[StepTime]
    attempts: list[Attempt]


def read_history(tables: Tables, lake: Lake, run: str) -> RunHistory:
    """What a run has recorded, as these tables tell of it."""
    return history_of(Audits.of(lake).recorded(tables, {run}))


def history_of(rows: Sequence[Recorded]) -> RunHistory:
    """The rows of one run, in order."""
    begun = max((row.at for row in rows if row.step == BEGIN), default=0)
    found = [row for row in rows if row.at >= begun and row.step != OUTCOME]
    before = [None, *(row.at for row in found)]
    steps = [
        StepTime(_name(row), row.subject, row.at, None if last is None else row.at - last)
        for row, last in zip(found, before, strict=False)
    ]
    attempts = [Attempt(row.at, row.result["exit_code"], row.result["message"]) for row in rows if row.step == OUTCOME]
    return RunHistory(steps[-MOST:], attempts[-MOST:])


def _name(row: Recorded) -> str:
    """Rows whose gate has stopped are counted, and nothing is computed of them."""
    if row.step == "rows" and row.result.get("stopped"):
        return "counted"
    return _NAMES.get(row.step, row.step)
