"""What the control rows of a journal say: where the newest tick has left the stage, and what all of them counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from windrow.engine.tick.counters import KNOWN_AT_COMMIT, Counters
from windrow.spec.errors import SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.store.journal.control import CONTROL, FORGETTING, Control
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
        newest, sums, kinds = (0, ""), Counter[str](), set()
        batches = [] if journal is None else journal.rows(_ROW, Condition(LogColumn.KIND, "=", CONTROL))
        for batch in batches:
            for row in batch.to_pylist():
                newest = max(newest, (row["tick"], row[LogColumn.CONTROL]))
                said = json.loads(row[LogColumn.CONTROL])
                sums.update({name: said["counts"].get(name) or 0 for name in KNOWN_AT_COMMIT})
                kinds.add(said["kind"])
        if newest[0] == 0:
            return None
        try:
            return cls(Control.from_json(newest[1]), Counters.of(sums), FORGETTING in kinds)
        except SpecError as error:
            raise error.within(f"stages.{stage}") from None
