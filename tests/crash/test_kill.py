"""A run that ends at any boundary between two writes: what comes out is what an undisturbed run gives, bit for bit.

Each test ends tasks in this process, by an exception; the same by kill -9 is long, but for one lake.
"""

import json
import random
import shutil
import time
from pathlib import Path

import pytest

from tests.crash.ends import Ends, Kills, Stops, end_group, finish, start
from tests.crash.runner import SNAPSHOTS, do, monday, upkeep
from tests.lake import BEHIND, POISON, ROWS, STAGE, content, judged, pipeline, table, write_files
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.findings import findings
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import POINTS
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run

FILES = 6
TABLES = ("current", "panes", "dead_letters")


def points(*kinds: str) -> list[str]:
    """The points of these kinds, in their order."""
    return [point for point in POINTS if point.startswith(kinds)]


@pytest.fixture(params=["stopped", pytest.param("killed", marks=[pytest.mark.long, pytest.mark.crash])])
def ends(request: pytest.FixtureRequest, spark) -> Ends:
    return Stops(spark) if request.param == "stopped" else Kills()


@pytest.fixture(scope="module")
def undisturbed(spark, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("undisturbed")
    write_files(root / "data", range(FILES))
    do("drain", root, spark)
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


def test_every_point_is_of_a_kind_that_a_test_ends_at() -> None:
    kinds = ("landing:", "tick:", "compact:", "projection:", "source:", "admission:", "opening:", "backfill:")
    kinds = (*kinds, "maintain:", "quarantine:", "generation:", "step:", "gate:", "forget:", "erase:", "retention:")
    assert points(*kinds) == list(POINTS)


def test_at_every_point_of_a_tick(spark, ends: Ends, tmp_path: Path, undisturbed: Path) -> None:
    """One lake ends at one point after the other, each run going on where the last one ended."""
    for point in points("landing:"):
        write_files(tmp_path / "data", range(1))
        ends.at(point, tmp_path)
    for number, point in enumerate(points("tick:", "compact:"), 1):
        write_files(tmp_path / "data", range(number, number + 1))
        land(spark, tmp_path)
        ends.at(point, tmp_path)
    write_files(tmp_path / "data", range(FILES))
    do("drain", tmp_path, spark)
    equal_tables(spark, tmp_path, undisturbed)


@pytest.mark.long
def test_ticks_that_write_all_open_cells(spark, ends: Ends, tmp_path: Path, undisturbed: Path) -> None:
    """Those that end, those that go on behind them, and others in between, as maintenance compacts the journal."""
    for number, point in enumerate(["tick:before_journal", "tick:after_journal"] * 2):
        write_files(tmp_path / "data", range(number, number + 1))
        land(spark, tmp_path)
        ends.at(point, tmp_path, SNAPSHOTS)
        if number == 2:
            do("maintain", tmp_path, spark)
    write_files(tmp_path / "data", range(FILES))
    do("drain", tmp_path, spark)
    equal_tables(spark, tmp_path, undisturbed)


@pytest.mark.long
def test_batches_and_the_stream_that_opens_behind_them(spark, ends: Ends, tmp_path: Path) -> None:
    """Of a stage without a stream: what landed is admitted once, shown early once, and retracted once by the stream."""
    ended, calm = tmp_path / "ended", tmp_path / "calm"
    for root in (ended, calm):
        write_files(root / "data", range(2))
        land(spark, root)
    for point in [*points("admission:"), "backfill:before_journal", "backfill:after_journal"]:
        ends.at(point, ended, "early")
    for root in (ended, calm):
        do("early", root, spark)
    equal_tables(spark, ended, calm)
    assert table(spark, calm, "current").where("is_last").count() > 0
    assert table(spark, calm, "current").where("NOT is_last").count() > 0
    for root in (ended, calm):
        write_files(root / "data", range(3))
        land(spark, root)
    for point in [*points("opening:"), "tick:before_journal", "tick:after_journal"]:
        ends.at(point, ended)
    for root in (ended, calm):
        do("drain", root, spark)
    equal_tables(spark, ended, calm)
    assert reconcile(pipeline(ended), spark)[0].equal


def test_at_every_point_of_the_projections(spark, ends: Ends, tmp_path: Path, undisturbed: Path) -> None:
    """Before each end a file is added, so that there is something to project."""
    for number, point in enumerate(points("projection:", "source:")):
        write_files(tmp_path / "data", range(number, number + 1))
        land(spark, tmp_path)
        ends.at(point, tmp_path)
    write_files(tmp_path / "data", range(FILES))
    do("drain", tmp_path, spark)
    equal_tables(spark, tmp_path, undisturbed)


LENGTHS = {
    "name": "lengths", "from": "sums", "keys": ["k"], "window": {"fixed": {"size": "60s"}},
    "select": {"length": "unix_micros(window_end) - unix_micros(window_start)"},
    "trigger": {"after_watermark": {"early": {"after_count": 2}, "late": {"after_count": 1}}},
    "accumulation": "retracting", "allowed_lateness": "605s",
    "aggregates": {"sessions": {"count": "*"}, "mean_length": {"mean": "length"}, "longest": {"max": "length"}},
}  # fmt: skip
"""Over sessions whose longest is ten minutes."""


@pytest.mark.long
def test_two_stages_of_sessions_between_their_writes(spark, ends: Ends, tmp_path: Path) -> None:
    """Merged sessions are retracted once, in the stage behind too, and the bounds of expired ones stay known."""
    ended, calm = tmp_path / "ended", tmp_path / "calm"
    for root in (ended, calm):
        write_files(root / "data", range(2))
        stage = {"window": {"sessions": {"gap": "4s", "max_session": "10m"}}, "allowed_lateness": "5s"}
        (root / STAGE).write_text(json.dumps(stage))
        (root / BEHIND).write_text(json.dumps([LENGTHS]))
    do("drain", calm, spark)
    land(spark, ended)
    for point in ("tick:after_journal", "projection:after_panes"):
        ends.at(point, ended)
    do("drain", ended, spark)
    equal_tables(spark, ended, calm)
    equal_tables(spark, ended, calm, "lengths")
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


@pytest.mark.long
def test_a_join_between_its_writes(spark, ends: Ends, tmp_path: Path) -> None:
    """Its inputs take the same steps together, and what it has retracted is retracted once."""
    ended, calm = tmp_path / "ended", tmp_path / "calm"
    for root in (ended, calm):
        write_files(root / "data", range(2))
        (root / STAGE).write_text(json.dumps({"allowed_lateness": "5s"}))
        (root / BEHIND).write_text(json.dumps([MATCHED]))
    do("drain", calm, spark)
    land(spark, ended)
    for point in ("tick:after_journal#3", "projection:after_panes#2"):
        ends.at(point, ended)
    do("drain", ended, spark)
    equal_tables(spark, ended, calm)
    equal_tables(spark, ended, calm, "matched")
    assert table(spark, calm, "panes", "matched").where("weight < 0").count() > 0
    sums, matched = reconcile(pipeline(calm), spark)
    assert sums.equal and matched.equal and matched.windows > 0
    assert sums.late_rows > 0 and matched.late_rows > 0


@pytest.fixture(scope="module")
def late(spark, tmp_path_factory) -> Path:
    """A lake with late rows, which tests copy."""
    root = tmp_path_factory.mktemp("late")
    write_files(root / "data", range(FILES))
    run(judged(root), spark, once=True, drain=True)
    return root


def copies(root: Path, lake: Path) -> tuple[Path, Path]:
    """Two copies of a lake: one in which tasks end at one point after the other, and one that is left in peace."""
    return shutil.copytree(lake, root / "ended"), shutil.copytree(lake, root / "calm")


def test_a_backfill_at_every_point(spark, ends: Ends, tmp_path: Path, late: Path) -> None:
    ended, calm = copies(tmp_path, late)
    for point in points("backfill:"):
        ends.at(point, ended, "backfill")
    for root in (ended, calm):
        work = PipelineWork.open(judged(root), spark)
        (result,) = monday(work).publish()
        assert (result.tick is None) == (root == ended)
        published = findings(work.lake, spark, "monday")["publish", "sums"]
        assert published["changed"] > 0, "what it has done is known, though it ended behind its commit"
    equal_tables(spark, ended, calm)
    assert not table(spark, calm, "dead_letters").where("restated_by is not null").isEmpty()


@pytest.mark.long
def test_a_restatement_at_every_point(spark, ends: Ends, tmp_path: Path, late: Path) -> None:
    """As a backfill; each try is a run of its own, which finds what the one before it has left to do."""
    ended, calm = copies(tmp_path, late)
    for point in points("backfill:"):
        ends.at(point, ended, "restate")
    for root in (ended, calm):
        (result,) = restate(judged(root), spark)
        assert (result.backfilled is None) == (root == ended)
        assert reconcile(judged(root), spark)[0].late_rows == 0
    equal_tables(spark, ended, calm)


@pytest.mark.long
def test_maintenance_at_every_point_among_ticks(spark, ends: Ends, tmp_path: Path, undisturbed: Path) -> None:
    """With windows open and nothing kept that is not in use; then beside a stream that is at work; and when all have
    expired, where transitions are dropped.
    """
    drops = [point for point in points("maintain:") if point.endswith("_drop")]
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path), spark, once=True)
    for point in [point for point in points("maintain:") if point not in drops]:
        ends.at(point, tmp_path, "maintain")
    write_files(tmp_path / "data", range(3, FILES))
    ends.together(tmp_path, ["drain", "beside"])
    for point in drops:
        ends.at(point, tmp_path, "maintain")
    upkeep(tmp_path, spark, 0)
    assert table(spark, tmp_path, "journal/1").where("_kind IN ('cell', 'pane')").isEmpty()
    equal_tables(spark, tmp_path, undisturbed)


def test_a_quarantine_at_its_points(spark, ends: Ends, tmp_path: Path) -> None:
    """What it has taken out is in the tables when it is done again, or when anything else projects them."""
    lake = tmp_path / "lake"
    write_files(lake / "data", range(3))
    run(pipeline(lake), spark, once=True)
    ended, calm = copies(tmp_path, lake)
    for point in points("quarantine:"):
        ends.at(point, ended, "quarantine")
    assert quarantine(pipeline(ended), spark, "clicks", "batch-0001.json").step is None
    assert quarantine(pipeline(calm), spark, "clicks", "batch-0001.json").step == 4
    for root in (ended, calm):
        dead = table(spark, root, "dead_letters", "clicks")
        assert dead.where("reason = 'quarantined'").count() == ROWS + POISON
        assert dead.where("reason <> 'quarantined'").count() == 2 * (POISON - 1)


@pytest.mark.long
def test_a_new_generation_between_its_gate_and_the_tables(spark, ends: Ends, tmp_path: Path) -> None:
    """The tables show the old generation until then, and the new one when the stream runs again."""
    ended, calm = tmp_path / "ended", tmp_path / "calm"
    for root in (ended, calm):
        write_files(root / "data", range(2))
        run(judged(root), spark, once=True, drain=True)
    before = content(spark, ended, "current")
    for point in points("generation:"):  # the one that was recorded and had nothing yet is passed over
        ends.at(point, ended, "from_start")
    assert content(spark, ended, "current") == before
    run(judged(ended), spark, once=True, drain=True)
    do("from_start", calm, spark)
    equal_tables(spark, ended, calm)
    assert {row["generation"] for row in table(spark, ended, "ticks").collect()} == {3}


@pytest.mark.crash
def test_a_tick_and_tables_by_kill_9(spark, tmp_path: Path, undisturbed: Path) -> None:
    """In every run, as an exception is not all that a kill is."""
    write_files(tmp_path / "data", range(FILES))
    land(spark, tmp_path)
    for point in ("tick:after_journal", "projection:after_current"):
        Kills().at(point, tmp_path)
    do("drain", tmp_path, spark)
    equal_tables(spark, tmp_path, undisturbed)


@pytest.mark.long
@pytest.mark.crash
def test_a_backfill_by_kill_9(spark, tmp_path: Path, late: Path) -> None:
    killed, stopped = copies(tmp_path, late)
    for root, ends in ((killed, Kills()), (stopped, Stops(spark))):
        ends.at("backfill:after_journal", root, "backfill")
        (result,) = monday(PipelineWork.open(judged(root), spark)).publish()
        assert result.tick is None, "its commit is known"
    equal_tables(spark, killed, stopped)


@pytest.mark.long
@pytest.mark.crash
def test_killed_at_any_time_and_then_two_runners_at_once(spark, tmp_path: Path, undisturbed: Path) -> None:
    """One of the two may end with an error that says so; the tables are right."""
    chance = random.Random(7)
    write_files(tmp_path / "data", range(FILES))
    for _ in range(2):
        process = start(tmp_path, "drain", "never")
        time.sleep(chance.uniform(8, 25))
        end_group(process)
        finish(process)
    both = [start(tmp_path, "drain"), start(tmp_path, "drain")]
    for process in both:
        finish(process)
    assert finish(start(tmp_path, "drain")) == 0
    if table(spark, tmp_path, "raw", "clicks").agg({"_step": "max"}).first()[0] == FILES:
        equal_tables(spark, tmp_path, undisturbed)
    else:  # it died between the two logs of Spark's file source (`land`), which a test cannot choose
        assert reconcile(pipeline(tmp_path), spark)[0].equal
