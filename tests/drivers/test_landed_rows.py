"""What is known of rows since they have landed is what a job would count; and what it takes to know it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from tests.lake import SECONDS, iso, pipeline, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.stream.stream import run
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.collect_statistics import known_statistics
from windrow.engine.tick.micro_batch import statistics_of
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import MINUTE, SECOND, parse_time
from windrow.store.upstream.offsets import START, Offsets

PLAIN: dict[str, Any] = {
    "select": {}, "derive": {}, "aggregates": {"num": {"count": "*"}, "most": {"max": "v"}},
    "trigger": "at_watermark", "accumulation": "accumulating", "allowed_lateness": "0s",
}  # fmt: skip


def write_sound(folder: Path, number: int) -> None:
    """A file without poison, as `write_files` makes them."""
    write_files(folder, range(number, number + 1))
    path = folder / f"batch-{number:04}.json"
    path.write_text("\n".join(path.read_text().splitlines()[:-4]) + "\n")
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


@pytest.fixture
def work(spark, tmp_path: Path) -> PipelineWork:
    """Three sound files have landed, and one with poison."""
    for number in range(3):
        write_sound(tmp_path / "data", number)
    write_files(tmp_path / "data", range(3, 4))
    made = PipelineWork.open(pipeline(tmp_path, **PLAIN), spark)
    made.landings[0].run()
    return made


def runner_of(work: PipelineWork) -> StageRunner:
    """The runner of the only stage, which knows what has landed."""
    (item,) = work.stages
    assert not item.runner.upstream.head(work.spark).is_start
    return item.runner


def test_they_are_what_a_job_counts(spark, work: PipelineWork) -> None:
    runner, until = runner_of(work), Offsets({ONLY: 3})
    (landed,) = runner.upstream.landed(spark, START, until).values()
    rows, stage = runner.upstream.parts(spark, START, until)[ONLY], runner.stage.of_input(ONLY)
    for admission in (Admission(), Admission(parse_time(iso(-2 * SECONDS)))):
        assert known_statistics(stage, landed, admission) == statistics_of(stage, rows, admission)


def test_in_several_windows_too(spark, tmp_path: Path) -> None:
    write_sound(tmp_path / "data", 0)
    sliding = {"window": {"sliding": {"size": "30s", "period": "10s", "offset": "3s"}}}
    made = PipelineWork.open(pipeline(tmp_path, **{**PLAIN, **sliding}), spark)
    made.landings[0].run()
    runner, until = runner_of(made), Offsets({ONLY: 1})
    (landed,) = runner.upstream.landed(spark, START, until).values()
    rows, stage = runner.upstream.parts(spark, START, until)[ONLY], runner.stage.of_input(ONLY)
    known = 0
    for seconds in range(-15, 16, 3):
        admission = Admission(landed.earliest + seconds * SECOND)
        found = known_statistics(stage, landed, admission)
        known += found is not None
        assert found in (None, statistics_of(stage, rows, admission))
    assert 5 <= known < 11


def test_late_rows_are_counted(spark, work: PipelineWork) -> None:
    runner = runner_of(work)
    (landed,) = runner.upstream.landed(spark, START, Offsets({ONLY: 3})).values()
    stage = runner.stage.of_input(ONLY)
    assert known_statistics(stage, landed, Admission(landed.earliest + MINUTE)) is None
    assert known_statistics(stage, replace(landed, earliest=landed.latest), Admission(landed.earliest)) is not None


def test_dead_rows_without_an_event_time_are_counted_too(spark, tmp_path: Path) -> None:
    """Of which none but the one that has arrived last is known to be dead."""
    write_sound(tmp_path / "data", 0)
    with (tmp_path / "data" / "batch-0000.json").open("a") as file:
        for at, second in ((None, 3), ("300000-01-01T00:00:00Z", 600)):
            file.write(json.dumps({"k": "a", "v": 1, "d": 1, "at": at, "arrived": iso(second)}) + "\n")
    write_sound(tmp_path / "data", 1)
    made = PipelineWork.open(pipeline(tmp_path, **PLAIN), spark)
    made.landings[0].run()
    runner, until = runner_of(made), Offsets({ONLY: 2})
    (landed,) = runner.upstream.landed(spark, START, until).values()
    rows, stage = runner.upstream.parts(spark, START, until)[ONLY], runner.stage.of_input(ONLY)
    counted = statistics_of(stage, rows, Admission())
    assert known_statistics(stage, landed, Admission()) == replace(counted, arrivals=None)
    assert counted.counters.dead_rows == 2 and counted.greatest_arrival == parse_time(iso(600))


def test_dead_rows_with_an_event_time_are_looked_at(spark, work: PipelineWork) -> None:
    runner = runner_of(work)
    assert runner.upstream.landed(spark, Offsets({ONLY: 2}), Offsets({ONLY: 4})) == {}


@pytest.mark.parametrize(
    "fields",
    [{"where": "v > 0"}, {"select": {"share": "v / d"}}, {"window": {"sliding": {"size": "30s", "period": "7s"}}},
     {"window": {"sessions": {"gap": "10s"}}}],
    ids=str,
)  # fmt: skip
def test_a_stage_that_looks_at_its_rows_counts_them(spark, tmp_path: Path, fields: dict[str, Any]) -> None:
    write_sound(tmp_path / "data", 0)
    made = PipelineWork.open(pipeline(tmp_path, **{**PLAIN, **fields}), spark)
    made.landings[0].run()
    runner = runner_of(made)
    (landed,) = runner.upstream.landed(spark, START, Offsets({ONLY: 1})).values()
    assert known_statistics(runner.stage.of_input(ONLY), landed, Admission()) is None


def test_one_pass_counts_what_it_has_written(spark, tmp_path: Path) -> None:
    """The first backfill of a whole history; `deltalake` finds the rows of a key in files that were copied."""
    write_files(tmp_path / "data", range(3))
    made = pipeline(tmp_path, **PLAIN)
    PipelineWork.open(made, spark).landings[0].run()
    (result,) = backfill(made, spark, "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", whole=True)
    current = DeltaTable(f"{tmp_path}/lake/sums/current").to_pyarrow_dataset()
    assert result.windows == result.inserted == current.count_rows() > 0 and not result.changed + result.retracted
    rows = current.to_table().to_pylist()
    for key in ("a", "b"):
        found = current.to_table(filter=pc.field("k") == key).num_rows
        assert found == sum(row["k"] == key for row in rows) > 0


def test_what_a_tick_has_counted_is_what_its_panes_say(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(4))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    panes = DeltaTable(f"{tmp_path}/lake/sums/panes").to_pyarrow_table().to_pylist()
    for tick in DeltaTable(f"{tmp_path}/lake/sums/ticks").to_pyarrow_table().to_pylist():
        own = [row["weight"] for row in panes if row["tick"] == tick["tick"]]
        assert (tick["panes"], tick["retractions"]) == (own.count(1), own.count(-1))
    assert any(row["weight"] < 0 for row in panes)
