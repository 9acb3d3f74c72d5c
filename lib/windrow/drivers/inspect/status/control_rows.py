"""What the control rows of a journal say: where the newest tick has left the stage, and what all of them counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from windrow.engine.tick.counters import KNOWN_AT_COMMIT, WRITTEN, Counters
from windrow.spec.errors import SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.store.journal.control import CONTROL, FORGETTING, Control
from windrow.store.journal.totals import FORGETTINGS, TOTALS
from windrow.store.reading.tables import Condition, LakeTable

_ROW = ("tick", LogColumn.CONTROL)


@dataclass(frozen=True)
class ControlRows:
    """The newest of them, the sums of what each counted until it was committed, and whether one has forgotten rows."""

    last: Control
    counters: Counters
    has_forgotten: bool = False

    @classmethod
    def of(cls, journal: LakeTable | None, stage: str) -> ControlRows | None:
        """None before the first tick. Raises SpecError for a journal of an earlier version."""
        if journal is None:
            return None
        notes = journal.notes()
        if TOTALS in notes:
            newest, sums, forgettings = _newest(journal), notes[TOTALS], notes.get(FORGETTINGS, 0)
        else:
            newest, sums, forgettings = _added_up(journal)
        if newest is None:
            return None
        try:
            return cls(Control.from_json(newest), Counters.of(sums), forgettings > 0)
        except SpecError as error:
            raise error.within(f"stages.{stage}") from None


def written_since(journal: LakeTable | None, tick: int) -> Counters:
    """What the ticks behind one counted in the rows that they have written, which their tables may not show yet."""
    sums, conditions = Counter[str](), (Condition(LogColumn.KIND, "=", CONTROL), Condition("tick", ">", tick))
    for batch in () if journal is None else journal.rows(_ROW, *conditions):
        for row in batch.to_pylist():
            counts = json.loads(row[LogColumn.CONTROL])["counts"]
            sums.update({name: counts.get(name) or 0 for name in WRITTEN})
    return Counters.of(sums)


def _newest(journal: LakeTable) -> str | None:
    """The newest control row, without a look at any other."""
    batches = journal.newest_rows(_ROW, CONTROL, "tick")
    return next((row[LogColumn.CONTROL] for batch in batches for row in batch.to_pylist()), None)


def _added_up(journal: LakeTable) -> tuple[str | None, Counter[str], int]:
    """The newest control row, the sums over all of them, and how many have forgotten rows.

    Of a journal whose newest commit does not say them.
    """
    newest, sums, forgettings = (0, ""), Counter[str](), 0
    for batch in journal.rows(_ROW, Condition(LogColumn.KIND, "=", CONTROL)):
        for row in batch.to_pylist():
            newest = max(newest, (row["tick"], row[LogColumn.CONTROL]))
            said = json.loads(row[LogColumn.CONTROL])
            sums.update({name: said["counts"].get(name) or 0 for name in KNOWN_AT_COMMIT})
            forgettings += said["kind"] == FORGETTING
    return newest[1] or None, sums, forgettings
