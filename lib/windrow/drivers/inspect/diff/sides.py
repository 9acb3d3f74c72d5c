"""The two sides of a comparison: what a lake shows of a stage, or what stands in the journal of a generation."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.compile.panes.log_rows import PANE
from windrow.compile.panes.panes import RETRACTED
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import LakeTable, Tables


@dataclass(frozen=True)
class Side:
    """One of the two: `relation` is SQL with its rows over `table`, which is called `name` there; `words` says what."""

    name: str
    table: LakeTable
    relation: str
    words: str


def shown_by(tables: Tables, lake: str, stage: Stage, name: str) -> Side:
    """What a lake shows: its table `current`. Raises SpecError where the stage has not run there."""
    table = tables.open(Lake.of(lake).table(stage.name, "current"))
    if table is None:
        raise SpecError(f"stages.{stage.name}", "has not run in this lake", lake, "windrow run, or another lake")
    generation = table.notes().get("generation")
    return Side(name, table, name, lake if generation is None else f"{lake}, generation {generation}")


def made_by(tables: Tables, lake: str, stage: Stage, generation: int, name: str) -> Side:
    """The panes that stand in a generation, shown or not. Raises SpecError where the journal does not have them all."""
    if stage.is_mixed:
        raise NotInThisVersion("--generation", "of a stage whose firings may clear is not in this version", stage.name)
    place = Lake.of(lake)
    table = tables.open(place.journal(stage.name, generation).location)
    rule = "names a generation of which there is no journal"
    if table is not None and Floors.of(place).read(tables, journal_floor(stage.name, generation)):
        table, rule = None, "names a generation of which maintenance has dropped transitions"
    if table is None:
        raise SpecError("--generation", f"{rule} of {stage.name}", generation, "compare lakes: --against")
    is_pane = f"{quoted(tables.quote, LogColumn.KIND)} = '{PANE}'"
    return Side(name, table, _standing(tables.quote, stage, name, is_pane), f"{lake}, generation {generation}")


def shown_at(quote: str, stage: Stage, panes: LakeTable, tick: int, name: str) -> Side:
    """What a stage showed after a tick, by its table `panes`."""
    return Side(name, panes, _standing(quote, stage, name, f"tick <= {tick}"), f"tick {tick}")


def _standing(quote: str, stage: Stage, name: str, condition: str) -> str:
    """The last change of each row of `current`, unless it takes the row away."""
    identity = ", ".join(quoted(quote, one) for one in identity_of(stage))
    numbered = f"ROW_NUMBER() OVER (PARTITION BY {identity} ORDER BY tick DESC, weight DESC) AS change_number"
    rows = f"SELECT *, {numbered} FROM {name} WHERE {condition}"
    gone = ", ".join(f"'{change}'" for change in RETRACTED)
    return f"(SELECT * FROM ({rows}) numbered WHERE change_number = 1 AND change NOT IN ({gone})) standing"


def identity_of(stage: Stage) -> tuple[str, ...]:
    """The columns that tell one row of `current` from another."""
    return (*stage.keys, "window_start", "window_end", *stage.row_identity)


def quoted(quote: str, name: str) -> str:
    """A name as SQL has it."""
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"
