"""A simulated history shows what the ticks of the stream's own runner show, over the same rows, for random stages."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import Any

from hypothesis import given, settings
from pyspark.sql import DataFrame

from tests.laws import strategies
from tests.laws.test_engine_equals_model import EXAMPLES, IN_SPARK
from tests.laws.test_simulated_lives import without_values
from windrow.compile.cells.own_ticks import OwnTicks
from windrow.compile.elements.envelope import STEP
from windrow.compile.sql.columns import col
from windrow.drivers.simulate.clocks import Arrived, clock_table, times_of
from windrow.drivers.simulate.duck import connection, load_ticks, load_touches
from windrow.drivers.simulate.history import TICK, History
from windrow.drivers.simulate.lives import Lives
from windrow.engine.frames import with_column
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.inputs import ONLY
from windrow.spec.transcripts.cases import Step
from windrow.spec.triggers.all import nodes_of
from windrow.testing.memory.stage import MemoryStage

Facts = Counter[tuple[Any, ...]]


def is_simulated(run: strategies.Run) -> bool:
    nodes = list(nodes_of(run.stage.trigger))
    are_own = any(not type(node).__module__.startswith("windrow.") for node in nodes)
    return not are_own and not run.stage.is_mixed and not any(node.conditions for node in nodes)


def stages() -> Any:
    over = strategies.lone_windows().filter(lambda window: not window.IS_GLOBAL)
    runs = strategies.stages(over=over).map(lambda stage: strategies.Run(without_values(stage), ()))
    return runs.filter(is_simulated).map(lambda run: run.stage)


@settings(IN_SPARK, max_examples=EXAMPLES)
@given(ticks=strategies.source_ticks(), rule=strategies.watermarks(), stage=stages())
def test_a_simulation_shows_what_the_engine_shows(spark, ticks, rule: Watermark, stage) -> None:
    engine = MemoryStage.of(spark, stage, strategies.SCHEMA, rule)
    expected: Facts = Counter()
    for number, tick in enumerate(ticks, 1):
        out = engine.step(Step(tick.elements, None, tick.now, None, (), None, None))
        expected += facts_of(number, out.panes, stage)
    log = engine._logs[ONLY]
    steps = [number for number, tick in enumerate(ticks, 1) if tick.elements]
    frames = {number: frame for number, frame in zip(steps, log.steps, strict=True) if frame is not None}
    assert simulated(engine, stage, rule, frames, [tick.now for tick in ticks]) == expected, (ticks, rule, stage)


def simulated(engine: MemoryStage, stage: Any, rule: Watermark, frames: dict[int, DataFrame], nows: list[int]) -> Facts:
    compiled = engine.stage.of_input(ONLY)
    if not frames:
        return Counter()
    numbered = [with_column(frame, TICK, col(STEP) * 0 + number) for number, frame in frames.items()]
    history = History(reduce(DataFrame.unionByName, numbered))
    found, _ = history.statistics(compiled)
    arrived = [Arrived(n, now, found.get(n, BatchStatistics())) for n, now in enumerate(nows, 1)]
    own = OwnTicks.of(compiled.cells)
    table, duck = clock_table(own, list(times_of(stage, rule, arrived))), connection()
    load_touches(duck, "shared", history.touches(compiled, (None, None)))
    load_ticks(duck, "one", table)
    Lives(duck, "one", "shared", own, tuple(table.column_names[2:])).live()
    rows = duck.execute(
        """SELECT tick, window_start, window_end, timing, pane_index, is_last, leaf, replaces, so_far, shows
        FROM one.log JOIN shared.cells USING (cell) WHERE shows OR retracts"""
    ).fetchall()
    made: Facts = Counter()
    for tick, start, end, timing, index, is_last, leaf, replaces, so_far, shows in rows:
        if shows:
            change = "update_postimage" if replaces else "insert"
            number = so_far if not stage.is_discarding else None
            made[tick, (start, end), change, timing, index, is_last, leaf, number] += 1
        else:
            made[tick, (start, end), "delete"] += 1
    return made


def facts_of(tick: int, panes: list[dict[str, Any]], stage: Any) -> Facts:
    found: Facts = Counter()
    for pane in panes:
        window = pane["window"]
        if pane["change"] == "delete":
            found[tick, window, "delete"] += 1
        elif pane["change"] != "update_preimage":
            found[tick, window, pane["change"], pane["timing"], pane["index"], pane["is_last"], pane["trigger"],
                  None if stage.is_discarding else pane["num"]] += 1  # fmt: skip
    return found
