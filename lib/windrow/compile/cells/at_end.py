"""Windows that fire once, when they end, and had no state before: what `cell` comes to for them, in one projection.

Rules: docs/semantics.md#ticks, docs/semantics.md#panes. So short a text is analysed in a third of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.compile.aggregates.parts import Values
from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import CELL, EMITS, EXPIRED, NET, ONE_PANE, OPENED, PANES, STATE
from windrow.compile.panes.panes import ON_TIME, PaneColumns, pane_struct, percentile_reached
from windrow.compile.panes.results import PASSES, with_passes
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, array, case, col, lit, null, struct, when
from windrow.compile.triggers.clocks import WATERMARK, CellClock
from windrow.spec.triggers.base import without_sugar
from windrow.spec.triggers.firings import fires_at_end
from windrow.spec.triggers.leaves import AtWatermark


def fires_plainly(cells: CellColumns) -> bool:
    """Whether a window of the stage has one pane, the watermark's, in the tick in which it expires."""
    return fires_at_end(cells.stage) and without_sugar(cells.stage.trigger).is_watermark()


@dataclass(frozen=True)
class Ending:
    """Which windows end, so that they emit their pane and expire.

    `kept` is the state of the others afterwards, and `left` that of those which end; `opened` says which were not
    there before, if not those that end.
    """

    ends: Column = field(default_factory=lambda: lit(True))
    kept: Column | None = None
    left: Column | None = None
    opened: Column | None = None


def transitions_at_end(
    cells: CellColumns, windows: Chain, ending: Ending, clock: CellClock, partitions: list[int] | None
) -> Chain:
    """The transitions of windows from their partials (`p_` columns), with one pane each."""
    opened = col(EXPIRED) if ending.opened is None else ending.opened
    windows = windows.with_columns({EXPIRED: ending.ends})
    emits = col(EXPIRED)
    if cells.is_weighted:  # where nothing is left, there is nothing to compute
        emits = emits & (col(NET) > 0)
    values = {f"v_{name}": one.value(_parts_of(name), emits) for name, one in cells.aggregates.items()}
    windows = with_passes(cells.stage, windows.with_columns(values))
    if cells.stage.having is not None:
        emits = emits & col(PASSES)
    pane = pane_struct(
        PaneColumns(
            change=lit("insert"),
            weight=1,
            timing=lit(ON_TIME),
            pane_index=lit(0),
            on_time_index=lit(0),
            is_last=lit(True),
            trigger=lit(AtWatermark.NAME),
            percentile=percentile_reached(clock.column(WATERMARK), partitions),
            values={name: col(f"v_{name}") for name in cells.aggregates},
        )
    )
    own = {name: col(name) for name in (*CELL, EXPIRED)}
    return windows.select({**own, ONE_PANE: pane, EMITS: emits, OPENED: opened, STATE: _state(cells, ending)})


def in_arrays(transitions: Chain) -> Chain:
    """Such transitions with their panes in an array, as those of all other windows are."""
    own = {name: col(name) for name in transitions.names if name not in (ONE_PANE, EMITS)}
    return transitions.select({**own, PANES: when(col(EMITS), array(col(ONE_PANE)))})


def state_of_partials(cells: CellColumns, also: Mapping[str, Column] | None = None) -> Column:
    """The state of a cell that has emitted nothing, from its partials; with these fields, and the others null."""
    fields = {field: col(part) for part, field in cells.fields_of_parts.items()} | dict(also or {})
    for name, aggregate in cells.aggregates.items():
        if aggregate.carry is not None:
            fields |= {f"a_{name}_{part}": column for part, column in aggregate.carry(_parts_of(name)).items()}
    return struct(**{name: fields.get(name, null(kind)).cast(kind) for name, (kind, _) in cells.state.items()})


def _state(cells: CellColumns, ending: Ending) -> Column:
    if ending.kept is None:
        return null(cells.state_type) if ending.left is None else ending.left
    return case((~col(EXPIRED), ending.kept), otherwise=ending.left)


def _parts_of(name: str) -> Values:
    """The parts of an aggregate over all elements of the window."""
    return lambda part: col(f"p_{name}_{part}")
