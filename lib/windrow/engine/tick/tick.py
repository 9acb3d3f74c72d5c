"""One tick of a stage: (cells, elements, clock) -> transitions. Rule: docs/semantics.md#ticks.

Frames: `cells` has one row for each cell that has not expired (`key`, `window_start`, `window_end`, `state`),
`elements` one row for each element (`key`, `event_time`, `x_...`), the result one row for each window that was
evaluated, and what the family of windows keeps beside them. Each family is in `engine/windows/`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import AHEAD
from windrow.compile.panes.event_times import ahead_of
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import apply, over, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.windows.registry import strategy_of
from windrow.spec.triggers.all import percentiles_of


def tick(
    stage: CompiledStage, cells: DataFrame | None, elements: DataFrame | None, times: TickTimes, held: Held
) -> DataFrame | None:
    """The transitions of one tick: every window that got elements, or whose deadline is due, or that expires.

    None where there can be none.
    """
    clock = trigger_clock(stage, times)
    if elements is not None and stage.stage.keeps_event_times:
        elements = with_column(elements, AHEAD, ahead_of(times.output_watermark))
    found = strategy_of(stage).evaluate(cells, elements, held, times, clock)
    parts = [frame for frame in (_fired(stage, found.windows, times, clock), found.kept) if frame is not None]
    if not parts:
        return None
    return _shown(stage, parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1]))


def open_windows(stage: CompiledStage, windows: DataFrame, times: TickTimes) -> DataFrame:
    """The transitions of windows with all their elements, of which none is complete."""
    transitions = _fired(stage, windows, times, trigger_clock(stage, times))
    assert transitions is not None
    return _shown(stage, transitions)


def _shown(stage: CompiledStage, transitions: DataFrame) -> DataFrame:
    """The transitions with their panes as they are shown."""
    return apply(stage.panes.of_transitions(over(transitions)), transitions)


def _fired(stage: CompiledStage, evaluated: DataFrame | None, times: TickTimes, clock: TickClock) -> DataFrame | None:
    """The transitions of the windows that are evaluated."""
    if evaluated is None:
        return None
    columns = stage.cells
    added = columns.add(columns.before(over(evaluated)), clock)
    fired = columns.fire(added, clock, list(times.active_partitions) or None)
    return apply(columns.transitions(columns.after(fired, clock)), evaluated)


def trigger_clock(stage: CompiledStage, times: TickTimes) -> TickClock:
    """The clocks of a tick as triggers see them."""
    before, after = times.before.watermark, times.after.watermark
    percentiles = {p: times.after.percentile(p) for p in percentiles_of(stage.stage.trigger)}
    earlier = {p: times.before.percentile(p) for p in percentiles}
    return TickClock(times.after.now, before, after, stage.stage.allowed_lateness, percentiles, earlier)
