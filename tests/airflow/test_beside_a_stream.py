"""A stream that lives in a process of its own, and the daily DAG in Airflow beside it.

The run of the day is deferred while the stream has its windows open, fifty others land meanwhile, and it is green when
the stream has passed the end of the day. Every row is there once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from demo.own_airflow import BIN, ROOT, Airflow
from tests.airflow.hits import BACKFILL, PAGES, STAGE, START, Hits
from tests.airflow.metadata import deferred
from tests.cli.command import windrow

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]

LANDS = 50
DAY = 24 * 60
"""Minutes. The windows of the run are those of the day from three o'clock on."""
RUN = "scheduled__2024-01-02T03:00:00+00:00"
FROM, TO = START + timedelta(hours=3), START + timedelta(hours=27)
DAGS = """
from windrow.airflow import dags_of

made = dags_of("pipelines", {project!r})
made["hits_backfill"].catchup = True  # the day is long over
globals().update(made)
"""
SCHEDULE = {
    "cron": "0 3 * * *", "start": "2024-01-01", "end": "2024-01-01T03:00:00Z", "poke_interval": "2s",
    "spark": {"connection": "spark_local"}, "retries": 0,
}  # fmt: skip


@contextmanager
def streaming(hits: Hits) -> Iterator[subprocess.Popen[bytes]]:
    """`windrow run`, in a process group of its own, which is ended."""
    words = ["-m", "windrow", "run", str(hits.file), "--project", str(hits.project), "--every", "1s"]
    with (hits.project / "stream.log").open("wb") as log:
        call = [str(BIN / "python"), *words]
        stream = subprocess.Popen(call, start_new_session=True, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        yield stream
    finally:
        with suppress(ProcessLookupError):
            os.killpg(stream.pid, signal.SIGKILL)
        stream.wait()


def until(holds: Callable[[], bool], stream: subprocess.Popen[bytes], seconds: float = 180) -> None:
    """Wait until something holds, while the stream lives."""
    end = time.monotonic() + seconds
    while not holds():
        assert stream.poll() is None, "the stream has ended"
        assert time.monotonic() < end
        time.sleep(0.5)


@pytest.fixture
def hits(tmp_path: Path) -> Hits:
    (tmp_path / "dags").mkdir()
    (tmp_path / "project" / "pipelines").mkdir(parents=True)
    (tmp_path / "dags" / "all.py").write_text(DAGS.format(project=str(tmp_path / "project")))
    return Hits.made(tmp_path / "project", **SCHEDULE)


def test_a_daily_run_waits_for_a_stream_that_lives_on(spark, hits: Hits, tmp_path: Path) -> None:
    more = {"AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags")}
    airflow = Airflow(tmp_path / "home", hits.project, hits.file.parent, more)
    every = DAY // LANDS
    hits.arrive(range(0, every, 4))
    with streaming(hits) as stream, airflow.running():
        until(lambda: hits.version(STAGE, "ticks") > 0, stream)
        airflow.unpause(BACKFILL)
        until(lambda: [(one.run, one.task) for one in deferred(airflow.home)] == [(RUN, "land")], stream)
        for number in range(1, LANDS + 1):
            hits.arrive(range(number * every, (number + 1) * every, 4))
            words = ("--run", f"other-{number}", "--from", "2024-01-01", "--to", "2024-01-02")
            landed = windrow("step", "land", hits.file, "--project", hits.project, *words)
            assert landed.code == 0, landed.err
        assert stream.poll() is None
        assert [(one.run, one.task) for one in deferred(airflow.home)] == [(RUN, "land")], "it still waits"
        assert "a stream lands for hourly" in log_of(airflow)
        hits.arrive(range(27 * 60, 29 * 60, 4))  # the watermark passes the end of the run's day
        until(lambda: airflow.runs(BACKFILL)[RUN] in ("success", "failed"), stream)
        tasks = airflow.tries(BACKFILL, RUN)
        assert {task: tries for task, tries in tasks.items() if tries != ("success", 1)} == {}
        hits.arrive([29 * 60 + 59, 33 * 60])  # it lives, and goes on
        until(lambda: hits.shown()["a", START + timedelta(hours=29)] > 0, stream)
        stream.send_signal(signal.SIGTERM)
        assert stream.wait(timeout=60) == 0, (hits.project / "stream.log").read_text()
    assert Counter((row["page"], row["_event_time"]) for row in hits.read("hits", "raw")) == {
        (page, int(at.timestamp()) * 1_000_000): 1 for page, at in hits.rows
    }
    end = START + timedelta(hours=30)
    whole = hits.right(START, end)
    assert {window: number for window, number in hits.shown().items() if window[1] < end} == whole
    assert {window: number for window, number in hits.shown("panes").items() if window[1] < end} == whole
    assert sum(hits.right(FROM, TO).values()) > LANDS * len(PAGES)
    compared = windrow("reconcile", hits.file, "--project", hits.project)
    assert compared.code == 0, compared.out + compared.err
    assert Counter(row["reason"] for row in hits.read(STAGE, "dead_letters")) == Counter()


def log_of(airflow: Airflow) -> str:
    """What the task that waits has logged."""
    logs = (airflow.home / "logs" / f"dag_id={BACKFILL}" / f"run_id={RUN}").rglob("*.log")
    return "\n".join(path.read_text() for path in logs)
