"""What the tables of a stage show, and its ticks as far as they show them: they are written behind the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from windrow.drivers.inspect.explain.reading.rows import PaneLog
from windrow.drivers.inspect.explain.reading.ticks import Ticks
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.store.journal.control import Control
from windrow.store.reading.tables import LakeTable, Tables


@dataclass(frozen=True)
class Shown:
    """The tables of a stage, the generation that they show, and the ticks up to the last that all of them have."""

    generation: int
    ticks: Ticks
    panes: PaneLog
    letters: LakeTable | None

    @classmethod
    def of(cls, tables: Tables, lake: Lake, stage: Stage, newest: int) -> Shown:
        """`newest` is the newest generation: the tables show an older one until it is at the head of its input.

        The tables are opened first, so that the journal, which is opened behind them, has every tick that they have.
        """
        panes, letters = (tables.open(lake.table(stage.name, name)) for name in ("panes", "dead_letters"))
        notes, of_letters = _notes(panes), _notes(letters)
        generation = int(notes.get("generation", newest))
        ticks = Ticks.of(tables.open(lake.journal(stage.name, generation).location), stage)
        shown = int(notes.get("journal_step", 0))
        told = int(of_letters.get("journal_step", 0)) if of_letters.get("generation") == generation else 0

        def is_shown(control: Control) -> bool:
            """A table to which a tick brings nothing may stay behind it."""
            counted = control.counters
            has_panes, has_letters = counted.panes + counted.retractions > 0, counted.dead_letters > 0
            return not (has_panes and control.tick > shown) and not (has_letters and control.tick > told)

        return cls(generation, ticks, PaneLog(stage, panes, 0), letters).until(is_shown)

    def until(self, holds: Callable[[Control], bool]) -> Shown:
        """The same, up to before the first tick of which something does not hold."""
        ticks = self.ticks.while_all(holds)
        end = 0 if ticks.last is None else ticks.last.tick
        return replace(self, ticks=ticks, panes=replace(self.panes, until=end))


def _notes(table: LakeTable | None) -> Mapping[str, Any]:
    return {} if table is None else table.notes()
