"""What the tables `current` show of the ticks of stages, as the tables `ticks` count it; read without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from windrow.store.delta.location import Lake
from windrow.store.reading.generations import newest_generations
from windrow.store.reading.tables import Condition, Groups, Tables


@dataclass(frozen=True)
class Ticked:
    """Panes and retractions of a stage, up to a tick of a generation."""

    stage: str
    generation: int
    tick: int
    panes: int
    retractions: int


def ticked_in(tables: Tables, lake: Lake, stages: Iterable[str], since: Mapping[tuple[str, int], int]) -> list[Ticked]:
    """The stages whose table `current` shows something of ticks behind those `since`, by stage and generation.

    That table may be behind the others, as a stream writes it less often. Raises NotReadable where only Spark reads the
    lake.
    """
    generations = newest_generations(tables, lake.internal("generations"))
    found = [_ticked(tables, lake, stage, generations[stage].number, since) for stage in stages if stage in generations]
    return [one for one in found if one is not None]


def _ticked(
    tables: Tables, lake: Lake, stage: str, generation: int, since: Mapping[tuple[str, int], int]
) -> Ticked | None:
    current, ticks = (tables.open(lake.table(stage, name)) for name in ("current", "ticks"))
    notes = {} if current is None else current.notes()
    if ticks is None or notes.get("generation") != generation:
        return None
    own = Condition("generation", "=", generation)
    until = int(notes["journal_step"])
    later = Condition("tick", ">", since.get((stage, generation), 0)), Condition("tick", "<=", until)
    (sums,) = ticks.groups(Groups((), ("tick",), ("panes", "retractions")), own, *later).to_pylist() or [{}]
    if not sums.get("panes") and not sums.get("retractions"):
        return None
    return Ticked(stage, generation, sums["tick"], sums["panes"], sums["retractions"])
