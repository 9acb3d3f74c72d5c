"""Files that are read in place: nothing is copied, and what comes out is what copies give."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.drivers.test_in_place import in_place
from tests.drivers.test_sources import pipeline, write
from tests.drivers.test_unreadable_files import WAITS, broken_gzip
from tests.lake import iso, table
from windrow.drivers.ingest.in_place.files import cached, origin
from windrow.drivers.ingest.in_place.files.origin import FilesOrigin
from windrow.drivers.ingest.in_place.landing import LandingInPlace
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.plan import plan
from windrow.drivers.inspect.status.status import status, status_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.reading.spark import SparkTables
from windrow.view.status import status_sections

FORMATS = ("json", "csv", "parquet")
DAY = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z")
Row = tuple[Any, Any, Any]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that cannot be read are tried again at once."""
    monkeypatch.setattr(origin, "WAITS", WAITS)


def over_files(root: Path, kind: str = "json", copy: bool = False, lake: str = "lake", **fields: Any) -> Pipeline:
    files = {"path": str(root / "data"), "format": kind, "copy": copy, "max_files_per_batch": 2}
    files |= fields.pop("files", {})
    document = pipeline(root, files=files, **fields).to_mapping()
    return Pipeline.from_mapping({**document, "lake": str(root / lake)})


def put(root: Path, name: str, kind: str, *rows: Row) -> None:
    """A file of rows (`k`, `v`, `at`), modified a second after the one before."""
    if kind == "json":
        write(root, f"{name}.json", *[{"k": k, "v": v, "at": at} for k, v, at in rows])
    elif kind == "csv":
        write(
            root, f"{name}.csv", "k,v,at", *[",".join("" if one is None else str(one) for one in row) for row in rows]
        )
    else:
        (root / "data").mkdir(exist_ok=True)
        columns = {name: [row[index] for row in rows] for index, name in enumerate(("k", "v", "at"))}
        schema = pa.schema([("k", pa.string()), ("v", pa.int64()), ("at", pa.string())])
        pq.write_table(pa.table(columns, schema), root / "data" / f"{name}.parquet")
    modified = 1_700_000_000 + len([*(root / "data").iterdir()])
    os.utime(root / "data" / f"{name}.{kind}", (modified, modified))


def number_cached(spark: Any) -> int:
    """How many frames Spark holds in memory for somebody."""
    return int(spark._jsparkSession.sharedState().cacheManager().numCachedEntries())


def shown(spark: Any, root: Path, lake: str = "lake", name: str = "sums/current") -> list[tuple[Any, ...]]:
    rows = spark.read.format("delta").load(f"{root}/{lake}/{name}").collect()
    return sorted((row["k"] or "", row["window_start"], row["num"], row["total"]) for row in rows)


def letters(spark: Any, root: Path, lake: str = "lake") -> list[tuple[Any, ...]]:
    """The dead letters of the source, and those of the stage."""
    found = []
    for name in ("rows", "sums"):
        rows = spark.read.format("delta").load(f"{root}/{lake}/{name}/dead_letters").collect()
        found += [(name, row["reason"], row["rule"], row["offset"], row["element"]) for row in rows]
    return sorted(found, key=str)


@pytest.mark.parametrize("kind", ["json", *(pytest.param(kind, marks=pytest.mark.long) for kind in FORMATS[1:])])
def test_a_stream_in_place_shows_what_one_with_copies_does(spark, tmp_path: Path, kind: str) -> None:
    bad = [("a", "many", iso(3)), ("a", 3, "never")] if kind != "parquet" else [("a", 3, "never")]
    for number in range(5):
        rows = [("abc"[index % 3], index, iso(number * 7 + index)) for index in range(9)]
        put(tmp_path, f"a b {number}", kind, *rows, *(bad if number == 3 else []))
    copied, placed = over_files(tmp_path, kind, copy=True, lake="copied"), over_files(tmp_path, kind)
    assert "read in place, so nothing is copied" in " ".join(plan(placed).split())
    for made in (copied, placed):
        run(made, spark, once=True)
    put(tmp_path, "late", kind, ("a", 100, iso(1)), ("a", 100, iso(1)), ("b", None, iso(90)))
    for made in (copied, placed):
        run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == shown(spark, tmp_path, "copied") != []
    assert letters(spark, tmp_path) == letters(spark, tmp_path, "copied")
    assert {reason for _, reason, *_ in letters(spark, tmp_path)} >= {"late", "bad_timestamp"}
    raw = DeltaTable(f"{tmp_path}/lake/rows/raw").to_pyarrow_table().to_pylist()
    assert not {"v", "k", "at"} & raw[0].keys() and not (tmp_path / "lake/_windrow/checkpoints").exists()
    (source,), (stage,) = status(placed)
    (other,), _ = status(copied)
    assert (source.batches, source.rows, source.files, source.dead) == (4, other.rows, 6, other.dead)
    assert stage.adds_up
    assert all(result.equal and result.windows > 0 for result in reconcile(placed, spark))
    rows_of = PipelineWork.open(placed, spark).raws["rows"].rows(spark, 0, 4)
    assert rows_of.count() == rows_of.select("_step", "_row").distinct().count() + (kind != "parquet")  # two are equal


BAD_W = ("a,1,x,{}", "a,y,1,{}", "a,1", "a,1,1,{},more")


@pytest.mark.parametrize("longest", [pytest.param(0, marks=pytest.mark.long), cached.LONGEST])
def test_a_row_is_unreadable_also_by_a_column_that_no_stage_uses(
    spark, tmp_path: Path, monkeypatch: Any, longest: int
) -> None:
    """A tick reads only what stages use; the verdict is over the whole row, whoever reads it and what for."""
    monkeypatch.setattr(cached, "LONGEST", longest)
    fields = {"schema": "k string, v long, w long, at string", "stage": {"aggregates": {"num": {"count": "*"}}}}
    for number, seconds in enumerate([(1, 2), (50,), (1, 60)]):  # the last file has late rows
        good = [f"a,1,,{iso(second)}" for second in seconds]
        write(tmp_path, f"{number}.csv", "k,v,w,at", *[line.format(iso(seconds[-1])) for line in BAD_W], *good)
        os.utime(tmp_path / f"data/{number}.csv", (1000 + number, 1000 + number))
    fields["files"] = {"max_files_per_batch": 1}
    copied = over_files(tmp_path, "csv", copy=True, lake="copied", **fields)
    placed = over_files(tmp_path, "csv", **fields)
    for made in (copied, placed):
        run(made, spark, once=True, drain=True)
    assert letters(spark, tmp_path) == letters(spark, tmp_path, "copied") != []
    assert [row["num"] for row in table(spark, tmp_path, "current").orderBy("window_start").collect()] == [2, 1, 1]
    assert all(result.equal and result.windows == 3 for result in reconcile(placed, spark))
    batch = over_files(tmp_path, "csv", lake="batch", **fields)
    (landing,) = PipelineWork.open(batch, spark).landings
    landing.run()
    (source,), (other,) = status(batch)[0], status(placed)[0]
    assert source.dead == other.dead == {"unreadable": 12}
    quarantine(placed, spark, "rows", "1.csv")
    (source,), _ = status(placed)
    assert source.dead == {"unreadable": 8, "quarantined": 5}


def test_files_are_read_as_they_were_when_they_landed(spark, tmp_path: Path) -> None:
    """Whatever the source says now: a column more, another order, no header, another format and folder."""
    for second in (1, 100, 200):
        put(tmp_path, str(second), "csv", ("a", 1, iso(second)))
        run(over_files(tmp_path, "csv"), spark, once=True)
    (tmp_path / "other").mkdir()
    other = {"files": {"path": str(tmp_path / "other"), "format": "csv", "header": False}}
    wider = over_files(tmp_path, schema="w long, at string, v long, k string", **other)
    for name, second in (("late", 2), ("new", 300)):
        (tmp_path / "other" / f"{name}.csv").write_text(f"5,{iso(second)},10,a\n")
        run(wider, spark, once=True)
    restate(wider, spark)
    run(wider, spark, once=True, drain=True)
    assert [total for *_, total in shown(spark, tmp_path)] == [11, 1, 1, 10]
    assert reconcile(wider, spark)[0].equal
    rows = PipelineWork.open(wider, spark).raws["rows"].rows(spark, 0, 5).orderBy("_step").collect()
    assert [(row["w"], row["v"]) for row in rows] == [(None, 1)] * 3 + [(5, 10)] * 2


def test_a_pattern_that_nothing_matches_yet(spark, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    made = over_files(tmp_path, "csv", files={"path": str(tmp_path / "data/*/*.csv")})
    run(made, spark, once=True)
    (tmp_path / "data/day").mkdir()
    put(tmp_path, "day/1", "csv", ("a", 1, iso(1)))
    run(made, spark, once=True, drain=True)
    assert [total for *_, total in shown(spark, tmp_path)] == [1]


def test_a_source_is_not_files_and_then_a_table(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", "csv", ("a", 1, iso(1)))
    run(over_files(tmp_path, "csv"), spark, once=True)
    with pytest.raises(SpecError, match=r"read in place, or files, and is the other now"):
        run(in_place(tmp_path), spark, once=True)


def test_a_file_that_vanishes_while_it_lands(spark, tmp_path: Path, monkeypatch: Any) -> None:
    for number in range(2):
        put(tmp_path, str(number), "csv", ("a", number, iso(1)))
    before, gone = origin.counted, []

    def vanishing(rows: Any) -> Any:
        found = before(rows)
        if not gone:
            gone.append(1)
            (tmp_path / "data/0.csv").unlink()
        return found

    monkeypatch.setattr(origin, "counted", vanishing)
    made = over_files(tmp_path, "csv")
    run(made, spark, once=True, drain=True)
    assert [total for *_, total in shown(spark, tmp_path)] == [1]
    assert [letter[:2] for letter in letters(spark, tmp_path)] == [("rows", "unreadable_file")]
    assert reconcile(made, spark)[0].equal


def test_a_file_that_changes_before_its_tick(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", "csv", ("a", 1, iso(1)))
    work = PipelineWork.open(over_files(tmp_path, "csv"), spark)
    work.landings[0].run()
    put(tmp_path, "1", "csv", ("a", 1000, iso(1)))
    with pytest.raises(SpecError, match="has changed since it landed"):
        work.raws["rows"].rows(work.spark, 0, 1)


@pytest.mark.parametrize(
    "longest", [*(pytest.param(length, marks=pytest.mark.long) for length in (0, 300)), cached.LONGEST]
)
def test_what_is_cached_or_not_changes_nothing(spark, tmp_path: Path, monkeypatch: Any, longest: int) -> None:
    monkeypatch.setattr(cached, "LONGEST", longest)
    rules = tmp_path / "rows.yaml"
    rules.write_text("- {expect: column_values_to_be_between, column: v, max_value: 20, row: true}\n")
    for number in range(4):
        put(tmp_path, str(number), "csv", *[("ab"[n % 2], n + number, iso(30 * number - 9 * n)) for n in range(9)])
    put(tmp_path, "4", "csv", ("a", 21, iso(100)), ("b", 20, iso(100)))
    made, before = over_files(tmp_path, "csv", quality=str(rules)), number_cached(spark)
    run(made, spark, once=True, drain=True)
    assert all(result.equal and result.windows > 0 for result in reconcile(made, spark))
    found = [(name, reason) for name, reason, *_ in letters(spark, tmp_path)]
    assert ("rows", "rejected") in found and ("sums", "late") in found
    assert number_cached(spark) == before


@pytest.mark.long
def test_a_backfill_over_many_steps_is_what_the_stream_shows(spark, tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path, f"{number}", "csv", *[("abc"[index % 3], index, iso(number * 7 + index)) for index in range(9)])
    stream, batch = over_files(tmp_path, "csv"), over_files(tmp_path, "csv", lake="other")
    run(stream, spark, once=True, drain=True)
    (landing,) = PipelineWork.open(batch, spark).landings
    landing.run()
    backfill(batch, spark, *DAY, whole=True)
    assert shown(spark, tmp_path) == shown(spark, tmp_path, "other") != []


@pytest.mark.long
def test_late_lines_that_are_equal_are_restated_together(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", "csv", ("a", 1, iso(1)))
    made = over_files(tmp_path, "csv", files={"max_files_per_batch": 1})
    for second in (100, 200):
        put(tmp_path, str(second), "csv", ("a", 2, iso(second)))
        run(made, spark, once=True)
    put(tmp_path, "late", "csv", ("a", 5, iso(2)), ("b", 6, iso(3)), ("b", 6, iso(3)))
    run(made, spark, once=True)
    assert table(spark, tmp_path, "dead_letters").where("reason = 'late'").count() == 3
    restate(made, spark)
    run(made, spark, once=True, drain=True)
    sums: dict[str, int] = {}
    for key, _, _, total in shown(spark, tmp_path):
        sums[key] = sums.get(key, 0) + total
    assert sums == {"a": 1 + 2 + 2 + 5, "b": 12}
    assert reconcile(made, spark)[0].late_rows == 0


def kept(made: Pipeline, spark: Any = None) -> list[str]:
    """What status says of rows that can be read again, with and without the JVM."""
    found = status(made) if spark is None else status_in(SparkTables(spark), made)
    return list(status_sections(*found)[0].to_mapping()["read again"])


@pytest.mark.long
def test_a_file_that_changes_or_goes_is_missed_only_where_it_is_read(spark, tmp_path: Path) -> None:
    made = over_files(tmp_path, "csv", files={"max_files_per_batch": 1})
    for number in range(3):
        put(tmp_path, f"a b 100% {number}", "csv", ("a", number, iso(number)))
        run(made, spark, once=True)
    assert kept(made) == kept(made, PipelineWork.open(made, spark).spark)
    assert kept(made)[0] == f"every row, from {tmp_path}/data"
    with (tmp_path / "data/a b 100% 1.csv").open("a") as file:
        file.write(f"a,50,{iso(1)}\n")
    with pytest.raises(
        SpecError, match=r"are read in place, and .*/a b 100% 1.csv, of landing step 2, has changed since"
    ):
        reconcile(made, spark)
    assert kept(made) == kept(made, PipelineWork.open(made, spark).spark)
    assert kept(made)[0].startswith("only from batch 3 on")
    put(tmp_path, "3", "csv", ("a", 3, iso(3)))
    run(made, spark, once=True, drain=True)
    assert [total for *_, total in shown(spark, tmp_path)] == [0 + 1 + 2 + 3]
    (tmp_path / "data/3.csv").unlink()
    with pytest.raises(SpecError, match=r"/3.csv, of landing step 4, is not there any more"):
        reconcile(made, spark)
    assert kept(made)[0].startswith("no row")


@pytest.mark.long
def test_a_file_that_cannot_be_read_is_one_dead_letter(spark, tmp_path: Path) -> None:
    put(tmp_path, "good", "json", ("a", 1, iso(1)))
    broken_gzip(tmp_path / "data" / "a broken one.json.gz")
    (tmp_path / "data" / "folder.json").mkdir()
    copied, placed = over_files(tmp_path, copy=True, lake="copied"), over_files(tmp_path)
    run(placed, spark, once=True)
    put(tmp_path, "other", "json", ("b", 2, iso(2)))
    run(placed, spark, once=True, drain=True)
    run(copied, spark, once=True, drain=True)
    assert letters(spark, tmp_path) == letters(spark, tmp_path, "copied")
    assert len(letters(spark, tmp_path)) == 2
    assert shown(spark, tmp_path) == shown(spark, tmp_path, "copied") != []
    assert reconcile(placed, spark)[0].equal
    done = quarantine(placed, spark, "rows", "a broken one.json.gz")
    assert done.rows == 1
    (source,), _ = status(placed)
    assert source.dead == {"unreadable_file": 1, "quarantined": 1}


def test_a_file_is_taken_out(spark, tmp_path: Path) -> None:
    for number in range(4):
        put(tmp_path, str(number), "csv", ("a", 10**number, iso(number)), ("b", 10**number, iso(number)))
    made = over_files(tmp_path, "csv")
    run(made, spark, once=True, drain=True)
    done = quarantine(made, spark, "rows", "2.csv")
    assert (done.rows, done.step) == (2, 3)
    backfill(made, spark, *DAY)
    assert [total for *_, total in shown(spark, tmp_path)] == [1011, 1011]
    assert reconcile(made, spark)[0].equal


def test_files_in_partition_folders_and_under_a_pattern(spark, tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / f"data/day={day}").mkdir(parents=True)
        put(tmp_path, f"day={day}/a+b [{day}] 100%", "csv", ("a", day, iso(day)))
    made = over_files(tmp_path, "csv", schema="k string, v long, at string, day int", stage={"keys": ["day"]})
    run(made, spark, once=True, drain=True)
    rows = table(spark, tmp_path, "current").collect()
    assert sorted((row["day"], row["total"]) for row in rows) == [(1, 1), (2, 2)]
    assert reconcile(made, spark)[0].equal
    pattern = over_files(tmp_path, "csv", lake="other", files={"path": str(tmp_path / "data/*/*.csv")})
    run(pattern, spark, once=True, drain=True)
    assert [total for *_, total in shown(spark, tmp_path, "other")] == [3]


@pytest.mark.long
def test_a_source_gains_a_column(spark, tmp_path: Path) -> None:
    for second in (1, 100, 200):
        write(tmp_path, f"{second}.json", {"k": "a", "v": 1, "at": iso(second)})
        run(over_files(tmp_path), spark, once=True)
    late = [{"k": "a", "v": 1, "at": iso(second), "w": 5} for second in (2, 2, 3)]
    write(tmp_path, "late.json", *late)
    run(over_files(tmp_path), spark, once=True)
    wider = over_files(tmp_path, schema="w long, k string, v long, at string")
    write(tmp_path, "wider.json", *late)
    run(wider, spark, once=True)
    restate(wider, spark)
    run(wider, spark, once=True, drain=True)
    assert sum(total for *_, total in shown(spark, tmp_path)) == 9
    assert reconcile(wider, spark)[0].late_rows == 0


def test_a_file_that_grows_while_it_lands_lands_as_it_is_then(spark, tmp_path: Path, monkeypatch: Any) -> None:
    put(tmp_path, "1", "csv", ("a", 1, iso(1)))
    made, grown = over_files(tmp_path, "csv"), [0]
    before = origin.counted

    def growing(rows: Any) -> Any:
        found = before(rows)
        if not grown[0]:
            grown[0] += 1
            with (tmp_path / "data/1.csv").open("a") as file:
                file.write(f"a,50,{iso(1)}\n")
            os.utime(tmp_path / "data/1.csv", (1, 1))
        return found

    monkeypatch.setattr(origin, "counted", growing)
    run(made, spark, once=True, drain=True)
    assert [(number, total) for *_, number, total in shown(spark, tmp_path)] == [(2, 51)]
    assert reconcile(made, spark)[0].equal


def test_a_lake_is_of_one_kind_also_of_files(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", "json", ("a", 1, iso(1)))
    run(over_files(tmp_path, copy=True), spark, once=True)
    with pytest.raises(SpecError, match=r"is read in place, and its rows were copied"):
        run(over_files(tmp_path), spark, once=True)
    run(over_files(tmp_path, lake="other"), spark, once=True)
    with pytest.raises(SpecError, match=r"is to be copied, and its rows were read in place"):
        run(over_files(tmp_path, lake="other", copy=True), spark, once=True)


@pytest.mark.long
def test_sessions_and_an_expression_that_fails_read_narrow_rows(spark, tmp_path: Path) -> None:
    """Late sessions are known by the cells only, and their dead letters hold the whole row."""
    window = {"sessions": {"gap": "10s"}}
    aggregates = {"num": {"count": "*"}, "total": {"sum": "100 div v"}}
    for number, seconds in enumerate([(1, 5, 30), (100, 101), (2, 33, 130)]):
        put(tmp_path, str(number), "csv", *[("a", 1 + second % 5, iso(second)) for second in seconds], ("b", 0, iso(1)))
    stage = {"window": window, "aggregates": aggregates}
    copied = over_files(tmp_path, "csv", copy=True, lake="copied", stage=stage, files={"max_files_per_batch": 1})
    placed = over_files(tmp_path, "csv", stage=stage, files={"max_files_per_batch": 1})
    for made in (copied, placed):
        run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == shown(spark, tmp_path, "copied") != []
    assert letters(spark, tmp_path) == letters(spark, tmp_path, "copied") != []
    assert json.loads(letters(spark, tmp_path)[0][-1])["k"] in ("a", "b")
    assert reconcile(placed, spark)[0].equal


def test_what_is_held_in_memory_is_bounded(spark, tmp_path: Path) -> None:
    kept_rows, before = cached.CachedRows(), number_cached(spark)
    for step in range(4):
        kept_rows.keep(step, spark.range(step), cached.LONGEST // 2)
    assert [kept_rows.rows(step) is not None for step in range(4)] == [False, False, True, True]
    assert number_cached(spark) == before + 2
    kept_rows.keep(4, spark.range(4), cached.LONGEST + 1)
    assert kept_rows.rows(4) is None and kept_rows.rows(3) is not None
    kept_rows.forget_all()
    assert number_cached(spark) == before


def test_a_landing_of_its_own_holds_nothing(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", "csv", ("a", 1, iso(1)))
    (landing,) = PipelineWork.open(over_files(tmp_path, "csv"), spark).landings
    assert isinstance(landing, LandingInPlace) and isinstance(landing.origin, FilesOrigin)
    landing.run()
    assert landing.origin._cached.rows(1) is None
    assert landing.start() is None
