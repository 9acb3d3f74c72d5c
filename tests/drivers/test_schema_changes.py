"""Schemas that change under a pipeline that runs: more columns, other names, wider types, columns that are lost."""

from __future__ import annotations

import csv
import json
import os
import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.lake import iso, table
from windrow.drivers.clock import clock_micros
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import Stream, run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import PANE_TYPES

DAY = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z")
SUMS = {"name": "sums", "keys": ["k"], "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}}}
COUNTS = {"name": "counts", "keys": ["k"], "aggregates": {"num": {"count": "*"}}}
STAGE = {"from": "rows", "window": {"fixed": {"size": "10s"}}, "accumulation": "retracting"}
ARROW = {"k": pa.string(), "v": pa.int32(), "amount": pa.int64(), "at": pa.string(), "moment": pa.string(),
         "gate": pa.string(), "w": pa.int32(), "x": pa.float64()}  # fmt: skip


def pipeline(root: Path, schema: str, *stages: Mapping[str, Any], lake: str = "lake", **source: Any) -> Pipeline:
    files = {"path": str(root / "data"), "max_files_per_batch": 1, **source.pop("files", {})}
    rows = {
        "name": "rows", "files": files, "schema": schema, "watermark": {"bounded_delay": "5s"},
        "event_time": {"column": "at", "format": "iso8601"}, **source,
    }  # fmt: skip
    named = [{**STAGE, **stage} for stage in stages or (SUMS,)]
    return Pipeline.from_mapping({"pipeline": "p", "lake": str(root / lake), "sources": [rows], "stages": named})


def put(root: Path, name: str, *rows: Mapping[str, Any], kind: str = "json", columns: Sequence[str] = ()) -> None:
    """A file of rows, modified a second after the one before; `columns` are those of its header, where it has one."""
    folder = root / "data"
    folder.mkdir(exist_ok=True)
    path, names = folder / f"{name}.{kind}", [*columns] or [*rows[0]]
    if kind == "json":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "csv":
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerows([names, *([row.get(column, "") for column in names] for row in rows)])
    else:
        made = {column: pa.array([row.get(column) for row in rows], ARROW[column]) for column in names}
        pq.write_table(pa.table(made), path)
    modified = 1_700_000_000 + len([*folder.iterdir()])
    os.utime(path, (modified, modified))


def results(spark: Any, root: Path, stage: str = "sums", lake: str = "lake") -> list[tuple[Any, ...]]:
    rows = spark.read.format("delta").load(f"{root}/{lake}/{stage}/current").collect()
    names = [name for name in rows[0].asDict() if name not in PANE_TYPES or name == "window_start"] if rows else []
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


def sums(spark: Any, root: Path, lake: str = "lake") -> list[tuple[Any, ...]]:
    rows = spark.read.format("delta").load(f"{root}/{lake}/sums/current").collect()
    return sorted((row["k"], row["num"], row["total"]) for row in rows)


def agrees(spark: Any, root: Path, made: Pipeline, stage: str = "sums") -> None:
    """The stream's tables are those of a batch in this lake, and those of a backfill of all files into an empty one."""
    assert all(one.equal for one in reconcile(made, spark))
    other = made.with_lake(str(root / "empty"))
    for landing in PipelineWork.open(other, spark).landings:
        landing.run()
    backfill(other, spark, *DAY, whole=True)
    assert results(spark, root, stage) == results(spark, root, stage, "empty") != []


def stream_of(made: Pipeline, spark: Any, **options: Any) -> Stream:
    stream = Stream(PipelineWork.open(made, spark, **options), clock_micros, None, threading.Event())
    stream.start()
    return stream


# ---------------------------------------------------------------- a stream that meets changed files

OLD = [{"k": "a", "v": 1, "at": iso(1), "gate": "A"}, {"k": "b", "v": 2, "at": iso(2), "gate": "B"}]
NEW = [
    {"w": 7, "moment": iso(3), "k": "a", "amount": 40},
    {"w": 8, "moment": iso(4), "k": "b", "amount": 3_000_000_000},
]
SCHEMA = "k string, v bigint, at string, gate string, w int"
GATES = {"name": "sums", "keys": ["k", "gate"], "aggregates": {
    "num": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "w"}}}  # fmt: skip


@pytest.mark.parametrize("copy", [True, False], ids=["copied", "in place"])
@pytest.mark.parametrize("kind", ["json", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("csv", "parquet"))])
def test_a_live_stream_goes_on_with_changed_files(spark, tmp_path: Path, kind: str, copy: bool) -> None:
    """A field gets a wider type and another name, one is new, one is gone, and all stand in another order."""
    made = pipeline(
        tmp_path, SCHEMA, GATES, rename={"amount": "v", "moment": "at"}, defaults={"gate": "none", "w": 0},
        files={"format": kind, "copy": copy},
    )  # fmt: skip
    put(tmp_path, "old", *OLD, kind=kind)
    stream = stream_of(made, spark)
    stream.cycle()
    put(tmp_path, "new", *NEW, kind=kind)
    stream.cycle()
    stream.drain()
    found = {(row[0], row[1]): row[-3:] for row in _by_gate(spark, tmp_path)}
    assert found == {
        ("a", "A"): (1, 1, 0), ("b", "B"): (1, 2, 0), ("a", "none"): (1, 40, 7), ("b", "none"): (1, 3_000_000_000, 8)
    }  # fmt: skip
    assert table(spark, tmp_path, "dead_letters", "rows").count() == 0
    agrees(spark, tmp_path, made)


def _by_gate(spark: Any, root: Path) -> list[tuple[Any, ...]]:
    rows = table(spark, root, "current").collect()
    return [(row["k"], row["gate"], row["num"], row["total"], row["most"]) for row in rows]


def test_a_field_under_two_names_counts_once_and_nothing_is_lost(spark, tmp_path: Path) -> None:
    """The column's own name counts first; what another one says beside it is kept as an unknown field."""
    put(tmp_path, "1", {"k": "a", "v": 1, "amount": 5, "at": iso(1)}, {"k": "a", "v": None, "amount": 7, "at": iso(2)},
        {"k": "a", "old": 9, "at": iso(3)}, {"k": "a", "amount": "many", "at": iso(4)})  # fmt: skip
    made = pipeline(tmp_path, "k string, v bigint, at string", rename={"amount": "v", "old": "v"})
    run(made, spark, once=True, drain=True)
    assert sums(spark, tmp_path) == [("a", 3, 17)]
    rows = {row["at"]: row for row in table(spark, tmp_path, "raw", "rows").collect()}
    assert json.loads(rows[iso(1)]["_rescued"]) == {"amount": 5} and rows[iso(2)]["_rescued"] is None
    (letter,) = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert letter["reason"] == "unreadable" and "many" in letter["element"]


def test_a_csv_file_is_read_by_its_header(spark, tmp_path: Path) -> None:
    """Columns in another order, more and fewer of them; a file whose header has none is no file of this source."""
    schema = "k string, v bigint, at string, gate string"
    made = pipeline(tmp_path, schema, files={"format": "csv", "max_files_per_batch": 10})
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1), "gate": "A"}, kind="csv")
    put(tmp_path, "2", {"at": iso(2), "colour": "red", "k": "a", "V": 10}, kind="csv")
    put(tmp_path, "3", {"at": iso(3), "k": "a"}, kind="csv")
    put(tmp_path, "4", {"one": "a", "two": 5}, kind="csv")
    (tmp_path / "data" / "5.csv").write_text(f"k,v,at\na,100,{iso(4)},too many\na,1000,{iso(5)}\n")
    stream = stream_of(made, spark)
    stream.work.landings[0].faults.waits = ()  # type: ignore[union-attr]
    stream.cycle()
    stream.drain()
    assert sums(spark, tmp_path) == [("a", 4, 1011)]
    letters = {row["reason"]: row["element"] for row in table(spark, tmp_path, "dead_letters", "rows").collect()}
    assert letters["unreadable_file"] == "its header names no column of the schema (one, two)"
    assert "too many" in letters["unreadable"]


@pytest.mark.parametrize("copy", [True, False], ids=["copied", "in place"])
def test_values_are_between_what_the_source_says(spark, tmp_path: Path, copy: bool) -> None:
    """By a header in another order, and as they landed whatever the source says since."""
    files = {"format": "csv", "separator": ";", "copy": copy}
    made = pipeline(tmp_path, "k string, v bigint, at string, gate string", files=files)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "1.csv").write_text(f'at;v;k;gate\n{iso(1)};1;"a;b";A,B\n{iso(2)};10;"a;b"\n')
    (tmp_path / "data" / "2.csv").write_text(f"k;v;at;gate\na,b;100;{iso(3)};A\na,b;1000;{iso(4)}\n")
    run(made, spark, once=True, drain=True)
    assert sums(spark, tmp_path) == [("a,b", 1, 100), ("a;b", 1, 1)]
    letters = [row["reason"] for row in table(spark, tmp_path, "dead_letters", "rows").collect()]
    assert letters == ["unreadable"] * 2, "they have too few values"
    other = pipeline(tmp_path, "k string, v bigint, at string, gate string", files={**files, "separator": "|"})
    assert reconcile(other, spark)[0].equal


@pytest.mark.parametrize("copy", [True, False], ids=["copied", "in place"])
def test_quotes_within_quotes_are_written_twice(spark, tmp_path: Path, copy: bool) -> None:
    """As RFC 4180 has it, and Python's writer; a backslash is a letter like others."""
    made = pipeline(tmp_path, "k string, v bigint, at string, gate string", files={"format": "csv", "copy": copy})
    keys = ['say "hi"', 'a ", b', '"', "C:\\data\\", "a \\ b"]
    (tmp_path / "data").mkdir()
    with (tmp_path / "data" / "1.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["k", "v", "at", "gate"])
        rows.writerows([key, 10**number, iso(number), "A"] for number, key in enumerate(keys))
    run(made, spark, once=True, drain=True)
    assert sums(spark, tmp_path) == sorted((key, 1, 10**number) for number, key in enumerate(keys))
    assert reconcile(made, spark)[0].equal


# ---------------------------------------------------------------- a pipeline file that changes


def test_a_wider_type_needs_a_new_generation_of_the_stages_that_use_the_column(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1), "gate": "A"})
    before = pipeline(tmp_path, "k string, v int, at string, gate string", SUMS, COUNTS)
    run(before, spark, once=True)
    put(tmp_path, "2", {"k": "a", "v": 3_000_000_000, "at": iso(2)})
    after = pipeline(tmp_path, "k string, v bigint, at string", SUMS, COUNTS)
    words = r'stages.sums means something else.*got "reads.v: int -> bigint". Hint:.*--from-start: a new generation'
    with pytest.raises(SpecError, match=words):
        run(after, spark, once=True)
    run(pipeline(tmp_path, "k string, v bigint, at string", COUNTS), spark, once=True)
    assert _generations(spark, tmp_path) == {("counts", 1), ("sums", 1)}
    run(after, spark, once=True, drain=True, from_start=True)
    assert sums(spark, tmp_path) == [("a", 2, 3_000_000_001)]
    agrees(spark, tmp_path, after)
    raw = DeltaTable(str(tmp_path / "lake/rows/raw"))
    arrow = raw.to_pyarrow_table()
    assert {(row["v"], row["v__bigint"]) for row in arrow.to_pylist()} == {(1, None), (None, 3_000_000_000)}
    assert raw.protocol().min_reader_version == 1, "every reader of Delta reads it"
    assert polars.read_delta(str(tmp_path / "lake/rows/raw"))["v__bigint"].to_list().count(3_000_000_000) == 1
    assert duckdb.sql("SELECT sum(coalesce(v__bigint, v)) FROM arrow").fetchall() == [(3_000_000_001,)]
    with pytest.raises(SpecError, match=r'rows.schema.v has landed as bigint; got "int". Hint: keep its type, or wid'):
        run(before, spark, once=True)


def _generations(spark: Any, root: Path) -> set[tuple[str, int]]:
    rows = spark.read.format("delta").load(f"{root}/lake/_windrow/generations").collect()
    return {(row["stage"], row["generation"]) for row in rows}


@pytest.mark.parametrize("copy", [True, pytest.param(False, marks=pytest.mark.long)], ids=["copied", "in place"])
def test_rows_that_were_late_are_the_same_rows_under_a_wider_schema(spark, tmp_path: Path, copy: bool) -> None:
    """They are known by their numbers, whatever their columns are by now: restated, each counts once."""
    files = {"copy": copy}
    before = pipeline(tmp_path, "k string, v int, at string, gate string, old int", COUNTS, files=files)
    for number, second in enumerate((1, 100, 200)):
        put(tmp_path, str(number), {"k": "a", "v": 1, "at": iso(second), "gate": "A", "old": 1})
        run(before, spark, once=True)
    put(tmp_path, "late", *[{"k": "a", "v": v, "at": iso(2), "gate": "A", "old": 4} for v in (1, 2, 2)])
    run(before, spark, once=True)
    assert table(spark, tmp_path, "dead_letters", "counts").count() == 3
    after = pipeline(tmp_path, "w int, k string, v bigint, at string, new int", COUNTS, files=files,
                     rename={"old": "new"})  # fmt: skip
    put(tmp_path, "more", {"k": "a", "v": 3_000_000_000, "at": iso(201), "new": 5, "w": 1})
    run(after, spark, once=True)
    restate(after, spark)
    run(after, spark, once=True, drain=True)
    assert sum(row["num"] for row in table(spark, tmp_path, "current", "counts").collect()) == 7
    assert all(one.equal and one.late_rows == 0 for one in reconcile(after, spark))


@pytest.mark.parametrize("kind", ["json", pytest.param("parquet", marks=pytest.mark.long)])
@pytest.mark.parametrize("copy", [True, False], ids=["copied", "in place"])
def test_a_column_of_the_pipeline_gets_another_name(spark, tmp_path: Path, kind: str, copy: bool) -> None:
    files = {"format": kind, "copy": copy}
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)}, kind=kind)
    run(pipeline(tmp_path, "k string, v int, at string", files=files), spark, once=True)
    put(tmp_path, "2", {"k": "a", "amount": 40, "at": iso(2)}, kind=kind)
    put(tmp_path, "3", {"k": "a", "v": 500, "at": iso(3)}, kind=kind)
    named = {**SUMS, "aggregates": {"num": {"count": "*"}, "total": {"sum": "amount"}}}
    after = pipeline(tmp_path, "k string, amount bigint, at string", named, files=files, rename={"v": "amount"})
    with pytest.raises(SpecError, match=r"stages.sums means something else.*reads.amount: v -> amount"):
        run(after, spark, once=True)
    run(after, spark, once=True, drain=True, from_start=True)
    assert sums(spark, tmp_path) == [("a", 3, 541)]
    agrees(spark, tmp_path, after)


TYPES = {
    "smallint": ("tinyint", 7, 300), "bigint": ("int", 2**31 - 1, 2**40), "double": ("int", 2**31 - 1, 0.5),
    "decimal(12,2)": ("int", 5, "2.25"), "decimal(14,4)": ("decimal(10,2)", "0.07", "99.0001"),
}  # fmt: skip


def test_every_wider_type_reads_what_has_landed_as_it_was(spark, tmp_path: Path) -> None:
    names = [f"c{index}" for index in range(len(TYPES))]
    numbers = dict(zip(names, TYPES.values(), strict=True))
    others = {"f": ("float", 0.1, 1e300), "d": ("date", "2024-02-29", "2024-03-01T12:00:00Z")}
    before = ", ".join(f"{name} {kind}" for name, (kind, *_) in {**numbers, **others}.items())
    widest = {
        **{name: {"max": name} for name in (*names, "f", "d")},
        **{f"{name}_least": {"min": name} for name in names},
    }
    stage = {**SUMS, "aggregates": widest}
    row, wide = ({name: one[index] for name, one in {**numbers, **others}.items()} for index in (1, 2))
    put(tmp_path, "1", {"k": "a", "at": iso(1), **row})
    run(pipeline(tmp_path, f"k string, at string, {before}", stage), spark, once=True)
    put(tmp_path, "2", {"k": "a", "at": iso(2), **wide})
    wider = ", ".join(f"{name} {kind}" for name, kind in zip(names, TYPES, strict=True))
    after = pipeline(tmp_path, f"k string, at string, {wider}, f double, d timestamp", stage)
    run(after, spark, once=True, drain=True, from_start=True)
    (found,) = table(spark, tmp_path, "current").collect()
    assert [found[name] for name in names] == [300, 2**40, 2.0**31 - 1, Decimal("5.00"), Decimal("99.0001")]
    assert [found[f"{name}_least"] for name in names] == [7, 2**31 - 1, 0.5, Decimal("2.25"), Decimal("0.0700")]
    assert found["f"] == 1e300 and found["d"].isoformat() == "2024-03-01T12:00:00"
    assert all(one.equal for one in reconcile(after, spark))


def test_a_run_of_the_old_schema_ends_where_another_one_lands_under_the_new(spark, tmp_path: Path) -> None:
    """It would read nothing where the other has written; nothing of it is shown."""
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)})
    old = stream_of(pipeline(tmp_path, "k string, v int, at string", COUNTS, SUMS), spark)
    old.cycle()
    put(tmp_path, "2", {"k": "a", "v": 2, "at": iso(2)})
    run(pipeline(tmp_path, "k string, v bigint, at string", COUNTS), spark, once=True)
    put(tmp_path, "3", {"k": "a", "v": 3, "at": iso(3)})
    with pytest.raises(SpecError, match=r"rows.schema.v has another type or name in landing step 2, which another run"):
        old.cycle()
    assert table(spark, tmp_path, "ticks").count() == 1


@pytest.mark.parametrize("copy", [True, pytest.param(False, marks=pytest.mark.long)], ids=["copied", "in place"])
def test_a_run_ends_that_would_land_rows_without_a_column(spark, tmp_path: Path, copy: bool) -> None:
    """Each row lands once: what it says of a column that another run knows would be lost."""
    files, schema = {"copy": copy}, "k string, v int, at string"
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)})
    old = stream_of(pipeline(tmp_path, schema, SUMS, files=files), spark)
    old.cycle()
    put(tmp_path, "2", {"k": "a", "v": 2, "at": iso(2), "w": 5})
    wider = pipeline(tmp_path, f"{schema}, w int", COUNTS, files=files)
    run(wider, spark, once=True)
    put(tmp_path, "3", {"k": "a", "v": 3, "at": iso(3), "w": 6})
    with pytest.raises(SpecError, match=r"rows.schema.w is a column in landing step 2.*Hint: name it in this file too"):
        old.cycle()
    widest = {**SUMS, "name": "widest", "aggregates": {"most": {"sum": "w"}}}
    run(pipeline(tmp_path, f"{schema}, w int", SUMS, widest, files=files), spark, once=True, drain=True)
    assert sums(spark, tmp_path) == [("a", 3, 6)]
    assert [row["most"] for row in table(spark, tmp_path, "current", "widest").collect()] == [11]


def test_a_pipeline_that_is_refused_leaves_nothing_behind(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)})
    schema = "k string, v int, at string"
    run(pipeline(tmp_path, schema, COUNTS, SUMS), spark, once=True)
    wrong = {**SUMS, "where": "length(k)"}
    with pytest.raises(SpecError, match=r"stages.sums.where must be a condition"):
        run(pipeline(tmp_path, schema, COUNTS, wrong), spark, once=True, from_start=True)
    assert _generations(spark, tmp_path) == {("counts", 1), ("sums", 1)}
    run(pipeline(tmp_path, schema, COUNTS, SUMS), spark, once=True, drain=True)
    assert sums(spark, tmp_path) == [("a", 1, 1)]
