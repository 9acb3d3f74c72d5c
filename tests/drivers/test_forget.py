"""A person is forgotten: no byte is left, what others made stays, and what they made together is made without her."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from tests.drivers import shops
from tests.drivers.shops import HER, HERS, STAGES, WHERE, files_with, pipeline, write
from tests.lake import table
from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.forget import forget
from windrow.drivers.inspect.status.status import status
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import Stream, run
from windrow.engine.tick.tick import TickPlan
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.store.journal.control import STREAM, Control

OF_A_TABLE = ("current", "panes", "dead_letters")


def results(spark: SparkSession, root: Path, made: Pipeline) -> dict[str, list[tuple[Any, ...]]]:
    """What each stage shows: keys, windows and aggregates, not when it was shown."""
    found = {}
    for stage in made.stages:
        columns = [*stage.keys, "window_start", "window_end", *stage.aggregates]
        shown = table(spark, root, "current", stage.name).selectExpr(*[_sorted(name) for name in columns])
        found[stage.name] = sorted(map(tuple, shown.collect()), key=repr)
    return found


def _sorted(name: str) -> str:
    return "sort_array(who) AS who" if name == "who" else f"`{name}`"


def texts(frame: DataFrame) -> str:
    return str([row.asDict(recursive=True) for row in frame.collect()])


def shows_her(spark: SparkSession, root: Path, made: Pipeline) -> list[str]:
    """The tables that have her name."""
    places = [("visits", name) for name in ("raw", "dead_letters")]
    for stage in made.stages:
        places += [(stage.name, name) for name in (*OF_A_TABLE, "journal/1")]
        if (root / "lake" / stage.name / "cells" / "1").exists():
            places.append((stage.name, "cells/1"))
    return [f"{owner}/{name}" for owner, name in places if HER in texts(table(spark, root, name, owner))]


def never_there(spark: SparkSession, root: Path, files: int, *names: str, behind: bool = False) -> Any:
    """What the stages of a lake show into which no row of hers has ever come."""
    made = pipeline(root, *names, behind=behind)
    write(root, range(files), with_her=False)
    run(made, spark, once=True, drain=True)
    return results(spark, root, made)


@pytest.mark.parametrize(
    ("names", "behind"),
    [
        pytest.param(("shops",), True, marks=pytest.mark.long),
        pytest.param(("minutes", "overlaps"), False, marks=pytest.mark.long),
        pytest.param(("customers", "hops"), False, marks=pytest.mark.long),
        (("sessions",), False),
    ],
    ids=str,
)
def test_of_every_kind_of_cells_and_of_a_stage_behind(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...], behind: bool
) -> None:
    """Windows are open, have expired, and are yet to come; afterwards all is as if she had never been there."""
    made = pipeline(tmp_path, *names, behind=behind)
    write(tmp_path, range(2))
    run(made, spark, once=True)
    assert set(shows_her(spark, tmp_path, made)) > {"visits/raw", f"{names[0]}/journal/1"}
    before = {row["k"]: row for row in _counts(spark, tmp_path)}
    done = forget(made, spark, WHERE)
    assert done.rows == 2 * HERS and done.sources[0].unreadable == 0
    assert {one.stage for one in done.stages} == {stage.name for stage in made.stages}
    assert all(one.tick is not None for one in done.stages) and all(one.windows > 0 for one in done.stages)
    assert shows_her(spark, tmp_path, made) == []
    assert all(one.equal for one in reconcile(made, spark))
    assert {row["k"]: row for row in _counts(spark, tmp_path)} == before, "all rows are there, by number and offset"
    write(tmp_path, range(2, 4), with_her=False)
    run(made, spark, once=True, drain=True)
    assert results(spark, tmp_path, made) == never_there(spark, tmp_path / "never", 4, *names, behind=behind)
    assert all(one.equal for one in reconcile(made, spark))
    sources, stages = status(made, spark)
    assert sources[0].dead["forgotten"] == done.rows and all(stage.adds_up for stage in stages)


def _counts(spark: SparkSession, root: Path) -> list[Any]:
    return table(spark, root, "raw", "visits").selectExpr("struct(_step, _row, _offset) AS k").collect()


@pytest.mark.long
def test_no_byte_is_left(spark: SparkSession, tmp_path: Path) -> None:
    """Files of old versions, statistics in commits, checkpoints and checksums: nothing of the lake has her name."""
    made = pipeline(tmp_path, "customers", "shops")
    write(tmp_path, range(2))
    run(made, spark, once=True, drain=True)
    forget(made, spark, WHERE)
    found = files_with(tmp_path, HER)
    assert any("_delta_log" in file for file in found) and any(file.endswith(".parquet") for file in found)
    shown = results(spark, tmp_path, made)
    maintain(made, spark, 0)
    assert files_with(tmp_path, HER) == []
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # as a process that comes later
    assert results(spark, tmp_path, made) == shown
    assert all(one.equal for one in reconcile(made, spark))
    write(tmp_path, range(2, 3), with_her=False)
    run(made, spark, once=True)
    assert table(spark, tmp_path, "raw", "visits").selectExpr("max(_step)").collect()[0][0] == 2 + 2 + 1
    assert maintain(made, spark, 0) and files_with(tmp_path, HER) == []


@pytest.mark.long
def test_a_tick_that_was_computed_before_is_computed_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream has read her rows, from the files of their commit, and not committed what it made of them."""
    made = pipeline(tmp_path, "shops", "minutes", "customers")
    write(tmp_path, range(2))
    run(made, spark, once=True)
    write(tmp_path, range(2, 4))
    stream = Stream(PipelineWork.open(made, spark), clock_micros, None, threading.Event())
    stream.start()
    first, lock = iter([True]), threading.Lock()

    def between(name: str) -> None:
        with lock:
            if name == "tick:before_journal" and next(first, False):
                forget(made, spark, WHERE)

    monkeypatch.setattr("windrow.drivers.pipeline.ticking.point", between)
    stream.cycle()
    stream.drain()
    assert next(first, None) is None, "it was forgotten in between"
    forget(made, spark, WHERE)  # of what had not landed by then
    assert shows_her(spark, tmp_path, made) == []
    assert all(one.equal for one in reconcile(made, spark))


@pytest.mark.parametrize("name", ["shops", pytest.param("behind", marks=pytest.mark.long)])
def test_a_first_tick_that_has_read_the_rows_is_computed_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The forgetting makes the first tick of a stage that has none, so one that has read her rows comes too late."""
    made = pipeline(tmp_path, "shops", behind=True)
    write(tmp_path, range(1))
    committed, begun = StageRunner.write, []

    def between(runner: StageRunner, control: Control, plan: TickPlan) -> Control:
        if runner.stage.stage.name == name and runner.last is None and not begun:
            begun.append(control.kind)
            forget(made, spark, WHERE)
        return committed(runner, control, plan)

    monkeypatch.setattr(StageRunner, "write", between)
    run(made, spark, once=True)
    assert begun == [STREAM]
    write(tmp_path, range(1, 3), with_her=False)
    run(made, spark, once=True, drain=True)
    assert shows_her(spark, tmp_path, made) == []
    assert all(one.equal for one in reconcile(made, spark))


@pytest.mark.long
def test_beside_a_stream_that_is_at_work(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops", "minutes", behind=True)
    write(tmp_path, range(2))
    stop, failures = threading.Event(), []

    def streaming() -> None:
        try:
            run(made, spark, every=0.2, stop=stop)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=streaming)
    thread.start()
    try:
        _until(lambda: _has_results(tmp_path, "behind"))
        write(tmp_path, range(2, 3))
        done = forget(made, spark, WHERE)
        assert done.rows >= 2 * HERS and all(one.tick is not None for one in done.stages), done
        write(tmp_path, range(3, 5), with_her=False)
        _until(lambda: _landed(spark, tmp_path) == 5)
    finally:
        stop.set()
        thread.join(120)
    assert not failures
    forget(made, spark, WHERE)
    run(made, spark, once=True, drain=True)
    assert shows_her(spark, tmp_path, made) == []
    calm = never_there(spark, tmp_path / "never", 5, "shops", "minutes", behind=True)
    assert results(spark, tmp_path, made) == calm and all(one.equal for one in reconcile(made, spark))
    maintain(made, spark, 0)
    left = files_with(tmp_path, HER)
    assert not [file for file in left if "_delta_log" in file], "what a writer that was not first has written, at most"
    for file in (tmp_path / "lake").rglob("*.parquet"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    maintain(made, spark, 0)
    assert files_with(tmp_path, HER) == []


def _has_results(root: Path, stage: str) -> bool:
    """Whether a stage shows something; the table is there from its first tick on."""
    path = root / "lake" / stage / "current"
    return (path / "_delta_log").exists() and DeltaTable(str(path)).to_pyarrow_table().num_rows > 0


def _landed(spark: SparkSession, root: Path) -> int:
    return table(spark, root, "raw", "visits").select("_offset").distinct().count()


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)


@pytest.mark.long
def test_of_stages_without_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """What batches have published as last, and what they have shown early."""
    made = pipeline(tmp_path, "shops", "customers")
    write(tmp_path, range(3))
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()
    backfill(made, spark, "2024-01-01", "2024-01-02", early=True)
    assert table(spark, tmp_path, "current", "shops").where("NOT is_last").count() > 0
    forget(made, spark, WHERE)
    assert shows_her(spark, tmp_path, made) == []
    assert table(spark, tmp_path, "current", "shops").where("NOT is_last").count() > 0
    assert all(one.equal for one in reconcile(made, spark))
    restate(made, spark)
    assert all(one.equal and not one.late_rows for one in reconcile(made, spark))


@pytest.mark.long
def test_a_second_one_finds_nothing_and_a_dry_run_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops")
    write(tmp_path, range(1))
    run(made, spark, once=True)
    dry = forget(made, spark, WHERE, dry_run=True)
    assert (dry.rows, dry.stages) == (HERS, ()) and "visits/raw" in shows_her(spark, tmp_path, made)
    assert forget(made, spark, WHERE).rows == HERS
    again = forget(made, spark, WHERE)
    assert (again.rows, again.stages, again.sources[0].step) == (0, (), None)
    assert forget(made, spark).rows == 0


@pytest.mark.long
def test_results_of_others_are_left_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    """If that is asked for: her own windows go, and what is not compared for that is counted."""
    made = pipeline(tmp_path, "customers", "tills")
    write(tmp_path, range(3))
    run(made, spark, once=True)
    before = results(spark, tmp_path, made)
    with pytest.raises(NotInThisVersion, match=r"stages\.shops\.aggregates\.most may have a value of the person"):
        forget(pipeline(tmp_path / "other", "shops"), spark, WHERE, leave=True)
    (fields,) = (one.to_mapping() for one in pipeline(tmp_path, "tills").stages)
    latest = Stage.from_mapping({**fields, "event_time": "latest"})
    with pytest.raises(NotInThisVersion, match=r"stages\.tills\.event_time is that of a row"):
        forget(replace(pipeline(tmp_path / "other"), stages=(latest,)), spark, WHERE, leave=True, dry_run=True)
    customers, tills = forget(made, spark, WHERE, leave=True).stages
    assert customers.windows > 0 == customers.left and tills.left > 0
    assert shows_her(spark, tmp_path, made) == []
    after = results(spark, tmp_path, made)
    assert after["tills"] == before["tills"]
    assert after["customers"] == [row for row in before["customers"] if row[0] != HER]
    proof = {one.stage: one for one in reconcile(made, spark)}
    assert all(one.equal for one in proof.values()) and proof["tills"].left > 0 == proof["customers"].left
    write(tmp_path, range(3, 4), with_her=False)
    run(made, spark, once=True, drain=True)
    assert all(one.equal for one in reconcile(made, spark))
    assert "_windrow/left/tills-1" in {one.table for one in maintain(made, spark, 0, dry_run=True)}
    forget(made, spark, "customer = 'ann'")  # she has been everywhere: all windows are made anew
    assert all(one.equal and one.left == 0 for one in reconcile(made, spark))


@pytest.mark.long
def test_rows_that_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """Her name in a line that is no JSON is found by nobody; how many such lines are left is said."""
    made = pipeline(tmp_path, "shops")
    write(tmp_path, range(1))
    path = tmp_path / "data" / "batch-0000.json"
    path.write_text(path.read_text() + f'{{"customer": "{HER}", "v"\n')
    run(made, spark, once=True)
    done = forget(made, spark, WHERE)
    assert done.sources[0].unreadable == 1 and "visits/raw" in shows_her(spark, tmp_path, made)
    assert forget(made, spark, WHERE, unreadable=True).rows == 1
    assert shows_her(spark, tmp_path, made) == []


def test_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops")
    write(tmp_path, range(1))
    with pytest.raises(SpecError, match="--where reads columns that no source has together"):
        forget(made, spark, "name = 'x'")
    with pytest.raises(SpecError, match="--where must be a condition"):
        forget(made, spark, "v + 1")
    with pytest.raises(SpecError, match="--where"):
        forget(made, spark, "customer = (SELECT 1)")
    parted = pipeline(tmp_path, "shops", partition="customer")
    with pytest.raises(NotInThisVersion, match=r"visits\.partition is the source partition"):
        forget(parted, spark, WHERE)
    in_place = pipeline(tmp_path, "shops", files={"path": str(tmp_path / "data"), "copy": False})
    with pytest.raises(NotInThisVersion, match="is read in place"):
        forget(in_place, spark, WHERE)


def test_the_stages_of_the_tests_keep_their_cells_in_different_ways(spark: SparkSession, tmp_path: Path) -> None:
    work = PipelineWork.open(pipeline(tmp_path), spark)
    kinds = {type(item.runner.strategy).__name__ for item in work.stages}
    assert len(kinds) >= 3 and len(STAGES) == len(work.stages) and shops.HER not in str(kinds)
