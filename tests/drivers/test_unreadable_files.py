"""Files that cannot be read: each is one dead letter with its name, and the others of its batch land."""

import gzip
import json
import os
import shutil
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_failures import Java
from tests.drivers.test_sources import pipeline, write
from tests.lake import iso, table
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.status.status import status
from windrow.drivers.stream.stream import run
from windrow.sources import unreadable
from windrow.spec.errors import SourceUnavailable
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake

WAITS = (0.01, 0.02)


def landing(spark: Any, made: Pipeline, **options: Any) -> Landing:
    one = Landing(spark, made.sources[0], Lake.of(made.lake))
    one.faults = replace(one.faults, waits=WAITS, **options)
    return one


def good(v: int) -> dict[str, Any]:
    return {"k": "a", "v": v, "at": iso(v)}


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def broken_gzip(path: Path, rows: int = 5000) -> None:
    path.parent.mkdir(exist_ok=True)
    packed = gzip.compress(lines(*[{**good(7), "k": str(os.urandom(8))} for _ in range(rows)]))
    path.write_bytes(packed[: len(packed) // 2])


def rows_of(spark: Any, root: Path) -> list[Any]:
    return sorted(table(spark, root, "raw", "rows").collect(), key=lambda row: (row["_reason"] or "", row["_offset"]))


def alive(spark: Any, root: Path) -> list[int]:
    return sorted(row["v"] for row in rows_of(spark, root) if row["_reason"] is None)


def letters(spark: Any, root: Path) -> dict[str, str]:
    """The dead letters of files that could not be read: their names, and why."""
    rows = rows_of(spark, root)
    return {r["_offset"].rsplit("/", 1)[-1]: r["_raw"] for r in rows if r["_reason"] == "unreadable_file"}


def test_a_broken_gzip_is_one_dead_letter_and_the_others_land(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    for v in range(1, 8):
        write(tmp_path, f"{v}.json", good(v))
    broken_gzip(tmp_path / "data" / "a broken one.json.gz")
    run(made, spark, once=True)
    write(tmp_path, "8.json", good(8))
    run(made, spark, once=True, drain=True)
    assert alive(spark, tmp_path) == list(range(1, 9))
    (letter,) = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert (letter["reason"], letter["rule"]) == ("unreadable_file", "a file that can be read")
    assert letter["offset"] == f"file:{tmp_path}/data/a%20broken%20one.json.gz"
    assert letter["element"].startswith("it ends too early (java.io.EOFException")
    assert letter["event_time"] is None and letter["arrived_at"] is not None
    (source,), (stage,) = status(made, spark)
    assert (source.rows, source.files, source.dead) == (9, 9, {"unreadable_file": 1})
    assert stage.adds_up and stage.in_windows == 8 and stage.dead == {"unreadable_file": 1}
    first = table(spark, tmp_path, "landings", "rows").where("step = 1").collect()[0]
    assert (first["files"], first["rows"], first["dead"]) == (8, 8, 1)


def test_a_file_that_comes_alone_does_not_stop_the_stream(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    broken_gzip(tmp_path / "data" / "broken.json.gz")
    landing(spark, made).run()
    write(tmp_path, "1.json", good(1))
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1] and list(letters(spark, tmp_path)) == ["broken.json.gz"]


def test_a_file_that_is_being_written_lands_when_it_is_whole(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    path = tmp_path / "data" / "1.json.gz"
    broken_gzip(path)
    slept: list[float] = []

    def finish(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            path.write_bytes(gzip.compress(lines(good(1), good(2))))

    landing(spark, made, sleep=finish).run()
    assert slept == list(WAITS)
    assert alive(spark, tmp_path) == [1, 2] and not letters(spark, tmp_path)


def test_a_file_that_failed_stays_a_dead_letter(spark, tmp_path: Path) -> None:
    """Also with the checkpoint gone, when it could be read by then; a repaired file of another name lands."""
    made = pipeline(tmp_path)
    broken_gzip(tmp_path / "data" / "broken.json.gz")
    write(tmp_path, "1.json", good(1))
    landing(spark, made).run()
    shutil.rmtree(Lake.of(made.lake).checkpoint("rows"))
    landing(spark, made).run()
    (tmp_path / "data" / "broken.json.gz").write_bytes(gzip.compress(lines(good(2))))
    shutil.rmtree(Lake.of(made.lake).checkpoint("rows"))
    (tmp_path / "data" / "repaired.json.gz").write_bytes(gzip.compress(lines(good(3))))
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1, 3] and list(letters(spark, tmp_path)) == ["broken.json.gz"]


def test_a_parquet_file_that_is_not_whole(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, files={"path": str(tmp_path / "data"), "format": "parquet"})
    data = tmp_path / "data"
    data.mkdir()
    for v in (1, 2):
        pq.write_table(pa.table({"k": ["a"], "v": pa.array([v], pa.int64()), "at": [iso(v)]}), data / f"{v}.parquet")
    pq.write_table(pa.table({"k": ["a"], "v": ["text"], "at": [iso(3)]}), data / "other.parquet")
    whole = (data / "1.parquet").read_bytes()
    (data / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (data / "torn.parquet").write_bytes(b"PAR1" + b"\0" * 40 + whole[44:])
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1, 2]
    found = letters(spark, tmp_path)
    assert sorted(found) == ["cut.parquet", "other.parquet", "torn.parquet"]
    assert found["cut.parquet"].startswith("it is no whole Parquet file (")
    assert found["torn.parquet"].startswith("what it holds is broken (")
    assert found["other.parquet"].startswith("a column of it has another type than the schema (")


def test_a_csv_whose_compression_is_broken(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, files={"path": str(tmp_path / "data"), "format": "csv"})
    write(tmp_path, "1.csv", "k,v,at", f"a,1,{iso(1)}")
    (tmp_path / "data" / "2.csv.gz").write_bytes(b"no gzip at all")
    packed = zlib.compress(os.urandom(2000).hex().encode())
    (tmp_path / "data" / "3.csv.deflate").write_bytes(packed[:1000] + b"\xff" * 200 + packed[1200:])
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1]
    found = {name: why.split(" (")[0] for name, why in letters(spark, tmp_path).items()}
    assert found == dict.fromkeys(["2.csv.gz", "3.csv.deflate"], "its compression is broken")


def test_a_file_that_vanished(spark, tmp_path: Path, monkeypatch: Any) -> None:
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    write(tmp_path, "gone.json", good(2))
    one = landing(spark, made)
    before = one._land

    def vanish(batch: Any, number: int) -> None:
        (tmp_path / "data" / "gone.json").unlink(missing_ok=True)
        before(batch, number)

    monkeypatch.setattr(one, "_land", vanish)
    one.run()
    assert alive(spark, tmp_path) == [1]
    assert list(letters(spark, tmp_path)) == ["gone.json"]
    assert letters(spark, tmp_path)["gone.json"].startswith("it is not there any more (")


def test_names_that_spark_takes_for_patterns(spark, tmp_path: Path) -> None:
    """By itself Spark reads all files of a batch again for each name with a bracket."""
    made = pipeline(tmp_path)
    for v, name in enumerate(["a[1].json", "b{2}.json", "c?.json", "d*.json", "plain.json", "with space.json"]):
        write(tmp_path, name, good(v))
    broken_gzip(tmp_path / "data" / "e[3].json.gz")
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [0, 1, 2, 3, 4, 5]
    assert list(letters(spark, tmp_path)) == ["e%5B3%5D.json.gz"]


def test_files_beside_partition_folders(spark, tmp_path: Path) -> None:
    """By itself Spark leaves out the files beside folders like day=1, without a word."""
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    (tmp_path / "data" / "day=1").mkdir()
    (tmp_path / "data" / "day=1" / "2.json").write_bytes(lines(good(2)))
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1, 2] and not letters(spark, tmp_path)


def test_a_folder_and_a_link_to_nothing_among_the_files(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    data = tmp_path / "data"
    (data / "x.json").mkdir()
    (data / "day=2024-01-01").mkdir()
    (data / "others").mkdir()
    (data / "link.json").symlink_to(tmp_path / "nothing")
    landing(spark, made).run()
    write(tmp_path, "2.json", good(2))
    landing(spark, made).run()
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1, 2]
    assert letters(spark, tmp_path) == {
        "x.json": "it is a folder", "link.json": "it is a link to a file that is not there",
    }  # fmt: skip
    assert {row["_step"] for row in rows_of(spark, tmp_path)} == {1, 2}
    assert len([row for row in rows_of(spark, tmp_path) if row["_reason"]]) == 2


def test_an_unreadable_file_can_be_quarantined(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    broken_gzip(tmp_path / "data" / "broken.json.gz")
    run(made, spark, once=True)
    found = quarantine(made, spark, "rows", "broken.json.gz")
    assert (found.rows, found.step, found.start) == (1, 2, None)
    run(made, spark, once=True, drain=True)
    (source,), (stage,) = status(made, spark)
    assert source.dead == {"quarantined": 1} and stage.adds_up


def test_a_folder_that_is_empty_all_at_once_is_an_outage(spark, tmp_path: Path, monkeypatch: Any) -> None:
    """A disk that was unmounted: the files are good, and land when it is there again."""
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    write(tmp_path, "2.json", good(2))
    one, away = landing(spark, made), tmp_path / "away"
    before = one._land

    def unmount(batch: Any, number: int) -> None:
        if not away.exists():
            (tmp_path / "data").rename(away)
            (tmp_path / "data").mkdir()
        before(batch, number)

    monkeypatch.setattr(one, "_land", unmount)
    with pytest.raises(SourceUnavailable, match=r"source rows cannot be reached: nothing is left in the folder of"):
        one.run()
    (tmp_path / "data").rmdir()
    away.rename(tmp_path / "data")
    landing(spark, made).run()
    assert alive(spark, tmp_path) == [1, 2] and not letters(spark, tmp_path)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("java.net.ConnectException: refused", "cannot be reached"),
        ("java.io.IOException: No space left on device", "No space"),
        ("java.io.IOException: nobody knows", "nobody knows"),
    ],
)
def test_what_the_storage_or_the_machine_does_is_no_fault_of_a_file(
    said: str, words: str, monkeypatch: Any, tmp_path: Path
) -> None:
    failure = RuntimeError(words)
    failure.java_exception = Java(f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file a. {said}")  # type: ignore[attr-defined]

    def fails(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(unreadable, "read_again", fails)
    source = pipeline(tmp_path).sources[0]
    assert source.files is not None
    with pytest.raises(Exception, match=words):
        unreadable.sort_out(None, source, source.files, ["a", "b"], (), lambda seconds: None)  # type: ignore[arg-type]


def test_what_is_no_fault_of_a_file_is_raised(spark, tmp_path: Path, monkeypatch: Any) -> None:
    made = pipeline(tmp_path)
    write(tmp_path, "1.json", good(1))
    write(tmp_path, "2.json", good(2))
    one = landing(spark, made)
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "rows").write_text("a file where the tables should be")
    with pytest.raises(Exception, match="rows"):
        one.run()
