"""What the control rows of a journal say: where the newest tick has left the stage, and what all of them counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from windrow.engine.tick.counters import KNOWN_AT_COMMIT, Counters
from windrow.spec.errors import SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.store.journal.control import CONTROL, Control
from windrow.store.journal.totals import TOTALS
from windrow.store.reading.tables import Condition, LakeTable

_ROW = ("tick", LogColumn.CONTROL)


@dataclass(frozen=True)
class ControlRows:
    """The newest of them, and the sums of what each counted until it was committed."""

    last: Control
    counters: Counters

    @classmethod
    def of(cls, journal: LakeTable | None, stage: str) -> ControlRows | None:
        """None before the first tick. Raises SpecError for a journal of an earlier version."""
        if journal is None:
            return None
        totals = journal.notes().get(TOTALS)
        newest, sums = _added_up(journal) if totals is None else (_newest(journal), totals)
        if newest is None:
            return None
        try:
            return cls(Control.from_json(newest), Counters.of(sums))
        except SpecError as error:
            raise error.within(f"stages.{stage}") from None


def _newest(journal: LakeTable) -> str | None:
    """The newest control row, without a look at any other."""
    batches = journal.newest_rows(_ROW, CONTROL, "tick")
    return next((row[LogColumn.CONTROL] for batch in batches for row in batch.to_pylist()), None)


def _added_up(journal: LakeTable) -> tuple[str | None, Counter[str]]:
    """The newest control row, and the sums over all of them: of a journal whose newest commit does not say them."""
    newest, sums = (0, ""), Counter[str]()
    for batch in journal.rows(_ROW, Condition(LogColumn.KIND, "=", CONTROL)):
        for row in batch.to_pylist():
            newest = max(newest, (row["tick"], row[LogColumn.CONTROL]))
            counts = json.loads(row[LogColumn.CONTROL])["counts"]
            sums.update({name: counts.get(name) or 0 for name in KNOWN_AT_COMMIT})
    return newest[1] or None, sums
