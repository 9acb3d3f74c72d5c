"""Cells that are evaluated, with the columns that a tick works on: the state that they had, and what the tick adds."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, ELEMENTS, NET, STATE
from windrow.compile.sql.columns import Column, bigint, col, null
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.engine.frames import select, where


def state_of(stage: CompiledStage) -> dict[str, Column]:
    """The state of a cell that was there, as `s_` columns."""
    return {f"s_{name}": col(STATE, name) for name in stage.cells.state}


def no_state(stage: CompiledStage) -> dict[str, Column]:
    """The state of a cell that arises, likewise."""
    return {f"s_{name}": null(kind) for name, (kind, _) in stage.cells.state.items()}


def with_timer_due(
    stage: CompiledStage, cells: DataFrame, clock: TickClock, also: Mapping[str, Column] | None = None
) -> DataFrame:
    """The cells of which a timer is due, and to which the tick adds nothing; with these columns more."""
    nothing = {name: null(stage.cells.part_types[name]) for name in stage.cells.tick_parts}
    if stage.is_weighted:
        nothing[NET] = bigint(0)
    identity = {name: col(name) for name in CELL}
    added = {ELEMENTS: bigint(0), **nothing, **(also or {})}
    return select(where(cells, stage.cells.is_timer_due(clock)), {**identity, **state_of(stage), **added})
