"""The soak's reader finds torn states, its verdict finds growth, and its load has no gap."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from bench.soak.__main__ import Plan, Soak, _Alternating
from bench.soak.commands import Batch, Stream
from bench.soak.load import SOURCE, STAGE, Load, pipeline
from bench.soak.reader import Reader
from bench.soak.samples import SERIES, Samples
from bench.soak.verdict import KEPT, Growth, is_long_enough, judged
from windrow.spec.pipelines.pipeline import Pipeline

TIMES = pa.timestamp("us", "UTC")
AT = datetime(2024, 1, 1, tzinfo=UTC)
PANE = {"k": 1, "window_start": AT, "window_end": AT, "n": 1, "total": 5, "most": 5, "pane_index": 0}
SCHEMA = pa.schema(
    [("k", pa.int64()), ("window_start", TIMES), ("window_end", TIMES), ("n", pa.int64()), ("total", pa.int64()),
     ("most", pa.int64()), ("pane_index", pa.int32())]
)  # fmt: skip
PANES = pa.schema([*SCHEMA, ("tick", pa.int64()), ("weight", pa.int32())])


def put(path: Path, rows: list[dict[str, Any]], schema: pa.Schema, mode: str = "append", **notes: Any) -> None:
    said = CommitProperties(custom_metadata={"userMetadata": json.dumps({"writer": "w", **notes})})
    write_deltalake(str(path), pa.Table.from_pylist(rows, schema=schema), mode=mode, commit_properties=said)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two ticks: a pane, and its correction, which `current` shows; and five rows that have landed."""
    first, second = (
        {**PANE, "tick": 1, "weight": 1},
        {**PANE, "n": 2, "total": 9, "pane_index": 1, "tick": 2, "weight": 1},
    )
    put(tmp_path / STAGE / "panes", [first], PANES, step=1, journal_step=1)
    put(tmp_path / STAGE / "panes", [{**first, "tick": 2, "weight": -1}, second], PANES, step=2, journal_step=2)
    put(tmp_path / STAGE / "current", [{name: second[name] for name in SCHEMA.names}], SCHEMA, step=1, journal_step=2)
    put(tmp_path / SOURCE / "raw", [{"id": number} for number in range(5)], pa.schema([("id", pa.int64())]), step=1)
    return tmp_path


def looked(lake: Path) -> list[str]:
    reader = Reader(lake)
    reader.look()
    assert reader.reads == 1
    return reader.torn


def test_nothing_is_torn(lake: Path) -> None:
    assert looked(lake) == []


def test_a_lake_that_has_not_begun(tmp_path: Path) -> None:
    assert looked(tmp_path) == []


def test_half_of_a_tick_is_found(lake: Path) -> None:
    put(lake / STAGE / "current", [PANE], SCHEMA, "overwrite", step=2, journal_step=2)
    assert looked(lake) == ["read 0: 2 rows of current differ from panes at tick 2"]


def test_panes_beyond_the_tick_of_current_do_not_count(lake: Path) -> None:
    third = {**PANE, "n": 3, "pane_index": 2, "tick": 3, "weight": 1}
    put(lake / STAGE / "panes", [{**third, "pane_index": 1, "weight": -1}, third], PANES, step=3, journal_step=3)
    assert looked(lake) == []


def test_a_pane_without_its_retraction_is_found(lake: Path) -> None:
    third = {**PANE, "n": 3, "pane_index": 2, "tick": 3, "weight": 1}
    put(lake / STAGE / "panes", [third], PANES, step=3, journal_step=3)
    put(lake / STAGE / "current", [{**PANE, "n": 3, "pane_index": 2}], SCHEMA, "overwrite", step=2, journal_step=3)
    assert looked(lake) == ["read 0: 1 windows have panes that do not come to one or none"]


@pytest.mark.parametrize(
    ("ids", "said"), [([3], "6 rows with 5 numbers up to 4"), ([6], "6 rows with 6 numbers up to 6")]
)
def test_a_row_that_landed_twice_or_not_at_all_is_found(lake: Path, ids: list[int], said: str) -> None:
    put(lake / SOURCE / "raw", [{"id": number} for number in ids], pa.schema([("id", pa.int64())]), step=2)
    assert looked(lake) == [f"read 0: raw has {said}"]


def test_a_table_that_goes_back_is_found(lake: Path) -> None:
    reader = Reader(lake, raw_each=1)
    for number, step in ((5, 2), (6, 1)):
        put(lake / SOURCE / "raw", [{"id": number}], pa.schema([("id", pa.int64())]), step=step)
        reader.look()
    assert reader.torn == ["read 1: raw has gone back from 2 to 1"]


def test_a_table_that_is_gone_is_found(lake: Path) -> None:
    reader = Reader(lake)
    reader.look()
    shutil.rmtree(lake / STAGE / "current")
    reader.look()
    assert reader.torn == ["read 1: current is gone"]


def series(growth: float) -> dict[str, list[tuple[float, float]]]:
    """Two hours in which all grows that much over the second one, with what falls in every period."""
    points = [(5.0 * n, (1 + growth * max(5 * n - 3600, 0) / 3600) * (1 + (n % 120) / 240)) for n in range(1440)]
    return {name: points for name in SERIES}


def test_what_is_flat_is_flat_and_what_grows_is_not() -> None:
    assert all(one.is_flat for one in judged(series(0.0), 7200, 600))
    assert all(one.is_flat for one in judged(series(0.08), 7200, 600))
    assert all(one.is_flat is False for one in judged(series(0.2), 7200, 600))
    assert all(one.is_flat for one in judged(series(-0.5), 7200, 600))


def test_what_is_kept_of_the_time_of_kills_is_no_growth() -> None:
    """While the stream is killed it ticks half as often, for a quarter of an hour."""
    ticks = [*range(0, 900, 20), *range(900, 7200, 10)]
    since = [(at - KEPT) // 600 * 600 for at in range(0, 7200, 5)]  # maintenance removes what is older
    kept = [
        (float(at), float(sum(first <= when <= at for when in ticks)))
        for at, first in zip(range(0, 7200, 5), since, strict=True)
    ]
    found = {one.name: one for one in judged({**series(0.0), "stored": kept, "files": kept}, 7200, 600)}
    assert found["stored"].is_flat and (found["stored"].share or 0) < (found["files"].share or 0)


def test_a_rehearsal_is_too_short_to_say() -> None:
    assert all(one.is_flat is None for one in judged(series(0.2), 180, 45))


def test_rows_are_numbered_without_a_gap(tmp_path: Path) -> None:
    load = Load(tmp_path, rows=10)
    (tmp_path / "data").mkdir()
    for _ in range(3):
        load._write(tmp_path / "data")
    files = sorted((tmp_path / "data").iterdir())
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert [row["id"] for row in rows] == [*range(30)] and load.written == 30
    assert Pipeline.from_mapping(pipeline(tmp_path)).stages[0].name == STAGE


def test_a_backfill_and_a_maintenance_in_every_period() -> None:
    wanted = _Alternating(600)
    due = [(second, name) for second in range(0, 1900, 10) if (name := wanted.due(second)) is not None]
    assert due == [(300, "backfill"), (600, "maintain"), (900, "backfill"), (1200, "maintain"), (1500, "backfill"),
                   (1800, "maintain")]  # fmt: skip
    assert Plan(7200).period == 600 and Plan(180).period == 45


def test_samples_of_a_lake_that_has_not_begun(tmp_path: Path) -> None:
    samples = Samples(tmp_path)
    for _ in range(2):
        samples.take(Stream(tmp_path / "no file", tmp_path / "log"))
    assert not any(samples.series.values()), "nothing is at work"


def test_what_is_at_work_is_measured(tmp_path: Path) -> None:
    stream = Stream(tmp_path, tmp_path / "log")
    stream._process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    samples = Samples(tmp_path)
    until = time.monotonic() + 10
    while (stream.memory() or 0) < 100_000 and time.monotonic() < until:  # it has not begun
        time.sleep(0.05)
    for _ in range(2):
        samples.take(stream)
    assert {name: len(points) for name, points in samples.series.items() if points} == {"memory": 2, "threads": 2}
    assert samples.series["threads"][0][1] == 1 and samples.series["memory"][0][1] > 100_000
    os.killpg(stream._process.pid, signal.SIGKILL)  # as a machine without memory does
    stream._process.wait()
    with patch("bench.soak.commands.started", lambda *_: subprocess.Popen(["sleep", "60"], start_new_session=True)):
        stream.keep_alive()
        assert stream.deaths == ["exit code -9"]
        stream.kill()
        stream.keep_alive()
    assert (stream.kills, len(stream.deaths)) == (1, 1)
    stream.kill()


def test_the_objects_in_use_are_counted_and_their_classes_kept(tmp_path: Path) -> None:
    program = tmp_path / "Sleeps.java"
    program.write_text("class Sleeps { public static void main(String[] no) throws Exception { Thread.sleep(60000); }}")
    stream = Stream(tmp_path, tmp_path / "stream.log")
    assert stream.live() is None, "nothing is at work"
    stream._process = subprocess.Popen(["java", str(program)], start_new_session=True)
    until = time.monotonic() + 30
    while (found := stream.live()) is None and time.monotonic() < until:
        time.sleep(0.2)
    stream.kill()
    lines = (tmp_path / "classes.log").read_text().splitlines()
    assert found is not None and found > 100_000
    assert any("java.lang.String" in line for line in lines)


def test_a_batch_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    batch = Batch(tmp_path / "log")
    with patch("bench.soak.commands.started", lambda *_: subprocess.Popen(["sleep", "60"], start_new_session=True)):
        batch.start("backfill")
    batch.wait(0.1)
    assert [(one["command"], one["code"]) for one in batch.ended] == [("backfill", -9)]


def test_an_end_that_is_none_is_a_death(tmp_path: Path) -> None:
    """Whether it was dead when it was to end, or ended with an error."""
    stream = Stream(tmp_path, tmp_path / "log")
    for command in (
        ["false"],
        ["python3", "-c", "import signal; signal.signal(15, lambda *_: exit(3)); signal.pause()"],
    ):
        stream._process = subprocess.Popen(command, start_new_session=True)
        time.sleep(1.0)
        stream.end()
    assert stream.deaths == ["exit code 1", "exit code 3 after SIGTERM"]


def test_what_was_done_too_seldom_is_said(tmp_path: Path) -> None:
    soak = Soak(tmp_path / "soak", Plan(7200))
    soak.growths = [Growth("memory", 0.01), Growth("tick", None)]
    for name, times in (("backfill", 12), ("maintain", 9)):
        soak.batch.ended += [{"command": name, "seconds": 1.0, "code": 0}] * times
    assert [*soak._lacking()] == [
        "tick was counted too seldom to say", "the tables were read 0 times", "maintain ran 9 times in 12 periods",
        "the stream was killed 0 times",
    ]  # fmt: skip


@pytest.mark.parametrize(("hours", "says"), [(0.05, False), (1, False), (1.25, False), (2, True)])
def test_how_long_a_verdict_takes(hours: float, says: bool) -> None:
    plan = Plan(hours * 3600)
    assert is_long_enough(plan.seconds, plan.period) is says
    every = [(at, 1.0) for at in range(0, int(plan.seconds), 5)]
    found = judged({name: every for name in SERIES}, plan.seconds, plan.period)
    assert all((one.is_flat is not None) is says for one in found)


def test_rows_that_are_missing_at_the_end_are_said(tmp_path: Path, lake: Path) -> None:
    soak = Soak(tmp_path / "soak", Plan(60))
    soak.reader, soak.load.written = Reader(lake), 6
    soak.samples.series["tick"].append((1.0, 1.0))
    for _ in range(2):
        soak.reader.look(at_raw=True)
    soak._judge()
    assert soak.wrong == ["raw has 5 of the 6 rows that were written"]
