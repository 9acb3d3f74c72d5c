"""Sources over time: fields that nobody named, schemas that gain columns, and Delta tables."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lake import iso, table
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.inspect.plan import plan
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake

STAGE = {"name": "sums", "keys": ["k"], "window": {"fixed": {"size": "10s"}}, "accumulation": "retracting"}
COUNTS = {"num": {"count": "*"}, "total": {"sum": "v"}}


def pipeline(root: Path, stage: dict[str, Any] | None = None, **source: Any) -> Pipeline:
    fields = {
        "name": "rows", "files": {"path": str(root / "data")}, "schema": "k string, v long, at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "5s"}, **source,
    }  # fmt: skip
    stages = [{**STAGE, "aggregates": COUNTS, **(stage or {})}]
    return Pipeline.from_mapping(
        {"pipeline": "tests", "lake": str(root / "lake"), "sources": [fields], "stages": stages}
    )


def write(root: Path, name: str, *lines: Any) -> None:
    (root / "data").mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (root / "data" / name).write_text("\n".join(texts) + "\n")


def raw(spark: Any, root: Path) -> list[Any]:
    return sorted(table(spark, root, "raw", "rows").collect(), key=lambda row: (row["at"] or "", row["_raw"] or ""))


def test_fields_that_the_schema_does_not_name_are_kept_as_json(spark, tmp_path: Path) -> None:
    write(
        tmp_path, "1.json",
        {"k": "a", "v": 1, "at": iso(1)}, "", "  ",
        {"k": "a", "v": 2, "at": iso(2), "n": 1, "o": {"p": [1.5, "x"]}, "K": None, "colour": "red"},
        {"k": "a", "v": "many", "at": iso(3), "n": 1}, "{", "null", "[]",
    )  # fmt: skip
    made = pipeline(tmp_path, {"keys": [{"colour": "get_json_object(_rescued, '$.colour')"}]})
    run(made, spark, once=True, drain=True)
    rows = raw(spark, tmp_path)
    assert [row["_reason"] for row in rows] == ["unreadable"] * 3 + [None, None, "unreadable"]
    assert [row["_raw"] for row in rows[:3]] == ["[]", "null", "{"]
    assert rows[3]["_rescued"] is None
    assert json.loads(rows[4]["_rescued"]) == {"n": 1, "o": {"p": [1.5, "x"]}, "K": None, "colour": "red"}
    shown = {(row["colour"], row["total"]) for row in table(spark, tmp_path, "current").collect()}
    assert shown == {(None, 1), ("red", 2)}


def test_a_row_with_an_unknown_field_can_be_rejected(spark, tmp_path: Path) -> None:
    write(tmp_path, "1.json", {"k": "a", "v": 1, "at": iso(1)}, {"k": "a", "v": 2, "at": iso(2), "n": [1]})
    run(pipeline(tmp_path, unknown="reject"), spark, once=True, drain=True)
    (letter,) = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert letter["reason"] == "rejected" and json.loads(json.loads(letter["element"])["_rescued"]) == {"n": [1]}
    assert [row["total"] for row in table(spark, tmp_path, "current").collect()] == [1]


@pytest.mark.long
def test_dead_letters_of_a_stage_have_the_rescued_fields(spark, tmp_path: Path) -> None:
    write(tmp_path, "1.json", {"k": "a", "v": 0, "at": iso(1), "n": 1})
    run(pipeline(tmp_path, {"where": "1 / v > 0"}), spark, once=True)
    (letter,) = table(spark, tmp_path, "dead_letters").collect()
    assert json.loads(letter["element"]) == {"k": "a", "v": 0, "at": iso(1), "_rescued": '{"n":1}'}


def test_a_schema_gains_a_column(spark, tmp_path: Path) -> None:
    """The rows that had landed are not landed again, and have a null in it, wherever they are read from."""
    write(tmp_path, "1.json", {"k": "a", "v": 1, "at": iso(1), "w": 7})
    run(pipeline(tmp_path), spark, once=True)
    wider = pipeline(tmp_path, schema="w long, k string, v long, at string")
    assert "its source gains w bigint" in plan(wider)
    write(tmp_path, "2.json", {"k": "a", "v": 2, "at": iso(2), "w": 8})
    second = {**STAGE, "name": "widths", "aggregates": {"widest": {"max": "w"}, "num": {"count": "w"}}}
    both = Pipeline.from_mapping({**wider.to_mapping(), "stages": [*wider.to_mapping()["stages"], second]})
    run(both, spark, once=True, drain=True)
    assert [(row["v"], row["w"]) for row in raw(spark, tmp_path)] == [(1, None), (2, 8)]
    (sums,) = table(spark, tmp_path, "current").collect()
    (widths,) = table(spark, tmp_path, "current", "widths").collect()
    assert (sums["total"], widths["widest"], widths["num"]) == (3, 8, 1)
    assert all(result.equal for result in reconcile(both, spark))
    assert "its source gains" not in plan(both)


@pytest.mark.long
def test_a_new_stage_reads_a_column_that_no_row_has_landed_with(spark, tmp_path: Path) -> None:
    write(tmp_path, "1.json", {"k": "a", "v": 1, "at": iso(1), "w": 7})
    run(pipeline(tmp_path), spark, once=True)
    wider = pipeline(tmp_path, {"name": "widths", "aggregates": {"num": {"count": "w"}}}, schema="k string, v long, at "
                     "string, w struct<a: int>")  # fmt: skip
    run(wider, spark, once=True, drain=True)
    assert [row["num"] for row in table(spark, tmp_path, "current", "widths").collect()] == [0]


def test_a_column_of_another_type_is_refused(spark, tmp_path: Path) -> None:
    write(tmp_path, "1.json", {"k": "a", "v": 1, "at": iso(1)})
    run(pipeline(tmp_path), spark, once=True)
    other = pipeline(tmp_path, {"name": "fresh"}, schema="k string, v double, at string")
    with pytest.raises(SpecError, match=r'rows.schema.v has landed as bigint; got "double". Hint: keep its type'):
        run(other, spark, once=True)


# ---------------------------------------------------------------- Delta tables


def append(spark: Any, root: Path, *rows: tuple[Any, ...]) -> None:
    frame = spark.createDataFrame(list(rows), "v long, k string, at string, more int")
    frame.coalesce(1).write.format("delta").mode("append").save(str(root / "table"))


def over_delta(root: Path, **fields: Any) -> Pipeline:
    """Its rows are copied; `test_in_place.py` has those that are not."""
    document = pipeline(root, **fields).to_mapping()
    del document["sources"][0]["files"]
    document["sources"][0]["delta"] = {"path": str(root / "table"), "max_files_per_batch": 1, "copy": True}
    return Pipeline.from_mapping(document)


@pytest.mark.long
def test_a_delta_table_is_read_once_also_behind_a_lost_checkpoint_and_a_compaction(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    append(spark, tmp_path, (2, "b", iso(2), 0))
    made = over_delta(tmp_path)
    run(made, spark, once=True)
    append(spark, tmp_path, (3, "a", iso(3), 0))
    run(made, spark, once=True)
    for rows in ((), ((4, "a", iso(4), 0),), ((5, "b", iso(30), 0),)):
        shutil.rmtree(tmp_path / "lake" / "_windrow" / "checkpoints")
        spark.sql(f"OPTIMIZE delta.`{tmp_path}/table`")
        if rows:
            append(spark, tmp_path, *rows)
        run(made, spark, once=True)
    assert [row["v"] for row in raw(spark, tmp_path)] == [1, 2, 3, 4, 5]
    (source,), _ = status(made, spark)
    assert source.files == 5 and source.dead == {}
    (result,) = reconcile(made, spark)
    assert result.equal and result.windows > 0


@pytest.mark.long
def test_rows_that_are_taken_out_of_a_delta_table_are_an_error(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0), (2, "b", iso(2), 0))
    landing = Landing(spark, over_delta(tmp_path).sources[0], Lake.of(str(tmp_path / "lake")))
    landing.run()
    for statement in ("UPDATE delta.`{}` SET v = 3 WHERE v = 1", "DELETE FROM delta.`{}` WHERE v = 2"):
        spark.sql(statement.format(tmp_path / "table"))
        with pytest.raises(SpecError, match=r"sources.rows.delta is a table that is only appended to, and rows of it"):
            landing.run()


def over_feed(root: Path, **fields: Any) -> Pipeline:
    document = over_delta(root, **fields).to_mapping()
    document["sources"][0]["delta"]["changes"] = "feed"
    return Pipeline.from_mapping(document)


def test_every_change_of_a_delta_table_is_read_once(spark, tmp_path: Path) -> None:
    """Updates, deletes and merges, also behind a lost checkpoint and a compaction: what is shown is what is there."""
    append(spark, tmp_path, *[(number, "abc"[number % 3], iso(number), 0) for number in range(9)])
    here = f"delta.`{tmp_path}/table`"
    spark.sql(f"ALTER TABLE {here} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    made = over_feed(tmp_path, stage={"trigger": {"repeat": {"after_count": 1}}})
    run(made, spark, once=True)
    corrections = spark.createDataFrame([(40, "a", iso(3)), (41, "d", iso(4))], "v long, k string, at string")
    corrections.createOrReplaceTempView("corrections")
    spark.sql(f"UPDATE {here} SET v = v + 100 WHERE v < 3")
    spark.sql(f"DELETE FROM {here} WHERE k = 'c'")
    run(made, spark, once=True)
    shutil.rmtree(tmp_path / "lake" / "_windrow" / "checkpoints")
    spark.sql(
        f"MERGE INTO {here} t USING corrections c ON t.k = c.k AND t.at = c.at WHEN MATCHED THEN UPDATE SET v = c.v "
        "WHEN NOT MATCHED THEN INSERT (v, k, at, more) VALUES (c.v, c.k, c.at, 1)"
    )
    spark.sql(f"OPTIMIZE {here}")
    run(made, spark, once=True, drain=True)
    expected = {(row["k"], row["num"], row["total"]) for row in
                spark.sql(f"SELECT k, count(*) num, sum(v) total FROM {here} GROUP BY k").collect()}  # fmt: skip
    assert {(row["k"], row["num"], row["total"]) for row in table(spark, tmp_path, "current").collect()} == expected
    assert {row["k"] for row in table(spark, tmp_path, "panes").where("change = 'delete'").collect()} == {"c"}
    left = (
        table(spark, tmp_path, "raw", "rows")
        .groupBy("k", "v", "at")
        .agg({"_weight": "sum"})
        .where("`sum(_weight)` <> 0")
    )
    assert left.count() == spark.sql(f"SELECT * FROM {here}").count()
    assert all(result.equal for result in reconcile(made, spark))


@pytest.mark.long
def test_changes_that_no_feed_has_recorded_are_an_error(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    here = f"delta.`{tmp_path}/table`"
    feed = Landing(spark, over_feed(tmp_path).sources[0], Lake.of(str(tmp_path / "lake")))
    with pytest.raises(SpecError, match=r"delta.changes needs a table that keeps a change data feed"):
        feed.run()
    spark.sql(f"ALTER TABLE {here} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    feed.run()
    for value in ("false", "true"):
        spark.sql(f"UPDATE {here} SET v = v + 1")
        spark.sql(f"ALTER TABLE {here} SET TBLPROPERTIES (delta.enableChangeDataFeed = {value})")
        spark.sql(f"UPDATE {here} SET v = v + 1")
    with pytest.raises(SpecError, match=r"rows.delta has changes that its change data feed did not record"):
        feed.run()


def test_a_delta_table_must_have_the_columns(spark, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"rows.delta.path is no Delta table"):
        run(over_delta(tmp_path), spark, once=True)
    append(spark, tmp_path, (1, "a", iso(1), 0))
    for schema, message in (("z int", "schema.z is no column of the table"), ("v int", "there it is bigint")):
        with pytest.raises(SpecError, match=message):
            wrong = over_delta(
                tmp_path, schema=f"{schema}, k string, at string", stage={"aggregates": {"n": {"count": "*"}}}
            )
            Landing(spark, wrong.sources[0], Lake.of(str(tmp_path / "lake"))).run()


def test_numbers_that_count_up(spark, tmp_path: Path) -> None:
    fields = {"schema": "timestamp timestamp, value bigint", "event_time": {"column": "timestamp"}}
    document = pipeline(tmp_path, {"keys": [], "aggregates": {"total": {"sum": "value"}}}, files=None, **fields,
                        rate={"rows_per_second": 3})  # fmt: skip
    run(document, spark, once=True)
    time.sleep(2)
    run(document, spark, once=True)
    time.sleep(1)
    run(document, spark, once=True, drain=True)
    values = sorted(row["value"] for row in table(spark, tmp_path, "raw", "rows").collect())
    assert values and values == list(range(len(values)))
    assert sum(row["total"] for row in table(spark, tmp_path, "current").collect()) == sum(values)
