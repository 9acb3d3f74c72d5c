"""A pipeline watched while it runs, and when it is down: what a look says is what the tables have."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.drivers.test_looking import STAGES
from tests.lake import BEHIND, POISON, ROWS, VIEWS, judged, pipeline, table, write_files
from windrow.drivers.inspect.metrics import phases_of
from windrow.drivers.inspect.watch.reading import look_at, look_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.restate import restate
from windrow.drivers.spark.session import working_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import SECOND
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables
from windrow.view.watch.look import Look, StoppedGate, Tone
from windrow.view.watch.page import page
from windrow.view.watch.text import look_text
from windrow.view.watch.ticks import RATE_TICKS
from windrow.view.watch.waits import waits_of

FILES = 3


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose stream is down, with a landing that nobody has read, and late rows."""
    root = tmp_path_factory.mktemp("watched")
    for folder in ("data", VIEWS):
        write_files(root / folder, range(FILES))
    (root / BEHIND).write_text(json.dumps(STAGES))
    run(pipeline(root), spark, once=True)
    write_files(root / "data", range(FILES, FILES + 1))
    for landing in PipelineWork.open(pipeline(root), spark).landings:
        landing.run()
    return root


@pytest.fixture(scope="module")
def made(root: Path) -> Pipeline:
    return pipeline(root)


@pytest.fixture(scope="module")
def look(made: Pipeline) -> Look:
    return look_at(made)


def waits(look: Look) -> dict[str, str]:
    return {one.what: one.waits_for for one in waits_of(look)}


def test_both_readers_see_the_same(spark: SparkSession, made: Pipeline, look: Look) -> None:
    other = look_in(SparkTables(working_session(spark)), made)
    assert (look.ticks, look.late, look.gates) == (other.ticks, other.late, other.gates)
    standings = [replace(one.standing, now=0, phases={}) for one in (look, other)]
    assert standings[0] == standings[1]
    for one, same in zip(look.stages, other.stages, strict=True):
        assert one.committed_at is not None and same.committed_at is not None
        assert abs(one.committed_at - same.committed_at) < SECOND


def test_the_rate_is_that_of_the_ticks(spark: SparkSession, root: Path, look: Look) -> None:
    rows = table(spark, root, "ticks").orderBy("tick").selectExpr("unix_micros(now) AS now", "elements_read").collect()
    rows = rows[-RATE_TICKS - 1 :]
    read = sum(row.elements_read for row in rows[1:])
    rate = look.rate_of("sums")
    assert rate is not None and read == (FILES - 1) * (ROWS + POISON) and rate.ticks == len(rows) - 1
    assert rate.per_second == pytest.approx(read * SECOND / (rows[-1].now - rows[0].now))
    assert look.rate_of("minutes") is not None, "a stage that reads a stage has one of panes"


def test_what_waits_while_the_stream_is_down(spark: SparkSession, root: Path, look: Look) -> None:
    found, (sums, minutes, *_) = waits(look), look.stages
    unread = [one.waits_for for one in waits_of(look) if one.what == f"{ROWS + POISON} rows of clicks"]
    assert unread == ["sums to read 1 landing batch", "sliding to read 1 landing batch"]
    assert found[f"{sums.open_cells} open windows of sums"].startswith("the watermark, which stands at 2024-01-01 01:0")
    assert sums.held_by.startswith("the newest event that source clicks has sent is of 2024-01-01 01:0")
    assert minutes.held_by == "it comes with the panes of stage sums"
    late = table(spark, root, "dead_letters").where("reason IN ('late', 'closed') AND restated_by IS NULL").count()
    assert look.late.get("sums", 0) == late
    assert look.headline == (Tone.WAIT, "sums, sliding have rows to read.")
    for said in (look_text(look, 100), page(look, 5)):
        assert "sums, sliding have rows to read." in said and "committed " in said


def test_inputs_are_behind_as_much_as_their_stage(look: Look) -> None:
    for stage in look.stages:
        assert stage.inputs and sum(one.batches_behind for one in stage.inputs) == stage.batches_behind
        assert sum(one.rows_behind for one in stage.inputs) == stage.rows_behind
    assert [one.upstream for stage in look.stages for one in stage.inputs] == ["clicks", "sums", "clicks", "views"]
    assert [one.reads_a_stage for stage in look.stages for one in stage.inputs] == [False, True, False, False]


def test_looking_writes_nothing(root: Path, made: Pipeline) -> None:
    before = files(root)
    look_at(made)
    assert files(root) == before


def files(root: Path) -> dict[str, tuple[int, int]]:
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in (root / "lake").rglob("*")}


@contextmanager
def looking(made: Pipeline) -> Iterator[list[Look | Exception]]:
    """Looks one after the other, in a thread of its own, until it is left."""
    found: list[Look | Exception] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            try:
                found.append(look_at(made))
            except Exception as error:
                found.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def test_a_stream_that_is_watched_makes_what_another_makes(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("watched", "alone"):
        write_files(tmp_path / name / "data", range(FILES))
    run(pipeline(tmp_path / "alone"), spark, once=True, drain=True)
    with looking(pipeline(tmp_path / "watched")) as found:
        run(pipeline(tmp_path / "watched"), spark, once=True, drain=True)
    assert not [one for one in found if isinstance(one, Exception)], found
    looks = [one for one in found if isinstance(one, Look)]
    ticks = [one.stages[0].tick or 0 for one in looks]
    assert len(looks) > 2 and ticks == sorted(ticks), "time does not go back for who watches"
    assert all(one.stages[0].tick is None or one.stages[0].adds_up for one in looks), "whatever is written meanwhile"
    for name in ("current", "panes", "dead_letters", "ticks"):
        one, other = (
            table(spark, tmp_path / folder, name).drop("produced_at", "duration_ms", "offset", "arrived_at")
            for folder in ("watched", "alone")
        )
        assert one.exceptAll(other).isEmpty() and other.exceptAll(one).isEmpty(), name
    done = look_at(pipeline(tmp_path / "watched"))
    assert done.headline == (Tone.GOOD, "Everything that has landed has been read.")
    assert set(waits(done)) <= {f"{done.late.get('sums', 0)} late rows of sums"}, "a drained stream waits for nothing"


def phases_by_the_clock(made: Pipeline, look: Look) -> Mapping[str, float]:
    """Those of the last tick, had its processing time been that of a clock, and not that of a history."""
    stage = look.stages[0]
    assert stage.committed_at is not None
    return phases_of(ArrowTables(), Lake.of(made.lake), replace(stage, now=stage.committed_at - SECOND))


def test_a_restatement_ends_the_wait_of_late_rows_and_is_no_rate(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    before = look_at(made)
    assert before.late["sums"] > 0 and f"{before.late['sums']} late rows of sums" in waits(before)
    assert "commit" in phases_by_the_clock(made, before)
    restate(made, spark)
    after = look_at(made)
    assert phases_by_the_clock(made, after).keys() == {"projection"}, "its processing time is that of the tick before"
    assert after.late == {} and not waits(after) and after.stages[0].backfills == 1
    assert after.rate_of("sums") == before.rate_of("sums"), "what a restatement reads was read before"


def test_a_batch_has_a_rate_of_its_admissions(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path)
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()
    backfill(made, spark, "2024-01-01", "2024-01-02")
    ticks = look_at(made).ticks_of("sums")
    assert sum(one.rows for one in ticks) == FILES * (ROWS + POISON)


def test_a_gate_that_stops_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = judged(tmp_path)
    suite = tmp_path / "sums.yaml"
    suite.write_text(suite.read_text().replace("min_value: 1", "min_value: 1000"))
    made = Pipeline.from_mapping(made.to_mapping())
    with pytest.raises(GateFailed):
        run(made, spark, once=True, drain=True)
    look: Any = look_at(made)
    assert look.gates == [StoppedGate("sums")] and look.headline == (Tone.BAD, "Stopped by the gate of sums.")
    assert waits(look)["sums"] == "its gate, which stops it: windrow report FILE"
