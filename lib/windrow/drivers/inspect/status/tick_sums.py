"""What the rows of `ticks` say together."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.engine.tick.counters import NOTHING, WRITTEN, Counters
from windrow.store.journal.control import ADMISSION, FORGETTING, READING
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable


@dataclass(frozen=True)
class TickSums:
    """Sums over the ticks of a generation, of what was counted when they were projected, and the newest of them."""

    counters: Counters = NOTHING
    backfills: int = 0
    projected_to: int = 0
    open_cells: int = 0

    @classmethod
    def of(cls, table: LakeTable | None, generation: int, until: int) -> TickSums:
        """Of the ticks up to one: a stream may have projected more since."""
        if table is None:
            return cls()
        own, before = Condition("generation", "=", generation), Condition("tick", "<=", until)
        kinds = table.groups(Groups(by=("kind",), greatest=("tick",), totals=WRITTEN), own, before).to_pylist()
        newest = max((row["tick"] for row in kinds), default=0)
        at = table.groups(Groups(greatest=("open_cells",)), own, Condition("tick", "=", newest)).to_pylist()
        return cls(
            counters=sum(map(Counters.of, kinds), NOTHING),
            backfills=sum(row[NUMBER] for row in kinds if row["kind"] not in (*READING, ADMISSION, FORGETTING)),
            projected_to=newest,
            open_cells=at[0]["open_cells"] or 0,
        )
