"""Windows that fire once, when they end, and had no state before: what `cell` comes to for them, in one projection.

Rules: docs/semantics.md#ticks, docs/semantics.md#panes. So short a text is analysed in a third of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from windrow.compile.aggregates.parts import Values
from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import CELL, EXPIRED, NET, OPENED, PANES, STATE
from windrow.compile.panes.panes import ON_TIME, PaneColumns, pane_struct, percentile_reached
from windrow.compile.panes.results import PASSES, with_passes
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, col, lit, null, when
from windrow.compile.triggers.tree import TickClock
from windrow.spec.triggers.base import without_sugar
from windrow.spec.triggers.firings import fires_at_end
from windrow.spec.triggers.leaves import AtWatermark


def fires_plainly(cells: CellColumns) -> bool:
    """Whether a window of the stage has one pane, the watermark's, in the tick in which it expires."""
    return fires_at_end(cells.stage) and without_sugar(cells.stage.trigger).is_watermark()


@dataclass(frozen=True)
class Ending:
    """Which windows end, so that they emit their pane and expire, and the state of the others afterwards."""

    ends: Column = field(default_factory=lambda: lit(True))
    kept: Column | None = None


def transitions_at_end(
    cells: CellColumns, windows: Chain, ending: Ending, clock: TickClock, partitions: list[int] | None
) -> Chain:
    """The transitions of windows from their partials (`p_` columns)."""
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
            percentile=percentile_reached(clock.watermark_after, partitions),
            values={name: col(f"v_{name}") for name in cells.aggregates},
        )
    )
    own = {name: col(name) for name in (*CELL, EXPIRED)}
    state = null(cells.state_type) if ending.kept is None else when(~col(EXPIRED), ending.kept)
    return windows.select({**own, PANES: when(emits, sql.array(pane)), OPENED: col(EXPIRED), STATE: state})


def _parts_of(name: str) -> Values:
    """The parts of an aggregate over all elements of the window."""
    return lambda part: col(f"p_{name}_{part}")
