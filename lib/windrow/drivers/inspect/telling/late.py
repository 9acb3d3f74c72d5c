"""The late rows of stages that no restatement has counted, read without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.store.delta.location import Lake
from windrow.store.reading.generations import newest_generations
from windrow.store.reading.tables import NUMBER, Groups, Tables

REASONS = frozenset({"late", "closed"})


@dataclass(frozen=True)
class LateRows:
    """Late rows of a generation of a stage, one for each window, and the newest tick that had some."""

    stage: str
    generation: int
    rows: int
    tick: int


def late_rows_in(tables: Tables, lake: Lake, stages: Iterable[str]) -> list[LateRows]:
    """The dead letters of these stages, of their newest generations, that a restatement may still count.

    Raises NotReadable.
    """
    found, generations = [], newest_generations(tables, lake.internal("generations"))
    for stage in generations.keys() & set(stages):
        letters, newest = tables.open(lake.table(stage, "dead_letters")), generations[stage].number
        if letters is None or letters.notes().get("generation", newest) < newest:  # it still shows an older one
            continue
        groups = letters.groups(Groups(("reason", "restated_by"), ("tick",))).to_pylist()
        late = [group for group in groups if group["reason"] in REASONS and group["restated_by"] is None]
        if late:
            rows, tick = sum(one[NUMBER] for one in late), max(one["tick"] for one in late)
            found.append(LateRows(stage, newest, rows, tick))
    return found
