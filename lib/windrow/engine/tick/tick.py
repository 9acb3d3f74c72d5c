"""One tick of a stage: (cells, elements, clock) -> (transitions of cells with their panes, dead letters).

Rule: docs/semantics.md#ticks.

Frames that nobody has run go in and come out; stream, transcripts and batches differ in what they do with them. `cells`
has one row for each cell that has not expired (`key`, `window_start`, `window_end`, `state`). What a tick does for one
family of windows is in `engine/windows/`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from windrow.compile.cells.at_end import Ending, in_arrays, transitions_at_end
from windrow.compile.columns import EMITS, ONE_PANE, PANES
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import col, lit, null
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.engine.clocks.clock import TickTimes, of_triggers
from windrow.engine.frames import apply, over, select
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.judging import admitted, judge
from windrow.engine.tick.micro_batch import DeadLetters, MicroBatch, counters_of
from windrow.engine.windows.registry import strategy_of


@dataclass(frozen=True)
class TickPlan:
    """What a tick writes: transitions of cells (None where no cell is evaluated) and dead letters.

    `counters` have all late pairs, those too that only the cells could show; those that are closed are not counted yet.
    `is_snapshot`: the transitions have all cells that are open after the tick, so that no earlier one need be read.
    `has_one_pane`: each of them emits one pane at most, and has it as it is, not in an array.
    `is_first`: each of them emits one, by no trigger, with which all of its window is said.
    """

    transitions: DataFrame | None
    dead_letters: DeadLetters = field(default_factory=dict)
    counters: Counters = NOTHING
    is_snapshot: bool = False
    has_one_pane: bool = False
    is_first: bool = False


def tick(
    stage: CompiledStage,
    micro_batch: MicroBatch,
    cells: DataFrame | None,
    times: TickTimes,
    admission: Admission,
    snapshot: bool = False,
) -> TickPlan:
    """One tick over rows with their envelope, step by step as the rule has them.

    With `snapshot` it writes all open cells, where the windows allow for that; `cells` are all of them then.
    """
    strategy, clock = strategy_of(stage), trigger_clock(stage, times)
    # 1. Judge
    judged, dead_letters = judge(stage, micro_batch, cells, admission)
    elements = admitted(stage, judged, cells, admission, times)
    if elements is None and cells is None:
        return TickPlan(None, dead_letters, counters_of(judged))
    # 2. Combine
    combined = None
    if elements is not None:
        combined = strategy.combine(elements, admission, clock.watermark_before, cells is not None)
    # 3. Merge
    merged = strategy.merge(combined, cells, admission, times, clock, snapshot)
    # 4. Add, 5. Evaluate, 6. Expire
    evaluated = None
    if merged.windows is not None and merged.ending is not None:
        evaluated = apply(at_end(stage, over(merged.windows), merged.ending, times, clock), merged.windows)
    elif merged.windows is not None:
        evaluated = _evaluated(stage, merged.windows, times, clock, merged.is_apart)
    has_one = evaluated is None or (merged.ending is not None and has_one_pane(stage))
    transitions = _together(stage, evaluated, merged.kept, has_one)
    return TickPlan(transitions, dead_letters, counters_of(judged), merged.is_snapshot, has_one)


def _evaluated(
    stage: CompiledStage, windows: DataFrame, times: TickTimes, clock: TickClock, is_apart: bool
) -> DataFrame:
    """The transitions of windows, from the state before the tick (`s_` columns) and what it brings (`p_` columns)."""
    return apply(phases(stage, over(windows), times, clock, is_apart)["transitions"], windows)


def at_end(stage: CompiledStage, windows: Chain, ending: Ending, times: TickTimes, clock: TickClock) -> Chain:
    """The transitions of windows that had no state, and fire when they end, all in one."""
    found = transitions_at_end(stage.cells, windows, ending, clock, list(times.active_partitions) or None)
    return found if has_one_pane(stage) else in_arrays(found)


def has_one_pane(stage: CompiledStage) -> bool:
    """Whether a pane of a window is one row as it is shown: not so of a join."""
    return not stage.panes.gathered


def phases(
    stage: CompiledStage, windows: Chain, times: TickTimes, clock: TickClock, is_apart: bool = False
) -> dict[str, Chain]:
    """What happens to the windows of a tick: the chain up to the end of each phase, by its name, in order.

    `is_apart`: none of them was made of others.
    """
    cells = stage.cells
    before = cells.before(windows)
    # 4. Add
    added = cells.add(before, clock)
    # 5. Evaluate
    fired = cells.fire(added, clock, list(times.active_partitions) or None)
    after = cells.after(fired, clock)
    # 6. Expire
    transitions = cells.transitions_apart(after) if is_apart else cells.transitions(after)
    return {"before": before, "add": added, "fire": fired, "after": after, "transitions": transitions}


def _together(
    stage: CompiledStage, evaluated: DataFrame | None, kept: DataFrame | None, has_one: bool
) -> DataFrame | None:
    """The transitions of windows and of what is kept beside them, with their panes as they are shown."""
    if evaluated is not None and not has_one:
        evaluated = shown(stage, evaluated)
    if kept is None:
        return evaluated
    nothing = _without_panes(stage, kept, has_one)
    return nothing if evaluated is None else evaluated.unionByName(nothing)


def _without_panes(stage: CompiledStage, kept: DataFrame, has_one: bool) -> DataFrame:
    """The transitions of what emits nothing, as those beside it are."""
    nothing = {ONE_PANE: null(stage.pane_type), EMITS: lit(False)}
    panes = nothing if has_one else {PANES: null(f"array<{stage.pane_type}>")}
    return select(kept, {**{name: col(name) for name in kept.columns}, **panes})


def open_windows(stage: CompiledStage, windows: DataFrame, times: TickTimes) -> DataFrame:
    """The transitions of windows with all their elements, of which none is complete."""
    transitions = _together(stage, _evaluated(stage, windows, times, trigger_clock(stage, times), True), None, False)
    assert transitions is not None
    return transitions


def shown(stage: CompiledStage, transitions: DataFrame) -> DataFrame:
    """The transitions with their panes as they are shown."""
    return apply(stage.panes.of_transitions(over(transitions)), transitions)


def trigger_clock(stage: CompiledStage, times: TickTimes) -> TickClock:
    """The clocks of a tick as triggers see them."""
    return of_triggers(stage.stage, times)
