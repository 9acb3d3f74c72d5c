"""The engine gives what the model gives: panes, dead letters and counts of every tick, for random stages and ticks."""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import DataFrame, SparkSession

from tests.laws import strategies
from tests.model.batch import batch
from tests.model.stream import Stream
from windrow.drivers.spark.session import small_session
from windrow.engine.frames import local
from windrow.spec.aggregates import Collect
from windrow.spec.fields.reading import Named
from windrow.spec.sources.time_columns import TimeColumn
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import Step
from windrow.store.projections.creation import struct_of
from windrow.testing.matching import same
from windrow.testing.memory.landing import typed
from windrow.testing.memory.stage import MemoryStage
from windrow.testing.panes import panes

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


@settings(IN_SPARK, max_examples=EXAMPLES // 2)
@given(run=strategies.runs().map(without_floats))
def test_the_panes_of_a_frame_are_the_batch_of_the_model(spark, run: strategies.Run) -> None:
    """Results, dead letters, and the rows that are in neither."""
    expected = batch(run.stage, strategies.SCHEMA, run.elements)
    found = panes(run.stage, frame_of(spark, run), TimeColumn("of_row", format="unix_us"))
    bounds = {"first": "coalesce(unix_micros(window_start), -9223372036854775808)",
              "last": "coalesce(unix_micros(window_end), 9223372036854775807)"}  # fmt: skip
    whole = found.results.selectExpr("*", *[f"{text} AS {name}" for name, text in bounds.items()])
    rows = [row.asDict(recursive=True) for row in whole.drop("window_start", "window_end").collect()]
    for row in rows:
        row["window"] = row.pop("first"), row.pop("last")
        row.update({name: as_compared(run.stage, name, value) for name, value in row.items()})
    wanted = [{**pane.keys, **pane.aggregates, "window": pane.window} for pane in expected.panes]
    assert not differences(wanted, rows), run
    letters = found.dead_letters.selectExpr("reason", "unix_micros(event_time)", "window_start").collect()
    assert Counter(map(tuple, letters)) == Counter((one.reason, one.event_time, None) for one in expected.dead), run
    counts, theirs = found.counts(), expected.counts
    assert (counts["filtered"], counts["unassigned"]) == (theirs.filtered, theirs.unassigned), run
    assert counts["dead_rows"] + counts["bad_expression"] == len(letters), run


def frame_of(spark: SparkSession, run: strategies.Run) -> DataFrame:
    """All elements of a run as rows, with their times in a column."""
    schema = struct_of(f"{strategies.SCHEMA.ddl}, of_row bigint")
    rows = [
        (*[typed(one.columns.get(name), schema[name]) for name in strategies.SCHEMA], one.at) for one in run.elements
    ]
    return local(small_session(spark), rows, schema)


def as_compared(stage: Stage, name: str, value: Any) -> Any:
    """A list as a tuple, which is compared in its order, but for that of `collect`."""
    is_ordered = isinstance(value, list) and not isinstance(stage.aggregates.get(name), Collect)
    return tuple(value) if is_ordered else value
