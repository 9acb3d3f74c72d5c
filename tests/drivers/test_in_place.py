"""A Delta table that is read in place: nothing is copied, and what comes out is what is in the table."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from tests.drivers.test_sources import append, over_delta, table
from tests.lake import iso
from windrow.drivers.ingest.in_place.delta import origin
from windrow.drivers.ingest.in_place.landing import LandingInPlace
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.plan import plan
from windrow.drivers.inspect.status.status import status, status_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.collect_statistics import known_statistics
from windrow.engine.tick.micro_batch import statistics_of
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.inputs import ONLY
from windrow.store.reading.spark import SparkTables
from windrow.store.upstream.offsets import START, Offsets
from windrow.view.status import status_sections

FLAGS = ("false", "true")
DAY = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z")


def in_place(root: Path, lake: str = "lake", files: int = 2, changes: str = "append", **fields: Any) -> Pipeline:
    """The pipeline of `over_delta`, in place."""
    document = over_delta(root, **fields).to_mapping()
    document["sources"][0]["delta"] = {
        "path": str(root / "table"), "max_files_per_batch": files, "changes": changes,
    }  # fmt: skip
    return Pipeline.from_mapping({**document, "lake": str(root / lake)})


def here(root: Path) -> str:
    return f"delta.`{root}/table`"


def current(spark: Any, root: Path, lake: str = "lake") -> list[tuple[Any, ...]]:
    rows = spark.read.format("delta").load(f"{root}/{lake}/sums/current").collect()
    return sorted((row["k"], row["window_start"], row["num"], row["total"]) for row in rows)


def of_table(spark: Any, root: Path) -> dict[str, tuple[int, int]]:
    """By key, how many rows the table holds, and their sum."""
    rows = spark.sql(f"SELECT k, count(*) n, sum(v) v FROM {here(root)} GROUP BY k").collect()
    return {row["k"]: (row["n"], row["v"]) for row in rows}


def shown(spark: Any, root: Path) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for key, _, number, total in current(spark, root):
        before = found.get(key, (0, 0))
        found[key] = before[0] + number, before[1] + total
    return found


def landing_of(work: PipelineWork) -> LandingInPlace:
    (landing,) = work.landings
    assert isinstance(landing, LandingInPlace)
    return landing


def test_what_is_appended_is_read_once_and_nothing_is_copied(spark, tmp_path: Path) -> None:
    for number in range(3):
        append(spark, tmp_path, (number, "ab"[number % 2], iso(number), 0), (10, "a", iso(number + 4), 0))
    made = in_place(tmp_path)
    assert "read in place, so nothing is copied" in " ".join(plan(made).split())
    run(made, spark, once=True)
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    for number in range(3, 5):
        append(spark, tmp_path, (number, "a", iso(number), 0))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path)
    raw = DeltaTable(f"{tmp_path}/lake/rows/raw").to_pyarrow_table().to_pylist()
    assert sorted(row["version"] for row in raw if row["_kind"] == "part") == [2, 2, 2, 4, 5]
    assert not {"v", "k", "at"} & raw[0].keys()
    landings = DeltaTable(f"{tmp_path}/lake/rows/landings").to_pyarrow_table().to_pylist()
    counted = sorted((row["step"], row["files"], row["rows"], row["dead"]) for row in landings)
    assert counted == [(1, 2, 4, 0), (2, 1, 2, 0), (3, 2, 2, 0)]
    (source,), (stage,) = status(made)
    assert (source.batches, source.rows, source.files, source.dead) == (3, 8, 5, {})
    assert stage.adds_up and stage.read == 8
    assert not (tmp_path / "lake/_windrow/checkpoints").exists()


def test_a_stream_and_a_backfill_over_one_table_are_equal(spark, tmp_path: Path) -> None:
    for number in range(4):
        append(spark, tmp_path, *[(index, "abc"[index % 3], iso(number * 7 + index), 0) for index in range(9)])
    stream, batch = in_place(tmp_path), in_place(tmp_path, lake="other", files=100)
    run(stream, spark, once=True, drain=True)
    landing_of(PipelineWork.open(batch, spark)).run()
    backfill(batch, spark, *DAY, whole=True)
    assert current(spark, tmp_path) == current(spark, tmp_path, "other") != []
    assert all(result.equal and result.windows > 0 for result in reconcile(stream, spark))
    append(spark, tmp_path, (5, "a", "2024-01-02T00:00:05Z", 0))
    run(batch, spark, once=True, drain=True)  # a stream that opens behind the batch
    assert len(current(spark, tmp_path, "other")) == len(current(spark, tmp_path)) + 1
    assert all(result.equal for result in reconcile(batch, spark))


@pytest.mark.parametrize(
    "mapping, vectors", [("name", "true"), *(pytest.param("none", one, marks=pytest.mark.long) for one in FLAGS)]
)
def test_partitions_column_mapping_and_deletion_vectors(spark, tmp_path: Path, mapping: str, vectors: str) -> None:
    """Names and values as people have them, and rows that were deleted before the table was read."""
    blank = " " if mapping == "name" else "_"
    features = f"'delta.columnMapping.mode' = '{mapping}', 'delta.enableDeletionVectors' = '{vectors}'"
    spark.sql(
        f"CREATE TABLE {here(tmp_path)} (v long, k string, at string, `große{blank}Stadt` string) USING delta "
        f"PARTITIONED BY (k, `große{blank}Stadt`) TBLPROPERTIES ({features})"
    )
    values = ["New York/ä", "a=b c%25+#?", None, "Zürich\u00a0:x", ""]
    for number in range(2):
        rows = [(number * 10 + i, value, iso(i), value) for i, value in enumerate(values)]
        frame = spark.createDataFrame(rows, f"v long, k string, at string, `große{blank}Stadt` string")
        frame.write.format("delta").mode("append").save(str(tmp_path / "table"))
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE v = 12")
    spark.sql(f"INSERT INTO {here(tmp_path)} SELECT 100 + v, 'x', '{iso(3)}', NULL FROM range(50) t(v)")
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE v BETWEEN 110 AND 119")
    made = in_place(tmp_path, files=100)
    run(made, spark, once=True)
    frame = spark.createDataFrame(rows, f"v long, k string, at string, `große{blank}Stadt` string")
    frame.write.format("delta").mode("append").save(str(tmp_path / "table"))
    run(made, spark, once=True, drain=True)
    assert shown_with_nulls(spark, tmp_path) == of_table(spark, tmp_path)
    assert sum(number for number, _ in of_table(spark, tmp_path).values()) == 54
    assert all(result.equal for result in reconcile(made, spark))
    rows_of = PipelineWork.open(made, spark).raws["rows"].rows(spark, 0, 2)
    assert rows_of.count() == rows_of.select("_step", "_row").distinct().count() == 54


def shown_with_nulls(spark: Any, root: Path) -> dict[str, tuple[int, int]]:
    rows = table(spark, root, "current").groupBy("k").agg({"num": "sum", "total": "sum"}).collect()
    return {row["k"]: (row["sum(num)"], row["sum(total)"]) for row in rows}


def test_a_verdict_stands_whatever_the_suite_says_later(spark, tmp_path: Path) -> None:
    """Rejected rows are dead letters once, and are the same rows when they are read again."""
    suite = tmp_path / "rows.yaml"

    def rule(least: int) -> None:
        suite.write_text(f"- {{expect: column_values_to_be_between, column: v, min_value: {least}, row: true}}\n")

    rule(2)
    append(spark, tmp_path, (1, "a", iso(1), 0), (2, "a", iso(1), 0), (3, "a", "never", 0))
    made = in_place(tmp_path, quality=str(suite))
    run(made, spark, once=True)
    rule(9)
    append(spark, tmp_path, (1, "a", iso(2), 0), (10, "a", iso(2), 0))
    append(spark, tmp_path, (11, "a", iso(2), 0))
    run(made, spark, once=True, drain=True)
    letters = table(spark, tmp_path, "dead_letters", "rows").collect()
    found = sorted((row["step"], row["reason"], json.loads(row["element"])["v"]) for row in letters)
    assert found == [(1, "bad_timestamp", 3), (1, "rejected", 1), (2, "rejected", 1)]
    assert [row["total"] for row in table(spark, tmp_path, "current").collect()] == [2 + 10 + 11]
    (source,), (stage,) = status(made)
    assert source.dead == {"rejected": 2, "bad_timestamp": 1} and stage.adds_up
    assert all(result.equal for result in reconcile(made, spark))


@pytest.mark.long
def test_late_rows_are_restated(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    made = in_place(tmp_path)
    for second in (100, 200):
        append(spark, tmp_path, (2, "a", iso(second), 0))
        run(made, spark, once=True)
    append(spark, tmp_path, (5, "a", iso(2), 0), (6, "b", iso(3), 0), (6, "b", iso(3), 0))
    run(made, spark, once=True)
    assert table(spark, tmp_path, "dead_letters").where("reason = 'late'").count() == 3
    restate(made, spark)
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path)
    assert reconcile(made, spark)[0].late_rows == 0


def test_rows_that_are_taken_out_are_an_error_when_those_before_have_landed(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0), (2, "a", iso(1), 0))
    made = in_place(tmp_path)
    run(made, spark, once=True)
    append(spark, tmp_path, (3, "a", iso(1), 0))
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE v = 2")
    with pytest.raises(SpecError, match=r"is a table that is only appended to, and rows of it .* in version 2"):
        run(made, spark, once=True)
    assert PipelineWork.open(made, spark).raws["rows"].last_step(spark) == 2


def test_a_table_of_the_same_path_is_another_one(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    made = in_place(tmp_path)
    run(made, spark, once=True)
    shutil.rmtree(tmp_path / "table")
    append(spark, tmp_path, (2, "a", iso(1), 0))
    spark.sql(f"ALTER TABLE {here(tmp_path)} ADD COLUMNS (w int)")
    with pytest.raises(SpecError, match="another table"):
        run(made, spark, once=True)


def test_a_lake_is_of_one_kind(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    copied, placed = over_delta(tmp_path), in_place(tmp_path)
    run(copied, spark, once=True)
    with pytest.raises(SpecError, match=r"is read in place, and its rows were copied .*Hint: copy: true, or take"):
        run(placed, spark, once=True)
    other = in_place(tmp_path, lake="other")
    run(other, spark, once=True)
    document = copied.to_mapping()
    with pytest.raises(SpecError, match=r"is to be copied, and its rows were read in place"):
        run(Pipeline.from_mapping({**document, "lake": str(tmp_path / "other")}), spark, once=True)


@pytest.mark.long
def test_several_that_land_at_once_have_each_version_once(spark, tmp_path: Path) -> None:
    for number in range(6):
        append(spark, tmp_path, (number, "a", iso(number), 0))
    made = in_place(tmp_path, files=1)
    landings = [landing_of(PipelineWork.open(made, spark)) for _ in range(3)]
    failed: list[BaseException] = []

    def land(landing: LandingInPlace) -> None:
        try:
            landing.run()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=land, args=(landing,)) for landing in landings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    rows = PipelineWork.open(made, spark).raws["rows"].rows(spark, 0, 6)
    assert sorted((row["_step"], row["v"]) for row in rows.collect()) == [(n + 1, n) for n in range(6)]


def test_what_the_table_does_not_keep_is_missed_only_where_it_is_read(spark, tmp_path: Path) -> None:
    made = in_place(tmp_path)
    for number in range(2):
        append(spark, tmp_path, (number, "a", iso(number), 0))
        run(made, spark, once=True)
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    assert PipelineWork.open(made, spark).raws["rows"].rows(spark, 0, 2).count() == 2
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"VACUUM {here(tmp_path)} RETAIN 0 HOURS")
    append(spark, tmp_path, (2, "a", iso(2), 0))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path)
    with pytest.raises(SpecError, match=r"does not keep all files of version 1, which landing step 2 .*`copy: true`"):
        reconcile(made, spark)


def test_the_first_rows_land_in_several_steps_while_the_table_changes(spark, tmp_path: Path) -> None:
    for number in range(3):
        append(spark, tmp_path, (number, "a", iso(number), 0))
    made = in_place(tmp_path, files=1)
    begun = landing_of(PipelineWork.open(made, spark)).start()
    assert begun is not None
    begun.wait(0)
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    spark.sql(f"ALTER TABLE {here(tmp_path)} ADD COLUMNS (another int)")
    append(spark, tmp_path, (3, "a", iso(3), 0))
    work = PipelineWork.open(made, spark)
    landing_of(work).run()
    assert landing_of(work).start() is None
    assert sorted(row["v"] for row in work.raws["rows"].rows(spark, 0, 4).collect()) == [0, 1, 2, 3]


def test_what_landing_has_counted_is_what_a_job_counts(spark, tmp_path: Path) -> None:
    """Dead rows too."""
    for number in range(3):
        append(spark, tmp_path, *[(index, "ab"[index % 2], iso(number * 9 + index), 0) for index in range(7)])
    append(spark, tmp_path, (7, "a", "300000-01-01T00:00:00Z", 0), (8, "b", iso(40), 0))
    work = PipelineWork.open(in_place(tmp_path, partition="k"), spark)
    landing_of(work).run()
    runner, until = work.stages[0].runner, Offsets({ONLY: 2})
    (landed,) = runner.upstream.landed(spark, START, until).values()
    rows, stage = runner.upstream.parts(spark, START, until)[ONLY], runner.stage.of_input(ONLY)
    assert known_statistics(stage, landed, Admission()) == statistics_of(stage, rows, Admission())
    assert len(landed.greatest) == 2 and (landed.rows, landed.dead) == (22, 1)


def over_feed(root: Path, **fields: Any) -> Pipeline:
    return in_place(root, changes="feed", stage={"trigger": {"repeat": {"after_count": 1}}}, **fields)


def with_feed(spark: Any, root: Path) -> None:
    spark.sql(f"ALTER TABLE {here(root)} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")


def test_every_change_is_read_once(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, *[(number, "abc"[number % 3], iso(number), 0) for number in range(9)])
    with_feed(spark, tmp_path)
    made = over_feed(tmp_path)
    run(made, spark, once=True)
    spark.sql(f"UPDATE {here(tmp_path)} SET v = v + 100 WHERE v < 3")
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE k = 'c'")
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    append(spark, tmp_path, (50, "d", iso(4), 0), (50, "d", iso(4), 0))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path)
    assert all(result.equal for result in reconcile(made, spark))
    (source,), _ = status(made)
    assert source.rows == 9 + 2 * 3 + 3 + 2
    batch = over_feed(tmp_path, lake="other")
    run(batch, spark, once=True, drain=True)
    assert current(spark, tmp_path) == current(spark, tmp_path, "other")


@pytest.mark.long
def test_equal_changes_of_a_version_are_each_counted(spark, tmp_path: Path) -> None:
    """They cannot be told apart. Late ones are restated together."""
    append(spark, tmp_path, (1, "a", iso(1), 0))
    with_feed(spark, tmp_path)
    made = over_feed(tmp_path)
    for second in (100, 200):
        append(spark, tmp_path, (2, "a", iso(second), 0))
        run(made, spark, once=True)
    append(spark, tmp_path, *[(7, "a", iso(2), 0)] * 3, (8, None, iso(2), 0))
    run(made, spark, once=True)
    assert table(spark, tmp_path, "dead_letters").where("reason = 'late'").count() == 4
    restate(made, spark)
    run(made, spark, once=True, drain=True)
    assert shown_with_nulls(spark, tmp_path) == of_table(spark, tmp_path)
    assert reconcile(made, spark)[0].late_rows == 0


@pytest.mark.long
def test_a_deletion_vector_that_is_gone(spark, tmp_path: Path) -> None:
    """The file is still there, with another vector: without its own it would give back rows that were deleted."""
    append(spark, tmp_path, *[(number, "a", iso(number), 0) for number in range(9)])
    with_feed(spark, tmp_path)
    spark.sql(f"ALTER TABLE {here(tmp_path)} SET TBLPROPERTIES (delta.enableDeletionVectors = true)")
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE v = 1")
    made = over_feed(tmp_path)
    run(made, spark, once=True)
    spark.sql(f"DELETE FROM {here(tmp_path)} WHERE v = 2")
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path) == {"a": (7, 33)}
    assert all(result.equal for result in reconcile(made, spark))
    min((tmp_path / "table").glob("*.bin"), key=lambda file: file.stat().st_mtime_ns).unlink()
    with pytest.raises(SpecError, match=r"does not keep all files of version 3, which landing step 1"):
        reconcile(made, spark)


@pytest.mark.long
def test_changes_are_known_again_when_the_schema_has_gained_a_column(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    with_feed(spark, tmp_path)
    for second in (100, 200):
        append(spark, tmp_path, (2, "a", iso(second), 0))
        run(over_feed(tmp_path), spark, once=True)
    append(spark, tmp_path, (7, "a", iso(2), 5), (7, "b", iso(2), 6))
    run(over_feed(tmp_path), spark, once=True)
    wider = over_feed(tmp_path, schema="more int, k string, v long, at string")
    append(spark, tmp_path, (8, "a", iso(3), 5), (8, "a", iso(3), 6))
    run(wider, spark, once=True)
    assert table(spark, tmp_path, "dead_letters").where("reason = 'late'").count() == 4
    restate(wider, spark)
    run(wider, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == of_table(spark, tmp_path)
    assert reconcile(wider, spark)[0].late_rows == 0


@pytest.mark.long
def test_a_feed_whose_commits_are_gone(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    with_feed(spark, tmp_path)
    spark.sql(f"ALTER TABLE {here(tmp_path)} SET TBLPROPERTIES (delta.checkpointInterval = 1)")
    made = over_feed(tmp_path)
    run(made, spark, once=True)
    for value in (2, 3):
        spark.sql(f"UPDATE {here(tmp_path)} SET v = {value}")
        run(made, spark, once=True)
    assert kept(made)[0].startswith("every row")
    for version in range(4):
        (tmp_path / f"table/_delta_log/{version:020}.json").unlink()
    raw = PipelineWork.open(made, spark).raws["rows"]
    with pytest.raises(SpecError, match=r"does not keep version 3, which is landing step 2 any more"):
        raw.rows(spark, 0, 3)
    assert raw.rows(spark, 2, 3).count() == 2
    assert kept(made)[0].startswith("only from batch 3 on") and kept(made)[1].endswith("those from version 4 on")
    spark.sql(f"UPDATE {here(tmp_path)} SET v = 4")
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == {"a": (1, 4)}


@pytest.mark.long
def test_changes_that_no_feed_has_recorded_are_an_error(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    made = over_feed(tmp_path)
    with pytest.raises(SpecError, match=r"delta.changes needs a table that keeps a change data feed"):
        run(made, spark, once=True)
    with_feed(spark, tmp_path)
    run(made, spark, once=True)
    for value in ("false", "true"):
        spark.sql(f"UPDATE {here(tmp_path)} SET v = v + 1")
        spark.sql(f"ALTER TABLE {here(tmp_path)} SET TBLPROPERTIES (delta.enableChangeDataFeed = {value})")
        spark.sql(f"UPDATE {here(tmp_path)} SET v = v + 1")
    with pytest.raises(SpecError, match=r"rows.delta has changes that its change data feed did not record"):
        run(made, spark, once=True)


def kept(made: Pipeline) -> list[str]:
    """What `windrow status` says of what can be read again."""
    return status_sections(*status(made))[0].to_mapping()["read again"]


def test_status_says_what_can_be_read_again(spark, tmp_path: Path) -> None:
    made = in_place(tmp_path)
    for number in range(2):
        append(spark, tmp_path, (number, "a", iso(number), 0))
        run(made, spark, once=True)
    assert kept(made)[0] == f"every row, from {tmp_path}/table"
    spark.sql(
        f"ALTER TABLE {here(tmp_path)} SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 3 weeks')"
    )
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    assert kept(made)[0] == f"every row, from {tmp_path}/table" and "for 3 weeks until VACUUM" in kept(made)[1]
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"VACUUM {here(tmp_path)} RETAIN 0 HOURS")
    append(spark, tmp_path, (2, "a", iso(2), 0))
    run(made, spark, once=True)
    assert kept(made)[0] == f"only from batch 3 on: {tmp_path}/table does not keep all that landed before"
    (by_spark,), _ = status_in(SparkTables(spark), made)
    (by_arrow,), _ = status(made)
    assert by_spark == by_arrow and by_arrow.kept is not None
    (tmp_path / "table").rename(tmp_path / "elsewhere")
    assert kept(made) == [f"no row: there is no table at {tmp_path}/table any more"]


@pytest.mark.long
def test_a_file_is_quarantined(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0), (2, "b", "never", 0))
    append(spark, tmp_path, (3, "a", iso(3), 0))
    made = in_place(tmp_path)
    run(made, spark, once=True)
    file = json.loads((tmp_path / f"table/_delta_log/{0:020}.json").read_text().splitlines()[-1])["add"]["path"]
    found = quarantine(made, spark, "rows", file)
    assert (found.rows, found.step) == (2, 2)
    assert quarantine(made, spark, "rows", file).step is None
    append(spark, tmp_path, (4, "a", iso(4), 0))
    run(made, spark, once=True, drain=True)
    backfill(made, spark, *DAY)
    assert [(row["num"], row["total"]) for row in table(spark, tmp_path, "current").collect()] == [(2, 7)]
    letters = table(spark, tmp_path, "dead_letters", "rows").collect()
    assert sorted((row["step"], row["reason"], json.loads(row["element"])["v"]) for row in letters) == [
        (1, "quarantined", 1), (1, "quarantined", 2),
    ]  # fmt: skip
    (source,), _ = status(made)
    assert source.rows == 4 and source.dead == {"quarantined": 2}


@pytest.mark.parametrize("changes", ["append", "feed"])
def test_a_row_without_a_time_is_a_dead_letter(spark, tmp_path: Path, changes: str) -> None:
    """In a step of one part, whose rows are not looked up in a table of parts."""
    append(spark, tmp_path, (1, "a", iso(1), 0))
    if changes == "feed":
        with_feed(spark, tmp_path)
    made = in_place(tmp_path, files=1, changes=changes)
    run(made, spark, once=True)
    append(spark, tmp_path, (2, "a", None, 0), (3, "a", iso(2), 0))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == {"a": (2, 4)}
    letters = DeltaTable(f"{tmp_path}/lake/rows/dead_letters").to_pyarrow_table().to_pylist()
    assert [(letter["reason"], json.loads(letter["element"])["v"]) for letter in letters] == [("bad_timestamp", 2)]


def test_files_that_are_gone_before_they_land_are_named(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", iso(1), 0))
    made = in_place(tmp_path)
    run(made, spark, once=True)
    for number in range(2, 4):
        append(spark, tmp_path, (number, "a", iso(number), 0))
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"VACUUM {here(tmp_path)} RETAIN 0 HOURS")
    with pytest.raises(SpecError, match="the table does not keep all files of version") as raised:
        run(made, spark, once=True)
    assert "copy: true" in str(raised.value)


def test_versions_without_rows_are_passed_for_good(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "PASSED", 3)
    append(spark, tmp_path, (1, "a", iso(1), 0))
    made = in_place(tmp_path)
    run(made, spark, once=True)
    for number in range(4):
        spark.sql(f"ALTER TABLE {here(tmp_path)} SET TBLPROPERTIES ('some.{number}' = 'value')")
    run(made, spark, once=True)
    assert landing_of(PipelineWork.open(made, spark)).raw.last_step(spark) == 2
    DeltaTable(str(tmp_path / "table")).create_checkpoint()
    for commit in sorted((tmp_path / "table/_delta_log").glob("*.json"))[:-1]:
        commit.unlink()
    append(spark, tmp_path, (2, "a", iso(2), 0))
    run(made, spark, once=True, drain=True)
    assert shown(spark, tmp_path) == {"a": (2, 3)}


def test_a_file_is_not_taken_out_where_dead_rows_are_gone(spark, tmp_path: Path) -> None:
    append(spark, tmp_path, (1, "a", "never", 0))
    append(spark, tmp_path, (2, "a", iso(2), 0))
    made = in_place(tmp_path, files=1)
    run(made, spark, once=True)
    spark.sql(f"OPTIMIZE {here(tmp_path)}")
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"VACUUM {here(tmp_path)} RETAIN 0 HOURS")
    work = PipelineWork.open(made, spark)
    raw, last = landing_of(work).raw, landing_of(work).raw.log.last(work.spark)
    assert last is not None
    part = raw.steps(work.spark, 1, 2)[2].parts[0]
    with pytest.raises(SpecError, match="the table does not keep all files of version"):
        raw.take_out(work.spark, last, part.offset)
    assert raw.last_step(work.spark) == 2
