"""Rows that are older than they are kept are removed, where no window needs them; what is left can be proved."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.drivers.shops import HER, WHERE, pipeline, write
from tests.drivers.test_forget import results, shows_her
from tests.lake import iso, table
from windrow.drivers.forget.forget import forget
from windrow.drivers.inspect.status.status import status
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import watched
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.retention import Retention
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.times import HOUR, SECOND, parse_time
from windrow.store.delta.floors import Floors, time_floor
from windrow.store.delta.location import Lake


def keeping(made: Pipeline, raw: str, others: str | None = None) -> Pipeline:
    return replace(made, retention=Retention(raw=raw, panes=others, dead_letters=others))


def at(second: int) -> int:
    return parse_time(iso(second))


def upkeep(made: Pipeline, spark: SparkSession, now: int, dry_run: bool = False) -> dict[str, str]:
    """Maintenance at a time: what it says of each table."""
    return {one.table: "; ".join(one.notes) for one in maintain(made, spark, HOUR, dry_run, clock=lambda: now)}


@pytest.mark.long
def test_a_stage_that_is_not_in_the_file_keeps_what_it_reads(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, range(4))
    run(pipeline(tmp_path, "shops", "minutes"), spark, once=True, drain=True)
    before, fewer = table(spark, tmp_path, "raw", "visits").count(), keeping(pipeline(tmp_path, "shops"), "60s")
    assert "stage minutes reads it, and is not in the pipeline file" in upkeep(fewer, spark, at(4 * 60))["visits/raw"]
    assert table(spark, tmp_path, "raw", "visits").count() == before
    shutil.rmtree(tmp_path / "lake" / "minutes")
    assert "removed" in upkeep(fewer, spark, at(4 * 60))["visits/raw"]
    assert table(spark, tmp_path, "raw", "visits").count() < before


@pytest.mark.long
def test_what_no_window_needs_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    made = keeping(pipeline(tmp_path, "shops", "sessions"), "60s", "90s")
    write(tmp_path, range(4))
    run(made, spark, once=True, drain=True)
    before, shown = table(spark, tmp_path, "raw", "visits").count(), results(spark, tmp_path, made)
    now = at(4 * 60)
    dry = upkeep(made, spark, now, dry_run=True)
    assert "rows before" in dry["visits/raw"] and table(spark, tmp_path, "raw", "visits").count() == before
    notes = upkeep(made, spark, now)
    assert "removed" in notes["visits/raw"] and "removed" in notes["shops/panes"]
    left = table(spark, tmp_path, "raw", "visits")
    assert 0 < left.count() < before
    assert left.selectExpr("min(coalesce(_event_time, _arrival_time))").collect()[0][0] >= now - 60 * SECOND
    ends = table(spark, tmp_path, "panes", "shops").selectExpr("min(unix_micros(window_end))").collect()[0][0]
    assert ends >= now - 90 * SECOND
    assert results(spark, tmp_path, made) == shown, "what is shown stays"
    proofs = {one.stage: one for one in reconcile(made, spark)}
    assert all(one.equal and one.windows > 0 for one in proofs.values())
    assert proofs["shops"].proves_from == now - 60 * SECOND < proofs["sessions"].proves_from
    assert all(stage.adds_up for stage in status(made, spark)[1])
    with pytest.raises(SpecError, match=r"cannot be recomputed from rows that were removed.*Hint: raw has all rows"):
        backfill(made, spark, at(0), at(4 * 60))
    backfill(made, spark, at(3 * 60), at(4 * 60), stage="shops")
    restate(made, spark)
    assert all(one.equal for one in reconcile(made, spark))
    with pytest.raises(SpecError, match="cannot be rebuilt: raw of visits has no rows before"):
        run(made, spark, once=True, from_start=True)
    assert {stage.generation for stage in status(made, spark)[1]} == {1}
    assert upkeep(made, spark, now).get("visits/raw", "") == "", "once"


def test_what_a_window_needs_is_kept_and_it_is_said_why(spark: SparkSession, tmp_path: Path) -> None:
    made = keeping(pipeline(tmp_path, "shops"), "1s")
    write(tmp_path, range(2))
    PipelineWork.open(made, spark).landings[0].run()
    before = table(spark, tmp_path, "raw", "visits").count()
    assert "stage shops has not read it yet" in upkeep(made, spark, at(1000))["visits/raw"]
    assert table(spark, tmp_path, "raw", "visits").count() == before
    run(made, spark, once=True)
    assert "a window of stage shops is open" in upkeep(made, spark, at(1000))["visits/raw"]
    assert 0 < table(spark, tmp_path, "raw", "visits").count() < before
    write(tmp_path, range(2, 4))
    run(made, spark, once=True, drain=True)
    (proof,) = reconcile(made, spark)
    assert proof.equal and proof.proves_from is not None


@pytest.mark.long
def test_what_was_not_published_before_the_first_interval_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    """A schedule that begins in the middle: somebody may want the windows before, and so may a stream."""
    made = keeping(pipeline(tmp_path, "shops"), "1s")
    write(tmp_path, range(4))
    work = PipelineWork.open(made, spark)
    work.landings[0].run()
    backfill(made, spark, at(120), at(180), whole=True)
    before = table(spark, tmp_path, "raw", "visits").count()
    assert "a batch has yet to publish windows of stage shops" in upkeep(made, spark, at(1000))["visits/raw"]
    assert table(spark, tmp_path, "raw", "visits").count() == before
    backfill(made, spark, at(-3600), at(120), whole=True)
    assert "removed" in upkeep(made, spark, at(1000))["visits/raw"]
    assert 0 < table(spark, tmp_path, "raw", "visits").count() < before
    assert all(one.equal for one in reconcile(made, spark))


def test_windows_that_cross_the_first_interval_are_kept_unless_no_schedule_makes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Windows of 40 s each 20 s: one that starts at -20 s holds rows of the first interval."""
    made = keeping(pipeline(tmp_path, "hops"), "1s")
    write(tmp_path, range(4))
    PipelineWork.open(made, spark).landings[0].run()
    backfill(made, spark, at(0), at(120), whole=True)
    before = table(spark, tmp_path, "raw", "visits").count()
    why = f"a batch has yet to publish windows of stage hops that start at {iso(-20)[:-1].replace('T', ' ')}"
    assert why in upkeep(made, spark, at(1000))["visits/raw"].replace("T", " ")
    assert table(spark, tmp_path, "raw", "visits").count() == before
    scheduled = replace(made, schedule=Schedule(cron="* * * * *", start=iso(0)))
    assert "removed" in upkeep(scheduled, spark, at(1000))["visits/raw"]
    assert 0 < table(spark, tmp_path, "raw", "visits").count() < before
    run(made, spark, once=True, drain=True)
    first = table(spark, tmp_path, "current", "hops").selectExpr("min(unix_micros(window_start))").collect()[0][0]
    assert first == at(0), "what has lost rows is not shown as if it were whole"
    assert all(one.equal for one in reconcile(made, spark))


def test_a_session_that_has_lost_rows_is_not_shown_by_a_stream_that_begins_behind_batches(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It is published, and what is left of it looks like another one."""
    made = keeping(pipeline(tmp_path, "sessions"), "1s")
    seconds = [*range(600, 741, 3), 1400, 1460]
    rows = [{"customer": "ann", "shop": "north", "v": 1, "at": iso(at), "arrived": iso(1460)} for at in seconds]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
    PipelineWork.open(made, spark).landings[0].run()
    backfill(made, spark, at(0), at(720), whole=True)
    assert "removed" in upkeep(made, spark, at(2000))["visits/raw"]
    left = table(spark, tmp_path, "raw", "visits").selectExpr("min(_event_time)").collect()[0][0]
    assert left == at(717), "a part of that session is left"
    run(made, spark, once=True, drain=True)
    shown = table(spark, tmp_path, "current", "sessions").selectExpr("unix_micros(window_start) AS start").collect()
    assert {row.start for row in shown} == {at(600), at(1400), at(1460)}
    assert all(one.equal for one in reconcile(made, spark))


def test_dead_letters_of_a_source_go_by_their_arrival(spark: SparkSession, tmp_path: Path) -> None:
    made = keeping(pipeline(tmp_path, "shops"), "60s", "90s")
    write(tmp_path, range(4))
    run(made, spark, once=True, drain=True)
    before, now = table(spark, tmp_path, "dead_letters", "visits").count(), at(4 * 60)
    assert "removed" in upkeep(made, spark, now)["visits/dead_letters"]
    left = table(spark, tmp_path, "dead_letters", "visits")
    assert 0 < left.count() < before
    assert left.selectExpr("min(unix_micros(arrived_at))").collect()[0][0] >= now - 90 * SECOND


def test_a_generation_that_begins_while_rows_go_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made = keeping(pipeline(tmp_path, "shops"), "60s")
    write(tmp_path, range(2))
    run(made, spark, once=True, drain=True)

    def passed(point: str) -> None:
        if point == "generation:after_record":
            Floors.of(Lake.of(made.lake)).raise_to(spark, time_floor("visits", "raw"), at(60))

    with watched(passed), pytest.raises(SpecError, match="cannot be rebuilt: raw of visits has no rows before"):
        run(made, spark, once=True, from_start=True)
    assert {stage.generation for stage in status(made, spark)[1]} == {1}
    run(made, spark, once=True)
    assert {stage.generation for stage in status(made, spark)[1]} == {1}


def test_a_generation_whose_run_was_killed_before_it_looked_again_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = keeping(pipeline(tmp_path, "shops"), "60s")
    write(tmp_path, range(2))
    run(made, spark, once=True, drain=True)
    shown = results(spark, tmp_path, made)

    def killed(point: str) -> None:
        if point == "generation:after_record":
            raise KeyboardInterrupt

    with watched(killed), pytest.raises(KeyboardInterrupt):
        run(made, spark, once=True, from_start=True)
    Floors.of(Lake.of(made.lake)).raise_to(spark, time_floor("visits", "raw"), at(60))
    with pytest.raises(SpecError, match="cannot be rebuilt: raw of visits has no rows before"):
        run(made, spark, once=True)
    run(made, spark, once=True)
    assert {stage.generation for stage in status(made, spark)[1]} == {1}
    assert results(spark, tmp_path, made) == shown


def test_a_run_does_not_show_a_generation_that_another_has_taken_back(spark: SparkSession, tmp_path: Path) -> None:
    made = keeping(pipeline(tmp_path, "shops"), "60s")
    write(tmp_path, range(2))
    run(made, spark, once=True, drain=True)
    shown = results(spark, tmp_path, made)
    (item,) = PipelineWork.open(made, spark, from_start=True).stages
    item.catch_up()
    Floors.of(Lake.of(made.lake)).raise_to(spark, time_floor("visits", "raw"), at(60))
    with pytest.raises(SpecError, match="cannot be rebuilt: raw of visits has no rows before"):
        run(made, spark, once=True)
    with pytest.raises(SpecError, match="has generation 1 again, as rows were removed"):
        item.project()
    assert results(spark, tmp_path, made) == shown


@pytest.mark.long
def test_a_person_is_forgotten_in_windows_that_cannot_be_made_again(spark: SparkSession, tmp_path: Path) -> None:
    """Results whose key she is are removed, and her dead letters; those that others are part of stay as they are."""
    made = keeping(pipeline(tmp_path, "customers", "minutes"), "60s")
    write(tmp_path, range(3))
    run(made, spark, once=True, drain=True)
    upkeep(made, spark, at(3 * 60))
    old = f"shop = 'east' AND unix_micros(window_start) = {at(0)}"
    (first,) = table(spark, tmp_path, "current", "minutes").where(old).collect()
    assert HER in first["who"]
    done = forget(made, spark, WHERE)
    assert {one.stage: one.whole_from for one in done.stages} == dict.fromkeys(("customers", "minutes"), at(120))
    assert table(spark, tmp_path, "current", "customers").where(WHERE).isEmpty()
    assert table(spark, tmp_path, "panes", "customers").where(WHERE).isEmpty()
    assert table(spark, tmp_path, "current", "minutes").where(old).collect() == [first]
    left = set(shows_her(spark, tmp_path, made))
    assert left <= {"minutes/current", "minutes/panes", "minutes/journal/1"}, "windows that others are part of"
    assert all(one.equal for one in reconcile(made, spark))
