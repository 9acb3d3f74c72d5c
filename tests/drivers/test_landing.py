"""Landing: every file that comes is read, whenever it was modified."""

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

from tests.drivers.test_gates import pipeline, write_rows
from tests.lake import table
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.ingest.quarantine import quarantine
from windrow.store.delta.location import Lake
from windrow.store.projections.source import SourceProjections
from windrow.store.upstream.raw import Raw


def test_a_file_much_older_than_those_before_it_is_read(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "new.json", [{"v": 1}])
    landing = Landing(spark, made.sources[0], Lake.of(made.lake))
    landing.run()
    write_rows(tmp_path, "old.json", [{"v": 2}])
    os.utime(tmp_path / "data" / "old.json", (1_000_000_000, 1_000_000_000))
    landing.run()
    assert sorted(row["v"] for row in table(spark, tmp_path, "raw", "rows").collect()) == [1, 2]


def sockets_of_java(spark) -> int:
    """How many its process has open."""
    found = 0
    for entry in Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/fd").iterdir():
        with suppress(FileNotFoundError):  # it is closed meanwhile
            found += os.readlink(entry).startswith("socket:")
    return found


def test_a_landing_that_has_ended_leaves_no_thread_and_no_socket(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    landing = Landing(spark, made.sources[0], Lake.of(made.lake))
    write_rows(tmp_path, "first.json", [{"v": 0}])
    landing.run()  # the first one starts a thread that waits for all callbacks
    before, sockets = set(threading.enumerate()), sockets_of_java(spark)
    for number in range(3):
        write_rows(tmp_path, f"{number}.json", [{"v": number}])
        landing.run()
    more = [thread for thread in threading.enumerate() if thread not in before]
    for thread in more:
        thread.join(5.0)
    assert not any(thread.is_alive() for thread in more)
    assert sockets_of_java(spark) <= sockets


def counted(spark, raw: Raw, until: int) -> tuple[set[tuple[object, ...]], bool]:
    """The landings up to a step, as (step, files, rows, dead), and whether rows were looked at for them."""
    found = raw.landings(spark, 0, until)
    names = ("_step", "files", "rows", "dead")
    assert found.where("landed_at > 1700000000000000").count() == found.count()
    return {tuple(row[name] for name in names) for row in found.collect()}, bool(found.inputFiles())


def test_what_a_commit_says_of_its_landing_is_what_its_rows_say(spark, tmp_path: Path) -> None:
    """Files without rows count, of which no row says that they were there."""
    made = pipeline(tmp_path)
    landing = Landing(spark, made.sources[0], Lake.of(made.lake))
    projections = SourceProjections(spark, landing.lake, landing.raw)
    for number in range(3):
        write_rows(tmp_path, f"a{number}.json", [{"v": 1}, {"v": 2}, {"at": "never"}])
        write_rows(tmp_path, f"b{number}.json", [{"v": 3}] * number)
        landing.run()
        projections.project()
    expected = {(1, 2, 3, 1), (2, 2, 4, 1), (3, 2, 5, 1)}
    assert counted(spark, landing.raw, 3) == (expected, False)
    assert {tuple(row) for row in _landings(spark, tmp_path)} == expected
    by_rows = landing.raw._landings_counted(spark, 0, 3, {}).drop("landed_at").collect()
    assert {tuple(row) for row in by_rows} == {(1, 1, 3, 1), *expected - {(1, 2, 3, 1)}}
    times = [
        one.collect() for one in (landing.raw._landings_counted(spark, 0, 3, {}), landing.raw.landings(spark, 0, 3))
    ]
    assert len({frozenset((row["_step"], row["landed_at"]) for row in rows) for rows in times}) == 1

    quarantine(made, spark, "rows", "a1.json")
    expected = {(1, 2, 3, 1), (2, 2, 4, 3), (3, 2, 5, 1)}
    fresh = Raw.of(landing.lake, "rows", made.sources[0])
    assert counted(spark, fresh, fresh.last_step(spark)) == (expected, True)
    projections.project()
    assert {tuple(row) for row in _landings(spark, tmp_path)} == expected


def test_files_of_a_batch_that_another_run_has_landed_in_part_are_counted_by_their_rows(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    landing = Landing(spark, made.sources[0], Lake.of(made.lake))
    for number in range(2):
        write_rows(tmp_path, f"{number}.json", [{"v": 1}])
        landing.run()
        shutil.rmtree(landing.lake.checkpoint("rows"))
    assert counted(spark, landing.raw, 2) == ({(1, 1, 1, 0), (2, 1, 1, 0)}, True)


def _landings(spark, root: Path) -> list[tuple[int, int, int, int]]:
    return table(spark, root, "landings", "rows").select("step", "files", "rows", "dead").collect()
