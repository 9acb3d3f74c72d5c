"""Batches that publish less than the watermark would let them, and what reads their panes: a batch, and a stream.

The files are those of `test_scheduled`; all of them are there before the first batch.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.drivers.test_scheduled import (
    HOURS,
    STAGES,
    START,
    SUMS,
    check_adds_up,
    check_nothing_is_last_too_soon,
    final,
    land,
    letters,
    pipeline,
    write_hour,
)
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR

NEAR = {"name": "close", "from": "hourly", "keys": ["k"], "window": {"record": {"difference": "90m"}}}
BEHIND = {"name": "pairs", "from": "behind", "window": {"fixed": {"size": "4h"}}}


def lagging(root: Path, names: Collection[str]) -> Pipeline:
    """The pipeline with all files and stages of these names; `close` is behind `hourly`."""
    for hour in range(HOURS):
        write_hour(root, hour)
    made = pipeline(root, [name for name in names if name in {stage["name"] for stage in STAGES}]).to_mapping()
    added = [{**NEAR, "aggregates": SUMS}, {**BEHIND, "aggregates": {"num": {"sum": "num"}}}]
    made["stages"] += [stage for stage in added if stage["name"] in names]
    return Pipeline.from_mapping(made)


@pytest.mark.long
def test_a_stream_opens_a_chain_behind_batches_that_lag(spark: SparkSession, tmp_path: Path) -> None:
    """What the front emits when it opens has expired by its watermark, and is in time for the stages behind."""
    names = ("hourly", "behind", "pairs", "close")
    made, reference = lagging(tmp_path / "made", names), lagging(tmp_path / "reference", names)
    run(reference, spark, once=True, drain=True)
    land(made, spark)
    backfill(made, spark, START - 4 * HOUR, START + HOUR)
    run(made, spark, once=True)
    check_nothing_is_last_too_soon(spark, made)
    run(made, spark, drain=True)
    for stage in made.stages:
        assert letters(spark, made, stage.name) == letters(spark, reference, stage.name), stage.name
    for stage in ("hourly", "close"):
        assert final(spark, made, stage) == final(spark, reference, stage), stage
    rows = sum(num for num, _ in final(spark, reference, "hourly").values())
    assert sum(num for _, num in final(spark, made, "behind").values()) == rows
    check_adds_up(spark, made)
    assert all(found.equal and found.windows for found in reconcile(made, spark))


@pytest.mark.long
def test_record_windows_behind_batches_that_lag(spark: SparkSession, tmp_path: Path) -> None:
    """The next batch publishes what had expired by the clock before it: in time for the windows behind."""
    names = ("hourly", "close")
    made, reference = lagging(tmp_path / "made", names), lagging(tmp_path / "reference", names)
    run(reference, spark, once=True)
    land(made, spark)
    for first in range(-4, HOURS, 3):
        backfill(made, spark, START + first * HOUR, START + (first + 3) * HOUR)
        check_adds_up(spark, made)
    check_nothing_is_last_too_soon(spark, made)
    assert letters(spark, made, "close") == letters(spark, reference, "close")
    ours, theirs = final(spark, made, "close"), final(spark, reference, "close")
    assert ours.items() <= theirs.items() and len(ours) > len(theirs) / 2
    assert all(found.equal and found.windows for found in reconcile(made, spark))


EARLIEST = [
    {"name": "steps", "window": {"cumulative": {"size": "2h", "step": "1h"}}},
    {"name": "days", "window": {"calendar": {"unit": "day"}}},
]


@pytest.mark.long
def test_behind_the_earliest_event_times_of_windows_whose_length_is_known(spark: SparkSession, tmp_path: Path) -> None:
    """A window behind them is complete when none of those that may reach into it is missing."""
    made, reference = lagging(tmp_path / "made", ["hourly"]), lagging(tmp_path / "reference", ["hourly"])

    def chained(one: Pipeline) -> Pipeline:
        fields = one.to_mapping()
        front = {**fields["stages"][0], "event_time": "earliest"}
        fields["stages"] = [{**front, **stage} for stage in EARLIEST] + [
            {"name": f"of_{stage['name']}", "from": stage["name"], "keys": ["k"], "window": window, "aggregates": SUMS}
            for stage, window in zip(EARLIEST, ({"fixed": {"size": "1h"}}, {"fixed": {"size": "24h"}}), strict=True)
        ]
        both = {name: {"from": "steps", "keys": ["k"], "aggregates": {name: {"sum": "num"}}} for name in ("x", "y")}
        fields["stages"].append({"name": "both", "window": {"inherited": {}}, "inputs": both})
        return Pipeline.from_mapping(fields)

    made, reference = chained(made), chained(reference)
    run(reference, spark, once=True)
    land(made, spark)
    backfill(made, spark, START - 24 * HOUR, START + 24 * HOUR)
    for stage in ("of_steps", "of_days"):
        ours = final(spark, made, stage)
        assert ours and ours.items() <= final(spark, reference, stage).items(), stage
    assert all(found.equal and found.windows for found in reconcile(made, spark))
