"""The engine gives what the model gives: panes, dead letters and counts of every tick, for random stages and ticks."""

import os
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from tests.laws import strategies
from tests.model.stream import Stream
from windrow.spec.fields.reading import Named
from windrow.spec.transcripts.cases import Step
from windrow.testing.matching import same
from windrow.testing.memory.stage import MemoryStage

EXAMPLES = int(os.environ.get("EXAMPLES", "40" if "LONG" in os.environ else "8"))
"""Some in every run, more in `make test-all`, thousands by hand: `EXAMPLES=2000 make test ARGS=tests/laws`."""

IN_SPARK = settings(
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if "SHRINK" in os.environ else [])],
)
"""A step takes a second in Spark: an example that fails is shown as it was found.

`SHRINK=1` makes it small, `SEED=1` takes others."""


def without_floats(run: strategies.Run) -> strategies.Run:
    """Floating-point sums depend on the grouping: no law holds for them beyond the last bits of what cancels out."""
    kept = Named(
        [(n, a) for n, a in run.stage.aggregates.items() if n not in strategies.FLOATING] or [strategies.AGGREGATES[0]]
    )
    having = run.stage.having
    if having is not None and {*having.columns} & {*strategies.FLOATING}:
        having = None
    return replace(run, stage=replace(run.stage, aggregates=kept, having=having))


def differences(expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> list[str]:
    """What one side has and the other has not."""
    left = list(actual)
    missing = []
    for row in expected:
        match = next((other for other in left if all(same(row[name], other[name]) for name in row)), None)
        if match is None:
            missing.append(f"only the model: {row}")
        else:
            left.remove(match)
    return missing + [f"only the engine: {row}" for row in left]


@settings(IN_SPARK, max_examples=EXAMPLES)
@given(run=strategies.runs().map(without_floats))
def test_engine_and_model_agree(spark, run: strategies.Run) -> None:
    agree(spark, run, None)


@settings(IN_SPARK, max_examples=EXAMPLES // 4)
@given(run=strategies.runs(over=strategies.record_windows()).map(without_floats))
def test_they_agree_where_records_make_the_windows(spark, run: strategies.Run) -> None:
    agree(spark, run, None)


@settings(IN_SPARK, max_examples=EXAMPLES // 4)
@given(run=strategies.runs(over=strategies.own_merging()).map(without_floats))
def test_they_agree_where_windows_of_ones_own_merge(spark, run: strategies.Run) -> None:
    agree(spark, run, None)


@settings(IN_SPARK, max_examples=EXAMPLES // 2)
@given(run=strategies.weighted_runs())
def test_they_agree_where_elements_are_taken_back(spark, run: strategies.Run) -> None:
    agree(spark, run, strategies.WEIGHT)


def agree(spark, run: strategies.Run, weight: str | None) -> None:
    model = Stream(run.stage, strategies.SCHEMA, weight=weight)
    engine = MemoryStage.of(spark, run.stage, strategies.SCHEMA, None, weight=weight)
    for number, tick in enumerate(run.ticks):
        expected = model.tick(tick.elements, tick.now, tick.watermark)
        out = engine.step(Step(tick.elements, tick.watermark, tick.now, None, (), None, None))
        place = f"tick {number} of {run}"
        shown = {name for pane in out.panes for name in pane}
        rows = [{k: v for k, v in pane.row().items() if k in shown} for pane in expected.panes]
        assert not differences(rows, out.panes), place
        assert not differences([letter.row() for letter in expected.dead], out.dead), place
        assert expected.counts.unassigned == out.unassigned, place


@settings(IN_SPARK, max_examples=EXAMPLES // 2)
@given(ticks=strategies.source_ticks(), rule=strategies.watermarks(), stage=strategies.stages(depth=2))
def test_watermarks_agree(spark, ticks, rule, stage) -> None:
    run = without_floats(strategies.Run(stage, ticks))
    model = Stream(run.stage, strategies.SCHEMA, rule)
    engine = MemoryStage.of(spark, run.stage, strategies.SCHEMA, rule)
    for number, tick in enumerate(run.ticks):
        expected = model.tick(tick.elements, tick.now)
        out = engine.step(Step(tick.elements, None, tick.now, None, (), None, None))
        place = f"tick {number} of {run} with {rule}"
        assert out.watermark == expected.clock.watermark_after, place
        shown = {name for pane in out.panes for name in pane}
        rows = [{k: v for k, v in pane.row().items() if k in shown} for pane in expected.panes]
        assert not differences(rows, out.panes), place
        assert not differences([letter.row() for letter in expected.dead], out.dead)
