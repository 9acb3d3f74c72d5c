"""Cells that go through their ticks by themselves show what they show in the stream: pane by pane, tick by tick.

The model is the stream here, and no Spark is needed: the columns are those of the engine, as DuckDB computes them.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.laws import strategies
from tests.model.elements import CLOSED, LATE, asserted, read
from tests.model.panes import DELETE, UPDATE_POSTIMAGE, UPDATE_PREIMAGE, Pane
from tests.model.stream import Stream
from tests.model.tick import Tick
from windrow.compile.cells.cell import CellColumns
from windrow.compile.cells.own_ticks import OwnTicks
from windrow.compile.triggers.clocks import TickClock
from windrow.compile.triggers.tree import compile_trigger
from windrow.drivers.simulate.clocks import Arrived, times_of
from windrow.drivers.simulate.duck import connection, load_ticks, load_touches, row_of
from windrow.drivers.simulate.lives import Lives
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.stages.stage import PaneTime, Stage
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.spec.triggers.all import nodes_of, percentiles_of, tick_aggregates

QUICK = settings(
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if "SHRINK" in os.environ else [])],
)
EXAMPLES = int(os.environ.get("EXAMPLES", "200" if "LONG" in os.environ else "20"))


def is_simulated(stage: Stage) -> bool:
    """Whether its panes depend on the number of its elements alone."""
    nodes = list(nodes_of(stage.trigger))
    are_own = any(not type(node).__module__.startswith("windrow.") for node in nodes)
    return not are_own and not tick_aggregates(stage.trigger) and not any(node.conditions for node in nodes)


def without_values(stage: Stage) -> Stage:
    counted = dict(strategies.AGGREGATES[:1])
    return replace(
        stage, having=None, only_if_changed=False, event_time=PaneTime.END_OF_WINDOW, derive={}, aggregates=counted
    )


def runs() -> st.SearchStrategy[strategies.Run]:
    found = strategies.runs(over=strategies.lone_windows()).filter(lambda run: is_simulated(run.stage))
    return found.map(lambda run: replace(run, stage=without_values(run.stage)))


def touches_of(stream: Stream, tick: int, out: Tick, elements: Any) -> list[dict[str, Any]]:
    """The cells that get elements in a tick, late ones too."""
    rows = read(stream.typed, elements, out.clock.now).rows
    counts = Counter((str(row.key), window.start, window.end) for row in rows for window in row.windows)
    return [
        {"key": hash(key), "window_start": start, "window_end": end, "tick": tick, "elements": number,
         "last_arrival": out.clock.now}
        for (key, start, end), number in counts.items()
    ]  # fmt: skip


TOUCH = pa.schema(
    [(name, pa.int64()) for name in ("key", "window_start", "window_end", "tick", "elements", "last_arrival")]
)


def own_ticks(stage: Stage) -> OwnTicks:
    return OwnTicks.of(CellColumns(stage, {}, compile_trigger(stage.trigger), {}, {}))


def clock_of(stage: Stage, out: Tick) -> TickClock:
    clock, named = out.clock, percentiles_of(stage.trigger)
    return TickClock(
        clock.now,
        clock.watermark_before,
        clock.watermark_after,
        stage.allowed_lateness,
        {p: clock.watermark_of(p) for p in named},
        {p: clock.watermark_before_of(p) for p in named},
    )


def ticks_of(own: OwnTicks, stage: Stage, outs: list[Tick]) -> pa.Table:
    rows = []
    for number, out in enumerate(outs, 1):
        expired = saturating_add(out.clock.watermark_before, -stage.allowed_lateness)
        rows.append({"tick": number, "expired_before": expired, **own.clock_columns(clock_of(stage, out))})
    return pa.Table.from_pylist(rows, pa.schema([(name, pa.int64()) for name in rows[0]]))


def lived(stage: Stage, outs: list[Tick], touches: list[dict[str, Any]]) -> tuple[list[tuple[Any, ...]], int, int]:
    """What the simulated cells show, and the pairs that are late and closed out."""
    own, duck = own_ticks(stage), connection()
    load_touches(duck, "shared", pa.Table.from_pylist(touches, TOUCH))
    ticks = ticks_of(own, stage, outs)
    load_ticks(duck, "one", ticks)
    lives = Lives(duck, "one", "shared", own, tuple(name for name in ticks.column_names[2:]))
    lives.live()
    found = duck.execute(
        """SELECT tick, key, window_start, window_end, shows, retracts, replaces, timing, pane_index, is_last, leaf,
            so_far
        FROM one.log JOIN shared.cells USING (cell) WHERE shows OR retracts"""
    ).fetchall()
    late = lives.late()
    (closed,) = row_of(duck, "SELECT coalesce(sum(shut_out), 0)::BIGINT FROM one.log")
    return found, late, closed


def of_lives(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for tick, key, start, end, shows, retracts, replaces, timing, index, is_last, leaf, held in rows:
        if shows:
            change = UPDATE_POSTIMAGE if replaces else "insert"
            found[tick, key, (start, end), change, timing, index, is_last, leaf, held] += 1
        elif retracts:
            found[tick, key, (start, end), DELETE] += 1
    return found


def of_model(stage: Stage, outs: list[Tick]) -> Counter[tuple[Any, ...]]:
    """The panes of the model; `held` is the number of elements that all panes so far have shown."""
    found: Counter[tuple[Any, ...]] = Counter()
    held: dict[tuple[str, Any], int] = {}
    for number, out in enumerate(outs, 1):
        for pane in out.panes:
            key, window = str(pane.key), (pane.window.start, pane.window.end)
            if pane.change == UPDATE_PREIMAGE:
                continue
            if pane.change == DELETE:
                found[number, hash(key), window, DELETE] += 1
                continue
            held[key, window] = held_of(stage, pane, held.get((key, window), 0))
            found[number, hash(key), window, pane.change, pane.timing, pane.index, pane.is_last, pane.trigger,
                  held[key, window]] += 1  # fmt: skip
    return found


def held_of(stage: Stage, pane: Pane, before: int) -> int:
    if stage.is_discarding:
        return before + int(pane.aggregates["num"])
    return int(pane.aggregates["num"])


def simulate(run: strategies.Run) -> tuple[Stream, list[Tick], list[dict[str, Any]]]:
    stream = Stream(run.stage, strategies.SCHEMA)
    outs, touches = [], []
    for number, given_ in enumerate(run.ticks, 1):
        outs.append(stream.tick(given_.elements, given_.now, given_.watermark))
        touches += touches_of(stream, number, outs[-1], given_.elements)
    return stream, outs, touches


@settings(QUICK, max_examples=EXAMPLES)
@given(run=runs())
def test_lives_are_the_ticks_of_the_stream(run: strategies.Run) -> None:
    if run.stage.is_mixed:  # what a pane that may clear holds is not the number of elements so far
        run = replace(run, stage=replace(run.stage, accumulation="accumulating", retract=False))
    _, outs, touches = simulate(run)
    rows, late, closed = lived(run.stage, outs, touches)
    assert of_lives(rows) == of_model(run.stage, outs)
    dead = Counter(letter.reason for out in outs for letter in out.dead)
    assert (late, closed) == (dead[LATE], dead[CLOSED])


@settings(QUICK, max_examples=EXAMPLES)
@given(
    ticks=strategies.source_ticks(),
    rule=strategies.watermarks(),
    stage=strategies.stages(over=strategies.lone_windows()),
)
def test_clocks_are_those_of_the_stream(ticks: Any, rule: Any, stage: Stage) -> None:
    stream = Stream(stage, strategies.SCHEMA, rule)
    outs, arrived = [], []
    for number, one in enumerate(ticks, 1):
        outs.append(stream.tick(one.elements, one.now))
        arrived.append(Arrived(number, outs[-1].clock.now, found_in(stream, one, outs[-1])))
    for out, times in zip(outs, times_of(stage, rule, arrived), strict=True):
        assert times.before.watermark == out.clock.watermark_before
        assert times.after.watermark == out.clock.watermark_after
        for percentile in percentiles_of(stage.trigger):
            assert times.after.percentile(percentile) == out.clock.watermark_of(percentile)


def found_in(stream: Stream, one: strategies.TickInput, out: Tick) -> BatchStatistics:
    """What the statistics of a micro-batch say of the elements of a tick."""
    reading = read(stream.typed, one.elements, out.clock.now)
    greatest: dict[str | None, int] = {}
    marks: dict[str | None, int] = {}
    for row in reading.moving:
        name = row.element.partition
        greatest[name] = max(greatest.get(name, MINUS_INFINITY), row.source_time)
        mark = asserted(stream.typed, row)
        if mark is not None:
            marks[name] = max(marks.get(name, MINUS_INFINITY), mark)
    ends = [window.end for row in reading.rows for window in row.windows]
    return BatchStatistics(latest_end=max(ends, default=None), greatest=greatest, asserted=marks)
