"""`windrow watch` as it is typed, over tables of Delta on a disk: no Spark, in a pipe, on a terminal, as a page."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

import windrow
from tests.cli.command import windrow as command
from tests.cli.test_wrong_input import refused
from tests.cli.test_wrong_input import write as write_pipeline
from tests.explain.model_lake import Table, made_by_model, with_offsets
from tests.explain.runs import LATE_RUN
from tests.explain.test_holding import clock
from tests.explain.test_holding import pipeline as masked
from tests.explain.test_on_disk import OF_TABLES, raw_kinds, write
from windrow.drivers.inspect.watch.reading import look_at, look_in
from windrow.engine.clocks.clock import StageClock
from windrow.spec.times import SECOND
from windrow.store.delta.location import Location
from windrow.store.journal.control import Control
from windrow.store.reading.arrow import ArrowTables
from windrow.store.upstream.offsets import Offsets
from windrow.view.watch.page import page
from windrow.view.watch.ticks import Rate, ReadingTick

TICKS = pa.schema(
    {
        "tick": pa.int64(), "generation": pa.int32(), "kind": pa.string(), "now": pa.timestamp("us", tz="UTC"),
        "watermark": pa.timestamp("us", tz="UTC"), "elements_read": pa.int64(), "open_cells": pa.int64(),
        "panes": pa.int64(), "retractions": pa.int64(), "late": pa.int64(), "closed": pa.int64(),
        "duration_ms": pa.int64(), "assigned": pa.int64(), "unassigned": pa.int64(), "filtered": pa.int64(),
        "rejected": pa.int64(),
    }
)  # fmt: skip


def of_tick(number: int, kind: str = "stream", rows: int = 30, generation: int = 1, **more: Any) -> dict[str, Any]:
    """A row of `ticks`, each ten seconds one."""
    counts = {name: 0 for name in TICKS.names if TICKS.field(name).type == pa.int64()}
    now = datetime.fromtimestamp(10 * number, UTC)
    of = {"tick": number, "generation": generation, "kind": kind, "now": now, "watermark": None}
    return {**counts, **of, "elements_read": rows, **more}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline file, and the lake of a run that the model has made, with the table `ticks` of it."""
    root = tmp_path_factory.mktemp("watched")
    lake = with_offsets(made_by_model(LATE_RUN))
    for name, table in lake.tables.items():
        kinds = dict(one.rsplit(" ", 1) for one in OF_TABLES[name].split(", ")) if name in OF_TABLES else raw_kinds()
        write(root / "lake" / name, table, kinds)
    rows = [of_tick(1, rows=500), of_tick(2), of_tick(3, "backfill", rows=9000), of_tick(4, "follow"), of_tick(5)]
    of_others = [of_tick(9, generation=0), of_tick(6, rows=7000)]  # of an older generation; not projected by then
    for some in (rows, of_others[:1]):
        write_deltalake(root / "lake/stage/ticks", pa.Table.from_pylist(some, TICKS), mode="append")
    path = root / "pipeline.yaml"
    path.write_text(yaml.safe_dump({**lake.pipeline.to_mapping(), "lake": str(root / "lake")}, sort_keys=False))
    return path


def test_one_look(file: Path) -> None:
    done = command("watch", file, "--once")
    assert (done.code, done.err) == (0, "")
    assert re.match(r"tests, looked at \d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC\n", done.out)
    assert "What waits for what" in done.out and "1 late row of stage, for a restatement: windrow restate" in done.out
    assert "2 rows/s" not in done.out and "2.25 rows/s over the last 3 ticks" in done.out, "a backfill reads again"
    status = command("status", file).out
    lines = [line for line in status.splitlines() if line.startswith(("  panes", "  rows", "  dead rows", "  windows"))]
    assert len(lines) == 4 and all(line in done.out for line in lines), "it says what `windrow status` says"


def test_the_ticks_that_are_looked_at(file: Path) -> None:
    look = look_at(windrow.load(file), typed="x.yaml")
    found = look.ticks_of("stage")
    assert found == [ReadingTick(n, 10 * n * SECOND, rows) for n, rows in ((1, 500), (2, 30), (4, 30), (5, 30))]
    assert look.rate_of("stage") == Rate(2.25, 3) and look.late == {"stage": 1} and look.typed == "x.yaml"


def test_for_machines(file: Path) -> None:
    found = command("watch", file, "--once", "--json").json
    status = command("status", file, "--json").json
    (stage,), (same,) = found["stages"], status["stages"]
    assert stage["rate"] == {"per_second": 2.25, "ticks": 3} and stage["late_to_restate"] == 1
    assert {name: stage[name] for name in same} == same and found["sources"] == status["sources"]
    assert {one["what"] for one in found["waits"]} >= {"1 late row of stage"}


def test_a_lake_in_which_nothing_has_run(tmp_path: Path) -> None:
    done = command("watch", write_pipeline(tmp_path), "--once")
    assert done.code == 0 and "sums has not run yet." in done.out and "sums, for its first tick" in done.out
    assert not (tmp_path / "lake").exists(), "who looks makes nothing"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "9000"], "--port is where --serve shows the page, and goes with it"),
        (["--serve", "--once"], "--serve does not go with --once"),
        (["--serve", "--json"], "--serve does not go with --json"),
        (["--every", "0s"], "--every must be positive"),
        (["--every", "often"], "--every must be a duration"),
        (["--serve", "--port", "70000"], "--port"),
    ],
)
def test_what_is_refused(file: Path, options: list[str], words: str) -> None:
    refused(command("watch", file, *options), words)


@pytest.mark.parametrize(("mask", "is_hidden"), [("at", False), ("k", True)])
def test_the_names_of_partitions_that_nobody_is_shown(tmp_path: Path, mask: str, is_hidden: bool) -> None:
    inputs = {"": clock(secret=(30, 0), other=(60, 0))}
    control = Control(1, "stream", Offsets({}), True, 0, StageClock(3600 * SECOND, 20 * SECOND, inputs=inputs))
    tables = {
        "_windrow/generations": [{"stage": "sums", "generation": 1, "fingerprint": "{}", "step": 1}],
        "sums/journal/1": [{"tick": 1, "_control": control.to_json(), "_kind": "control"}],
    }
    for name, rows in tables.items():
        kinds = dict(one.rsplit(" ", 1) for one in OF_TABLES[name.replace("sums/", "stage/")].split(", "))
        write(tmp_path / "lake" / name, Table({}, rows), kinds)
    path = tmp_path / "pipeline.yaml"
    path.write_text(replace(masked(tmp_path, mask), lake=str(tmp_path / "lake")).to_yaml())
    look = look_at(windrow.load(path))
    for said in (command("watch", path, "--once").out, command("watch", path, "--once", "--json").out, page(look, 5)):
        assert ("secret" in said) is not is_hidden and ("***" in said) is is_hidden
        assert "1970-01-01 00:00:20" in said or "1970-01-01T00:00:20Z" in said, "where they stand is told"


# ---------------------------------------------------------------- until somebody ends it


@contextmanager
def started(file: Path, *options: str, **how: Any) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "windrow", "watch", str(file), *options]
    process = subprocess.Popen(words, text=True, **how)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


PIPED = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_block_for_each_look_until_it_is_told_to_end(file: Path, number: signal.Signals) -> None:
    with started(file, "--every", "100ms", **PIPED) as process:
        assert process.stdout is not None
        heads = 0
        while heads < 3:
            heads += process.stdout.readline().startswith("tests, looked at ")
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "") and "\x1b" not in out


def test_a_line_for_each_look_for_machines(file: Path) -> None:
    with started(file, "--every", "100ms", "--json", **PIPED) as process:
        assert process.stdout is not None
        looks = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert looks[0]["looked_at"] < looks[1]["looked_at"] < looks[2]["looked_at"]


def test_a_look_that_fails_is_told_and_the_next_one_sees_again(file: Path, tmp_path: Path) -> None:
    shutil.copytree(file.parent / "lake", tmp_path / "lake")
    log = tmp_path / "lake/stage/panes/_delta_log/00000000000000000000.json"
    with started(file, "--every", "100ms", "--json", "--set", f"lake={tmp_path}/lake", **PIPED) as process:
        assert process.stdout is not None
        said: list[str] = []
        good = log.read_text()
        for wanted, text in ((False, "no commit\n"), (True, good), (False, good)):
            while True:
                look = json.loads(process.stdout.readline())
                if ("has failed" in look["headline"]) is wanted:
                    break
            said.append(look["headline"])
            log.write_text(text)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert said[0] == said[2] and "What is shown is of" in said[1]


def test_a_terminal_shows_the_newest_look_in_its_place(file: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with started(file, "--every", "100ms", env=environment, start_new_session=True, **streams) as process:
        os.close(theirs)
        shown = read_until(ours, lambda text: text.count("looked at") >= 3)
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, lambda text: False)
        assert process.wait(20) == 0
    os.close(ours)
    assert "\x1b[1A" in shown and "\x1b[2K" in shown, "the cursor goes up, and lines are drawn anew"
    assert "Traceback" not in shown and "Aborted" not in shown and "^C" not in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is shown again"


def read_until(terminal: int, done: Any) -> str:
    """What is written to a terminal until it is enough, or nobody writes any more."""
    text, until = "", time.monotonic() + 60
    while not done(text) and time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            some = os.read(terminal, 65536) if ready else None
        except OSError:  # the other side has ended
            return text
        if some == b"":
            return text
        text += "" if some is None else some.decode(errors="replace")
    return text


# ---------------------------------------------------------------- as a page


@contextmanager
def page_of(file: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with started(file, "--serve", "--port", "0", *options, **PIPED) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        port = re.fullmatch(r"tests on http://127\.0\.0\.1:(\d+)/\n", said)
        assert port is not None, said
        yield process, int(port[1])


def asked(port: int, method: str = "GET", host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, "/", headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_page_until_it_is_told_to_end(file: Path, number: signal.Signals) -> None:
    with page_of(file) as (process, port):
        status, text = asked(port)
        assert status == 200 and "Stage stage" in text and "2.25 rows/s over the last 3 ticks" in text
        assert asked(port, "HEAD") == (200, "") and asked(port, "DELETE")[0] == 405
        assert asked(port, host=f"localhost:{port}")[0] == 200 and asked(port, host="evil.example")[0] == 421
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_page_shows_what_is_new(file: Path, tmp_path: Path) -> None:
    shutil.copytree(file.parent / "lake", tmp_path / "lake")
    with page_of(file, "--every", "100ms", "--set", f"lake={tmp_path}/lake") as (_, port):
        assert "1 late row of stage" in asked(port)[1]
        shutil.rmtree(tmp_path / "lake/stage/dead_letters")
        time.sleep(0.2)
        assert "1 late row of stage" not in asked(port)[1]


class Noting(ArrowTables):
    """Notes the order in which tables are opened."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def open(self, location: Location) -> Any:
        self.names.append(location.path.partition("/lake/")[2])
        return super().open(location)


def test_what_is_read_is_opened_behind_what_reads_it(file: Path) -> None:
    """A stream may land and tick between the two: raw then has more than was read, and never less."""
    tables = Noting()
    look_in(tables, windrow.load(file))
    assert tables.names.index("stage/journal/1") < tables.names.index("source/raw")
    assert tables.names.count("stage/journal/1") == tables.names.count("source/raw") == 1


def test_looking_leaves_every_file_as_it_was(file: Path) -> None:
    def files() -> dict[str, tuple[int, int]]:
        root = file.parent / "lake"
        return {str(one): (one.stat().st_size, one.stat().st_mtime_ns) for one in root.rglob("*")}

    before = files()
    assert command("watch", file, "--once").code == 0
    with page_of(file) as (_, port):
        assert asked(port)[0] == 200
    assert files() == before
