"""`current` has a pace of its own: the other tables follow every tick, and one write brings it to the head."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from tests.lake import content, pipeline, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.stream.pace import Looks
from windrow.drivers.stream.stream import Stream, run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.refreshes import EVERY_TICK
from windrow.spec.times import HOUR, SECOND


def stream_of(made: Pipeline, spark: SparkSession) -> Stream:
    """A stream that has begun, and goes on for as long as somebody calls `cycle`."""
    stream = Stream(PipelineWork.open(made, spark), clock_micros, None, threading.Event())
    stream.start()
    return stream


def ticks_in(stream: Stream, root: Path, name: str) -> set[int]:
    """The ticks of which a table has rows."""
    rows = stream.work.spark.read.format("delta").load(f"{root}/lake/sums/{name}").select("tick").distinct().collect()
    return {row["tick"] for row in rows}


def test_current_waits_for_its_time_and_one_write_applies_all_ticks_since(spark: SparkSession, tmp_path: Path) -> None:
    made = replace(pipeline(tmp_path), refresh=HOUR)
    stream = stream_of(made, spark)
    write_files(tmp_path / "data", range(1))
    stream.cycle()
    write_files(tmp_path / "data", range(3))
    stream.cycle()
    assert ticks_in(stream, tmp_path, "panes") == {1, 2, 3} and ticks_in(stream, tmp_path, "current") == set()
    assert status(made, spark)[1][0].ticks_to_refresh == 3
    stream.refresh()
    (item,) = stream.work.stages
    assert not item.pending and status(made, spark)[1][0].ticks_to_refresh == 0
    run(replace(made, lake=f"{tmp_path}/at-once", refresh=EVERY_TICK), spark, once=True)
    at_once = sorted((tuple(row) for row in spark.read.format("delta").load(f"{tmp_path}/at-once/sums/current")
                      .drop("produced_at").collect()), key=repr)  # fmt: skip
    assert content(spark, tmp_path, "current") == at_once


def test_after_every_tick(spark: SparkSession, tmp_path: Path) -> None:
    made = replace(pipeline(tmp_path), refresh=EVERY_TICK)
    stream = stream_of(made, spark)
    for files in (1, 2):
        write_files(tmp_path / "data", range(files))
        stream.cycle()
        assert files in ticks_in(stream, tmp_path, "current")


def test_what_a_killed_stream_has_not_shown_the_next_one_shows(spark: SparkSession, tmp_path: Path) -> None:
    made = replace(pipeline(tmp_path), refresh=HOUR)
    write_files(tmp_path / "data", range(2))
    stream_of(made, spark).cycle()
    assert status(made, spark)[1][0].ticks_to_refresh == 2
    stream_of(made, spark)
    assert status(made, spark)[1][0].ticks_to_refresh == 0


def test_each_look_writes_it_where_both_have_the_same_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look begins ten seconds after the one before; every other one takes five seconds, the rest a second."""
    stream, now = stream_of(replace(pipeline(tmp_path), refresh=10 * SECOND), spark), deque[float]()
    later = SimpleNamespace(monotonic=lambda: now.popleft() if len(now) > 1 else now[0])
    monkeypatch.setattr("windrow.drivers.stream.stream.time", later)
    first = time.monotonic()
    for look in (1, 2, 3):
        now.clear()
        now.extend([first + 10 * look, first + 10 * look + (5 if look % 2 else 1)])
        write_files(tmp_path / "data", range(look))
        stream.cycle()
        assert look in ticks_in(stream, tmp_path, "current")


def test_looks_begin_at_even_times() -> None:
    stop, looks, began = threading.Event(), Looks(0.4), [time.monotonic()]
    for seconds in (0.3, 0.1, 0.9, 0.2):
        time.sleep(seconds)
        assert not looks.wait(stop)
        began.append(time.monotonic())
    between = [after - before for before, after in pairwise(began)]
    assert between == pytest.approx([0.4, 0.4, 0.9, 0.4], abs=0.1), "the one that takes longer is followed at once"
    stop.set()
    assert Looks(60).wait(stop)
