"""kill -9 at every boundary between two writes: what comes out is what an undisturbed run gives, bit for bit."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.crash.runner import monday, upkeep
from tests.lake import BEHIND, POISON, ROWS, STAGE, content, judged, pipeline, table, write_files
from windrow.run.points import POINTS
from windrow.run.quarantine import quarantine
from windrow.run.reconcile import reconcile
from windrow.run.restate import restate
from windrow.run.stream import run
from windrow.run.work import PipelineWork
from windrow.store.audits import Audits

pytestmark = pytest.mark.crash

FILES = 6


def points(*kinds: str) -> list[str]:
    """The points of these kinds, in their order."""
    return [point for point in POINTS if point.startswith(kinds)]


TABLES = ("current", "panes", "dead_letters")


def start(root: Path, kill_at: str = "", task: str = "drain") -> subprocess.Popen[bytes]:
    """The runner in a process group of its own; a stream that shall die does not drain."""
    environment = {**os.environ, "WINDROW_KILL_AT": kill_at}
    task = "once" if kill_at and task == "drain" else task
    command = [sys.executable, "-m", "tests.crash.runner", str(root), task]
    return subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)


def finish(process: subprocess.Popen[bytes]) -> int:
    """The exit code; the whole group is gone afterwards."""
    try:
        return process.wait(timeout=300)
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("undisturbed")
    write_files(root / "data", range(FILES))
    assert finish(start(root)) == 0
    return root


def equal_tables(spark, left: Path, right: Path, stage: str = "sums") -> None:
    for name in TABLES:
        assert content(spark, left, name, stage) == content(spark, right, name, stage), name


def land(spark, root: Path) -> None:
    """Land all files, each in a step of its own.

    A process that dies in a tick would die while it lands, too. If that is between the two logs of Spark's file source,
    the next one takes two files at once, and its ticks are others.
    """
    for landing in PipelineWork.open(pipeline(root), spark).landings:
        landing.run()


def test_killed_at_every_point_of_a_tick(spark, tmp_path: Path, undisturbed: Path) -> None:
    """One lake is killed at one point after the other, each process going on where the last one died."""
    for point in points("landing:"):
        write_files(tmp_path / "data", range(1))
        assert finish(start(tmp_path, point)) == -signal.SIGKILL, f"{point} was not passed"
    for number, point in enumerate(points("tick:", "fold:"), 1):
        write_files(tmp_path / "data", range(number, number + 1))
        land(spark, tmp_path)
        assert finish(start(tmp_path, point)) == -signal.SIGKILL, f"{point} was not passed"
    write_files(tmp_path / "data", range(FILES))
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)


def test_killed_at_every_point_of_the_projections(spark, tmp_path: Path, undisturbed: Path) -> None:
    """Before each kill a file is added, so that there is something to project."""
    for number, point in enumerate(points("projection:", "source:")):
        write_files(tmp_path / "data", range(number, number + 1))
        assert finish(start(tmp_path, point)) == -signal.SIGKILL, f"{point} was not passed"
    write_files(tmp_path / "data", range(FILES))
    assert finish(start(tmp_path)) == 0
    equal_tables(spark, tmp_path, undisturbed)


LENGTHS = {
    "name": "lengths", "from": "sums", "keys": ["k"], "window": {"fixed": {"size": "60s"}},
    "select": {"length": "unix_micros(window_end) - unix_micros(window_start)"},
    "trigger": {"after_watermark": {"early": {"after_count": 2}, "late": {"after_count": 1}}},
    "accumulation": "retracting", "allowed_lateness": "605s",
    "aggregates": {"sessions": {"count": "*"}, "mean_length": {"mean": "length"}, "longest": {"max": "length"}},
}  # fmt: skip
"""Over sessions whose longest is ten minutes."""


def test_two_stages_of_sessions_killed_between_their_writes(spark, tmp_path: Path) -> None:
    """Merged sessions are withdrawn once, in the stage behind too, and the bounds of expired ones stay known."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    for root in (killed, calm):
        write_files(root / "data", range(2))
        stage = {"window": {"sessions": {"gap": "4s", "max_session": "10m"}}, "allowed_lateness": "5s"}
        (root / STAGE).write_text(json.dumps(stage))
        (root / BEHIND).write_text(json.dumps([LENGTHS]))
    assert finish(start(calm)) == 0
    land(spark, killed)
    for point in ("tick:after_journal", "projection:after_panes"):
        assert finish(start(killed, point)) == -signal.SIGKILL, f"{point} was not passed"
    assert finish(start(killed)) == 0
    equal_tables(spark, killed, calm)
    equal_tables(spark, killed, calm, "lengths")
    changes = {row["change"] for row in table(spark, calm, "panes").select("change").distinct().collect()}
    assert "delete" in changes and not table(spark, calm, "dead_letters").where("reason = 'late'").isEmpty()
    assert table(spark, calm, "panes", "lengths").where("weight < 0").count() > 0
    sessions, lengths = reconcile(pipeline(calm), spark)
    assert sessions.equal and sessions.late_rows > 0 and lengths.equal and lengths.windows > 0


MATCHED = {
    "name": "matched", "join": "full", "window": {"fixed": {"size": "20s"}}, "accumulation": "retracting",
    "trigger": {"after_watermark": {"early": {"after_count": 1}, "late": {"after_count": 1}}},
    "allowed_lateness": "5s",
    "inputs": {
        "clicks": {"from": "clicks", "keys": ["k"], "where": "v > 4", "columns": ["v"]},
        "sums": {"from": "sums", "keys": ["k"], "columns": ["num", "total"]},
    },
}  # fmt: skip
"""A source and a stage that retracts."""


def test_a_join_killed_between_its_writes(spark, tmp_path: Path) -> None:
    """Its inputs take the same steps together, and what it has withdrawn is withdrawn once."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    for root in (killed, calm):
        write_files(root / "data", range(2))
        (root / STAGE).write_text(json.dumps({"allowed_lateness": "5s"}))
        (root / BEHIND).write_text(json.dumps([MATCHED]))
    assert finish(start(calm)) == 0
    land(spark, killed)
    for point in ("tick:after_journal#3", "projection:after_panes#2"):
        assert finish(start(killed, point)) == -signal.SIGKILL, f"{point} was not passed"
    assert finish(start(killed)) == 0
    equal_tables(spark, killed, calm)
    equal_tables(spark, killed, calm, "matched")
    assert table(spark, calm, "panes", "matched").where("weight < 0").count() > 0
    sums, matched = reconcile(pipeline(calm), spark)
    assert sums.equal and matched.equal and matched.windows > 0
    assert sums.late_rows > 0 and matched.late_rows > 0


def test_a_backfill_killed_at_every_point(spark, tmp_path: Path) -> None:
    """Two copies of a lake with late rows: one is backfilled at once, the other killed at one point after the other."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    write_files(killed / "data", range(FILES))
    run(judged(killed), spark, once=True, drain=True)
    shutil.copytree(killed, calm)
    for point in points("backfill:"):
        assert finish(start(killed, point, "backfill")) == -signal.SIGKILL, f"{point} was not passed"
    for root in (killed, calm):
        work = PipelineWork.open(judged(root), spark)
        (result,) = monday(work).publish()
        assert (result.tick is None) == (root == killed)
        published = Audits.of(work.lake).of_run(work.spark, "monday")["publish", "sums"]
        assert published["changed"] > 0, "what it has done is known, though it was killed behind its commit"
    equal_tables(spark, killed, calm)
    assert not table(spark, calm, "dead_letters").where("restated_by is not null").isEmpty()


def test_a_restatement_killed_at_every_point(spark, tmp_path: Path) -> None:
    """As a backfill; each try is a run of its own, which finds what the one before it has left to do."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    write_files(killed / "data", range(FILES))
    run(judged(killed), spark, once=True, drain=True)
    shutil.copytree(killed, calm)
    for point in points("backfill:"):
        assert finish(start(killed, point, "restate")) == -signal.SIGKILL, f"{point} was not passed"
    for root in (killed, calm):
        (result,) = restate(judged(root), spark)
        assert (result.backfilled is None) == (root == killed)
        assert reconcile(judged(root), spark)[0].late_rows == 0
    equal_tables(spark, killed, calm)


def test_maintenance_killed_at_every_point_among_ticks(spark, tmp_path: Path, undisturbed: Path) -> None:
    """With windows open and nothing kept that is not in use; then beside a stream that is at work; and when all have
    expired, where transitions are dropped.
    """
    drops = [point for point in points("maintain:") if point.endswith("_drop")]
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path), spark, once=True)
    for point in [point for point in points("maintain:") if point not in drops]:
        assert finish(start(tmp_path, point, "maintain")) == -signal.SIGKILL, f"{point} was not passed"
    write_files(tmp_path / "data", range(3, FILES))
    stream, beside = start(tmp_path), start(tmp_path, task="beside")
    assert (finish(stream), finish(beside)) == (0, 0)
    for point in drops:
        assert finish(start(tmp_path, point, "maintain")) == -signal.SIGKILL, f"{point} was not passed"
    upkeep(tmp_path, spark, 0)
    assert table(spark, tmp_path, "journal/1").where("kind = 'cell'").isEmpty()
    equal_tables(spark, tmp_path, undisturbed)


def test_a_quarantine_killed_at_its_point(spark, tmp_path: Path) -> None:
    """What it has taken out is in the tables when it is done again, or when anything else brings them up."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    write_files(killed / "data", range(3))
    run(pipeline(killed), spark, once=True)
    shutil.copytree(killed, calm)
    assert finish(start(killed, "quarantine:after_raw", "quarantine")) == -signal.SIGKILL
    assert quarantine(pipeline(killed), spark, "clicks", "batch-0001.json").step is None
    assert quarantine(pipeline(calm), spark, "clicks", "batch-0001.json").step == 4
    for root in (killed, calm):
        dead = table(spark, root, "dead_letters", "clicks")
        assert dead.where("reason = 'quarantined'").count() == ROWS + POISON
        assert dead.where("reason <> 'quarantined'").count() == 2 * (POISON - 1)


def test_killed_at_any_time_and_then_two_runners_at_once(spark, tmp_path: Path, undisturbed: Path) -> None:
    """One of the two may end with an error that says so; the tables are right."""
    chance = random.Random(7)
    write_files(tmp_path / "data", range(FILES))
    for _ in range(2):
        process = start(tmp_path, "never")
        time.sleep(chance.uniform(8, 25))
        end_group(process)
        finish(process)
    both = [start(tmp_path), start(tmp_path)]
    for process in both:
        finish(process)
    assert finish(start(tmp_path)) == 0
    if table(spark, tmp_path, "raw", "clicks").agg({"_step": "max"}).first()[0] == FILES:
        equal_tables(spark, tmp_path, undisturbed)
    else:  # it died between the two logs of Spark's file source (`land`), which a test cannot choose
        assert reconcile(pipeline(tmp_path), spark)[0].equal
