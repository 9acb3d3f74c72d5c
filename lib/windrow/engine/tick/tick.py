"""One tick of a stage: (cells, elements, clock) -> transitions. Rule: SEMANTICS section 2.

Frames: `cells` has one row for each cell that has not expired (`key`, `window_start`, `window_end`, `state`),
`elements` one row for each element (`key`, `event_time`, `x_...`), the result one row for each cell that was asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import (
    AHEAD,
    CELL,
    ELEMENTS,
    EVENT_TIME,
    KEY,
    NET,
    PANES,
    SLICE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.panes.event_times import ahead_of
from windrow.compile.sql.columns import bigint, coalesce, col
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.evaluated import due, no_state, state_of
from windrow.engine.windows import merging, slices
from windrow.engine.windows import records as record_windows
from windrow.engine.windows.assign import bounded, spread
from windrow.spec.triggers.all import percentiles_of


def tick(
    stage: CompiledStage, cells: DataFrame | None, elements: DataFrame | None, times: TickTimes, held: Held
) -> DataFrame | None:
    """The transitions of one tick: every cell that got elements, or whose deadline is due, or that expires.

    None where there can be none.
    """
    clock = trigger_clock(stage, times)
    if elements is not None and stage.stage.keeps_event_times:
        elements = with_column(elements, AHEAD, ahead_of(times.output_watermark))
    asked: DataFrame | None
    remembered = None
    if stage.windows.merges:
        asked = merging.asked(stage, cells, elements, clock)
    elif stage.windows.made_by_records:
        asked, remembered = record_windows.asked(stage, cells, elements, held.expired_end, clock)
    elif stage.keeps_slices:
        asked, remembered = slices.asked(stage, cells, elements, held, times)
    else:
        asked = _asked(stage, cells, elements, held, clock)
    parts = [frame for frame in (_fired(stage, asked, times, clock), remembered) if frame is not None]
    if not parts:
        return None
    return _with_rows(stage, parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1]))


def open_windows(stage: CompiledStage, windows: DataFrame, times: TickTimes) -> DataFrame:
    """The transitions of windows with all their elements, of which none is complete."""
    transitions = _fired(stage, windows, times, trigger_clock(stage, times))
    assert transitions is not None
    return _with_rows(stage, transitions)


def _with_rows(stage: CompiledStage, transitions: DataFrame) -> DataFrame:
    """The panes of a join as rows."""
    return transitions if stage.joined is None else with_column(transitions, PANES, stage.joined.rows(col(PANES)))


def _fired(stage: CompiledStage, asked: DataFrame | None, times: TickTimes, clock: TickClock) -> DataFrame | None:
    """The transitions of the cells that are asked."""
    if asked is None:
        return None
    columns = stage.cells
    added = columns.add(columns.before(over(asked)), clock)
    fired = columns.fire(added, clock, list(times.active_partitions) or None)
    return apply(columns.transitions(columns.after(fired, clock)), asked)


def trigger_clock(stage: CompiledStage, times: TickTimes) -> TickClock:
    """The clocks of a tick as triggers see them."""
    before, after = times.before.watermark, times.after.watermark
    percentiles = {p: times.after.percentile(p) for p in percentiles_of(stage.stage.trigger)}
    earlier = {p: times.before.percentile(p) for p in percentiles}
    return TickClock(times.after.now, before, after, stage.stage.allowed_lateness, percentiles, earlier)


def combine(stage: CompiledStage, elements: DataFrame, held: Held) -> DataFrame:
    """The tick's elements per cell: `elements` and the aggregates' parts, but for the windows that are held.

    Aligned windows are combined per slice first; only then are slices spread over their windows.
    """
    windows = stage.windows
    if windows.made_by_records:
        return record_windows.combined(stage, elements)
    if windows.merges:
        return merging.merged(stage, merging.windows_of(stage, merging.pairs_of(stage, elements)))
    sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
    if windows.needs_spread:
        pieces = grouped(stage, sliced, (KEY, SLICE))
        if held == Held() and slices.can_form(windows):
            return slices.formed(stage, pieces, slices.ALL)
        return group(spread(windows, pieces, held.open_marks(windows, col(SLICE))), CELL, stage.merged)
    pairs = bounded(windows, sliced, col(SLICE))
    if held != Held():
        pairs = where(pairs, held.admits(col(WINDOW_START), col(WINDOW_END)))
    return grouped(stage, pairs, CELL)


def _asked(
    stage: CompiledStage, cells: DataFrame | None, elements: DataFrame | None, held: Held, clock: TickClock
) -> DataFrame:
    """The cells that are asked: their state before as `s_` columns, and the tick's elements as `p_` columns."""
    parts = stage.cells.tick_parts
    identity = {name: col(name) for name in CELL}
    if elements is None:
        assert cells is not None
        return due(stage, cells, clock)
    combined = combine(stage, elements, held)
    if cells is None:
        return select(combined, {**{name: col(name) for name in combined.columns}, **no_state(stage)})
    joined = combined.join(cells, on=list(CELL), how="full")
    asked = where(joined, col(ELEMENTS).is_not_null() | stage.cells.is_due(clock))
    kept = {name: col(name) for name in parts}
    if stage.is_weighted:
        kept[NET] = coalesce(col(NET), bigint(0))
    return select(asked, {**identity, **state_of(stage), ELEMENTS: coalesce(col(ELEMENTS), bigint(0)), **kept})
