"""Journals and tables are compacted and vacuumed; whoever was behind reads on, and what is gone is said."""

import os
import shutil
import time
from pathlib import Path
from threading import Event

import pytest

from tests.cli.command import windrow
from tests.cli.test_wrong_input import refused, write
from tests.crash.runner import upkeep
from tests.lake import POISON, ROWS, content, pipeline, table, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.status.status import status
from windrow.drivers.maintain import maintain, tables
from windrow.drivers.maintain.kept import Kept
from windrow.drivers.maintain.maintain import Maintenance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import watched
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import Stream, run
from windrow.spec.errors import SpecError
from windrow.store.delta.location import Location
from windrow.store.delta.log.retries import StepTaken
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.upkeep import SETTINGS, Upkeep

FILES = 6
TABLES = ("current", "panes", "dead_letters")


@pytest.fixture(scope="module")
def calm(spark, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("calm")
    write_files(root / "data", range(FILES))
    run(pipeline(root), spark, once=True, drain=True)
    return root


def copied(calm: Path, root: Path) -> None:
    """The lake only: under another path the files would be others, and land again."""
    shutil.copytree(calm / "lake", root / "lake")
    (root / "data").mkdir()


def lose_current(spark, root: Path) -> None:
    shutil.rmtree(root / "lake" / "sums" / "current")
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # which the process that lost it would not have


def staged(root: Path, run: str, days: int) -> Path:
    """A file in the staging area of a run, written so many days ago."""
    file = root / "lake" / "_windrow" / "staging" / run / "part"
    file.parent.mkdir(parents=True)
    file.write_text("rows")
    at = time.time() - days * 24 * 3600
    os.utime(file, (at, at))
    return file


def opened(spark, root: Path) -> Stream:
    stream = Stream(PipelineWork.open(pipeline(root), spark), clock_micros, None, Event())
    stream.start()
    return stream


@pytest.mark.long
def test_no_file_of_a_table_is_removed(spark, tmp_path: Path) -> None:
    """VACUUM alone, with nothing compacted before: the files that the driver wrote stay as they are."""
    write_files(tmp_path / "data", range(1))
    run(pipeline(tmp_path), spark, once=True)
    lake, session = tmp_path / "lake", spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    for log in sorted(lake.rglob("_delta_log")):
        at = Upkeep(session, Location(str(log.parent)))
        at.vacuum(0)
        assert at.size().files == at.size().on_disk, log.parent.relative_to(lake)
    write_files(tmp_path / "data", range(FILES))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    assert reconcile(pipeline(tmp_path), spark)[0].equal


@pytest.mark.long
def test_a_stream_at_work_goes_on_as_if_nothing_was(spark, tmp_path: Path, calm: Path) -> None:
    """It has looked at every log before, and rows have landed that it has not read."""
    write_files(tmp_path / "data", range(3))
    stream = opened(spark, tmp_path)
    stream.cycle()
    write_files(tmp_path / "data", range(3, 5))
    stream.work.landings[0].run()
    done = {result.table: result for result in upkeep(tmp_path, spark, 0)}
    assert done["clicks/raw"].before.files > done["clicks/raw"].after.files == done["clicks/raw"].after.on_disk
    assert done["sums/panes"].after.files == 1 and done["sums/panes"].versions_removed > 0
    assert table(spark, tmp_path, "raw", "clicks").count() == 5 * (ROWS + POISON)
    write_files(tmp_path / "data", range(5, FILES))
    stream.cycle()
    upkeep(tmp_path, spark, 0)
    stream.drain()
    for name in TABLES:
        assert content(spark, tmp_path, name) == content(spark, calm, name), name
    assert reconcile(pipeline(tmp_path), spark)[0].equal
    (_,), (stage,) = status(pipeline(tmp_path), spark)
    assert stage.adds_up and stage.read == FILES * (ROWS + POISON)


@pytest.mark.long
def test_floors_are_compacted_too(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    stream = opened(spark, tmp_path)
    stream.cycle()
    for _ in range(3):
        upkeep(tmp_path, spark, 0)
    floors = spark.read.format("delta").load(str(tmp_path / "lake/_windrow/floors"))
    assert len(floors.inputFiles()) <= 2 < floors.count()
    assert reconcile(pipeline(tmp_path), spark)[0].equal


@pytest.mark.long
def test_steps_behind_a_rewrite_are_read_from_their_files_again(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(3))
    stream = opened(spark, tmp_path)
    stream.cycle()
    log = stream.work.raws["clicks"].log
    assert log._versions_of(spark, range(1, 4)) is not None
    upkeep(tmp_path, spark, 0)
    write_files(tmp_path / "data", range(3, 5))
    stream.work.landings[0].run()
    log.last(spark)
    assert log._versions_of(spark, range(3, 6)) is None and log._versions_of(spark, range(4, 6)) is not None
    assert log.rows(spark, 1, 5, "_step").count() == 4 * (ROWS + POISON)
    assert log.owner(spark, 2) is not None


@pytest.mark.long
def test_late_rows_are_restated_afterwards(spark, tmp_path: Path) -> None:
    """A restatement needs raw, the dead letters and the tables, and these are kept."""
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    quarantine(made, spark, "clicks", "batch-0002.json")
    maintenance = Maintenance.of(made, spark, Kept(0, clock_micros))
    (notes,) = [result.notes for result in maintenance.run(dry_run=False) if result.table == "sums/journal/1"]
    assert f"up to tick {FILES + 1} dropped" in notes[0]
    assert table(spark, tmp_path, "journal/1").where("_kind = 'control'").count() == FILES + 1
    (result,) = restate(made, spark)
    assert result.backfilled is not None and result.backfilled.tick == FILES + 2
    assert restate(made, spark)[0].backfilled is None


@pytest.mark.long
def test_a_lost_table_is_made_again_while_the_journal_has_it(spark, tmp_path: Path, calm: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    lose_current(spark, tmp_path)
    run(pipeline(tmp_path), spark, once=True)
    assert content(spark, tmp_path, "current") == content(spark, calm, "current")
    upkeep(tmp_path, spark, 0)
    lose_current(spark, tmp_path)
    with pytest.raises(SpecError, match=r"the ticks up to 7 did; got .current, made up to tick 0.*--from"):
        run(pipeline(tmp_path), spark, once=True)
    run(pipeline(tmp_path), spark, once=True, drain=True, from_start=True)
    columns = ["k", "window_start", "num", "total", "middle", "most"]
    ours, theirs = (table(spark, root, "current").select(*columns) for root in (tmp_path, calm))
    assert ours.exceptAll(theirs).isEmpty() and theirs.exceptAll(ours).isEmpty()
    upkeep(tmp_path, spark, 0)
    old = tmp_path / "lake" / "sums" / "journal" / "1"
    assert not old.exists()
    old.mkdir()
    (old / "left.parquet").write_bytes(b"rows")  # as on an object store, where the log of a table goes first
    upkeep(tmp_path, spark, 0)
    assert not old.exists()
    run(pipeline(tmp_path), spark, once=True)


def test_what_is_young_is_kept_and_a_dry_run_does_nothing(spark, tmp_path: Path, calm: Path, monkeypatch) -> None:
    copied(calm, tmp_path)
    path = write(tmp_path)
    old, young = (staged(tmp_path, run, days) for run, days in (("died", 8), ("at_work", 6)))
    files = sorted(str(file) for file in (tmp_path / "lake").rglob("*.parquet"))
    monkeypatch.setattr(tables, "MANY", 2)
    dry = windrow("maintain", path, "--dry-run")
    assert dry.code == 0 and "would be compacted" in dry.out, dry.err
    assert sorted(str(file) for file in (tmp_path / "lake").rglob("*.parquet")) == files
    assert "_windrow/staging/died" in dry.out and "at_work" not in dry.out and old.exists()
    done = windrow("maintain", path, "--json")
    assert done.code == 0, done.err
    raw = next(result for result in done.json if result["table"] == "clicks/raw")
    assert raw["after"]["files"] < raw["before"]["files"] <= raw["after"]["on_disk"] and raw["versions_removed"] == 0
    assert (old.exists(), old.parent.exists(), young.exists()) == (False, False, True)
    assert set(files) <= {str(file) for file in (tmp_path / "lake").rglob("*.parquet")}
    assert not table(spark, tmp_path, "journal/1").where("_kind IN ('cell', 'pane')").isEmpty()
    refused(windrow("maintain", path, "--keep", "59m"), "keep must be 0h, or from 1h to 7d", '"59m"')
    refused(windrow("maintain", path, "--keep", "8d"), "keep must be 0h, or from 1h to 7d", '"8d"')
    refused(windrow("maintain", path, "--keep", "long"), "--keep must be a duration")
    refused(windrow("maintain", path, "--keep", "2d", "--log", "1d"), "log must be from 2d, as --keep, to 30d", '"1d"')
    refused(windrow("maintain", path, "--log", "long"), "--log must be a duration")


@pytest.mark.long
def test_a_table_that_others_rewrite_each_time_is_left(spark, tmp_path: Path, calm: Path, monkeypatch) -> None:
    copied(calm, tmp_path)
    monkeypatch.setattr(Upkeep, "compact", lambda upkeep: False)
    notes = {result.table: result.notes for result in upkeep(tmp_path, spark, 0)}
    assert notes["sums/panes"] == ("not compacted: other writers were in the way",)


@pytest.mark.long
def test_a_stage_that_is_far_behind_keeps_its_rows_as_they_are(spark, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(maintain, "NEAR", 1)
    write_files(tmp_path / "data", range(2))
    PipelineWork.open(pipeline(tmp_path), spark).landings[0].run()
    raw = next(result for result in upkeep(tmp_path, spark, 0) if result.table == "clicks/raw")
    assert raw.notes == ("not compacted: sums has to read it first",) and raw.after.files == raw.before.files


@pytest.mark.long
def test_a_batch_that_meets_a_rewrite_of_raw_is_landed_again(spark, tmp_path: Path, monkeypatch) -> None:
    """Delta throws at it, and nobody has taken its step."""
    write_files(tmp_path / "data", range(1))
    first, append = iter([True]), StepLog.append

    def thrown_at(log: StepLog, *arguments: object) -> None:
        if log.app_id == "windrow-raw-clicks" and next(first, False):
            raise StepTaken(log.location.path, 1, None)
        append(log, *arguments)

    monkeypatch.setattr(StepLog, "append", thrown_at)
    PipelineWork.open(pipeline(tmp_path), spark).landings[0].run()
    assert table(spark, tmp_path, "raw", "clicks").count() == ROWS + POISON


@pytest.mark.long
def test_rows_that_a_stream_has_read_meanwhile_are_put_together(spark, tmp_path: Path, monkeypatch) -> None:
    """Maintenance takes longer than some ticks; what counts is how far the stage is when it comes to the rows."""
    monkeypatch.setattr(maintain, "NEAR", 1)
    monkeypatch.setattr(tables, "MANY", 2)
    write_files(tmp_path / "data", range(1))
    run(pipeline(tmp_path), spark, once=True)

    def passed(point: str) -> None:
        if point == "maintain:after_compact":
            write_files(tmp_path / "data", range(1, 5))
            run(pipeline(tmp_path), spark, once=True)

    with watched(passed):
        raw = next(result for result in upkeep(tmp_path, spark, 0) if result.table == "clicks/raw")
    assert raw.notes == () and raw.after.files < raw.before.files
