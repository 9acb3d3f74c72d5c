"""The stream on a real lake: every row is somewhere, a restart goes on, and the tables are what a batch gives."""

import json
import shutil
from pathlib import Path
from threading import Event

import pytest

from tests.conftest import compiling
from tests.lake import POISON, ROWS, content, pipeline, table, write_files
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline import runner as advance
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import Stream, run
from windrow.spec.errors import SpecError
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import DAY, parse_time
from windrow.store.delta.log.retries import StepTaken
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import Offsets

FILES = 5
START = parse_time("2024-01-01T00:00:00Z")


@pytest.fixture(scope="module")
def streamed(spark, tmp_path_factory) -> Path:
    """A lake over all files, drained, by plans that Spark has compiled; those of the other tests are interpreted."""
    root = tmp_path_factory.mktemp("streamed")
    write_files(root / "data", range(FILES))
    with compiling():
        run(pipeline(root), spark, once=True, drain=True)
    return root


def test_every_row_is_in_exactly_one_place(spark, streamed: Path) -> None:
    ticks = table(spark, streamed, "ticks").collect()
    read, assigned = sum(t.elements_read for t in ticks), sum(t.assigned for t in ticks)
    assert read == FILES * (ROWS + POISON) == spark.read.format("delta").load(f"{streamed}/lake/clicks/raw").count()
    assert sum(t.rejected for t in ticks) == FILES * POISON
    assert assigned == FILES * ROWS
    late = sum(t.late for t in ticks)
    assert sum(row.num for row in table(spark, streamed, "current").collect()) == assigned - late
    assert ticks and max(ticks, key=lambda t: t.tick).open_cells == 0


@pytest.mark.long
def test_a_lost_checkpoint_lands_nothing_twice(spark, tmp_path: Path, streamed: Path) -> None:
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path), spark, once=True)
    shutil.rmtree(tmp_path / "lake" / "_windrow" / "checkpoints")
    write_files(tmp_path / "data", range(3, FILES))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    assert table(spark, tmp_path, "raw", "clicks").count() == FILES * (ROWS + POISON)
    for key in ("k", "window_start", "num", "total", "most"):
        assert key in table(spark, tmp_path, "current").columns
    ours = table(spark, tmp_path, "current").select("k", "window_start", "num", "total", "most")
    theirs = table(spark, streamed, "current").select("k", "window_start", "num", "total", "most")
    assert ours.exceptAll(theirs).isEmpty() and theirs.exceptAll(ours).isEmpty()


@pytest.mark.long
def test_how_often_the_journal_is_compacted_changes_nothing(spark, tmp_path: Path, streamed: Path, monkeypatch) -> None:
    monkeypatch.setattr(advance, "COMPACT_EVERY", 2)
    write_files(tmp_path / "data", range(FILES))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    for name in ("current", "panes", "dead_letters"):
        assert content(spark, tmp_path, name) == content(spark, streamed, name), name


def test_a_second_runner_does_not_write_the_tick_again(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    first, second = PipelineWork.open(pipeline(tmp_path), spark), PipelineWork.open(pipeline(tmp_path), spark)
    first.landings[0].run()
    assert first.stages[0].runner.advance(Offsets({ONLY: 2})) is not None
    with pytest.raises(StepTaken):
        second.stages[0].runner.advance(Offsets({ONLY: 2}))
    journal = table(spark, tmp_path, "journal/1")
    assert journal.where("_kind = 'control'").count() == 1


def test_a_changed_fingerprint_is_refused_and_a_new_generation_rebuilds(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(3))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    changed = pipeline(tmp_path, window={"fixed": {"size": "1m"}})
    with pytest.raises(SpecError, match=r"window.*--from-start"):
        run(changed, spark, once=True)
    run(changed, spark, once=True, drain=True, from_start=True)
    (result,) = reconcile(changed, spark)
    assert result.equal and result.windows > 0
    sizes = table(spark, tmp_path, "current").selectExpr("window_end - window_start as size").distinct().collect()
    assert [row.size.total_seconds() for row in sizes] == [60.0]


def test_a_journal_of_an_earlier_version_is_refused_and_rebuilt(spark, tmp_path: Path, monkeypatch) -> None:
    """Its control rows had one number for how far a stage has read."""
    write_files(tmp_path / "data", range(1))

    def earlier(control: Control, written=Control.to_json) -> str:
        row = json.loads(written(control))
        return json.dumps({**{name: row[name] for name in row if name not in ("offsets", "streams")}, "admitted": 0})

    with monkeypatch.context() as before:
        before.setattr(Control, "to_json", earlier)
        run(pipeline(tmp_path), spark, once=True)
    for command in (lambda: run(pipeline(tmp_path), spark, once=True), lambda: status(pipeline(tmp_path), spark)):
        with pytest.raises(SpecError, match=r"stages\.sums\.journal was written by an earlier .*--from-start"):
            command()
    run(pipeline(tmp_path), spark, once=True, drain=True, from_start=True)
    (result,) = reconcile(pipeline(tmp_path), spark)
    assert result.equal and result.windows > 0


@pytest.mark.long
def test_a_larger_lateness_carries_on(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    run(pipeline(tmp_path, allowed_lateness="0s"), spark, once=True)
    write_files(tmp_path / "data", range(2, FILES))
    larger = pipeline(tmp_path, allowed_lateness="2m")
    run(larger, spark, once=True, drain=True)
    (result,) = reconcile(larger, spark)
    assert result.equal


def test_a_caller_keeps_the_settings_of_their_session(spark, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        write_files(tmp_path / "data", range(2))
        run(pipeline(tmp_path), spark, once=True, drain=True)
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert spark.conf.get("spark.sql.ansi.enabled") == "true"
        assert reconcile(pipeline(tmp_path), spark)[0].equal
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        spark.conf.set("spark.sql.ansi.enabled", "false")


def test_the_tables_can_be_read_without_spark(streamed: Path) -> None:
    import duckdb
    import polars
    from deltalake import DeltaTable

    current = DeltaTable(f"{streamed}/lake/sums/current").to_pyarrow_table()
    assert current.num_rows > 0
    assert duckdb.sql("select count(*) from current").fetchall() == [(current.num_rows,)]
    assert polars.read_delta(f"{streamed}/lake/sums/panes").height > 0


@pytest.mark.long
def test_a_backfill_between_two_ticks_of_a_stream(spark, tmp_path: Path) -> None:
    """What was late before it is restated; the stream goes on, and is equal to a batch in the end."""
    short = pipeline(tmp_path, allowed_lateness="0s")
    write_files(tmp_path / "data", range(3))
    stream = Stream(PipelineWork.open(short, spark), clock_micros, None, Event())
    stream.start()
    stream.cycle()
    (beside,) = backfill(short, spark, START, START + DAY, dry_run=True)
    assert beside.waiting is not None and beside.waiting.windows > 0, "what is open is the stream's"
    with pytest.raises(SpecError, match="is open in the stream"):
        backfill(short, spark, START, START + DAY, whole=True)
    (result,) = backfill(short, spark, START, parse_time("2024-01-01T01:01:30Z"))
    assert result.changed > 0
    write_files(tmp_path / "data", range(3, FILES))
    stream.cycle()
    stream.drain()
    (after,) = reconcile(short, spark)
    assert after.equal and after.late_rows > 0
    letters = table(spark, tmp_path, "dead_letters").where("reason = 'late'")
    assert {row.restated_by for row in letters.collect()} == {None, result.tick}


@pytest.mark.long
def test_a_stream_that_starts_after_a_backfill_skips_what_that_has_made(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    sliding = pipeline(tmp_path, window={"sliding": {"size": "60s", "period": "30s"}}, max_versions_per_tick=10)
    PipelineWork.open(sliding, spark).landings[0].run()
    (made,) = backfill(sliding, spark, START, START + DAY, whole=True)
    assert made.inserted == made.windows > 0
    before = content(spark, tmp_path, "current")
    run(sliding, spark, once=True, drain=True)
    assert content(spark, tmp_path, "current") == before
    ticks = table(spark, tmp_path, "ticks").where("kind = 'stream'").collect()
    assert ticks and sum(tick.late + tick.panes for tick in ticks) == 0
    assert reconcile(sliding, spark)[0].equal


def test_a_stream_opens_where_batches_have_read_to_in_one_tick(spark, tmp_path: Path) -> None:
    """Their rows are counted once, and what they published is not shown again."""
    write_files(tmp_path / "data", range(3))
    made = pipeline(tmp_path, allowed_lateness="0s")
    work = PipelineWork.open(made, spark)
    work.landings[0].run()
    (published,) = backfill(made, spark, START, START + DAY)
    assert published.waiting is not None and published.inserted > 0
    (stage,) = work.stages
    stage.catch_up()
    stage.runner.reload()
    opening = stage.runner.advance(Offsets({ONLY: 3}))
    assert opening is not None and opening.offsets == Offsets({ONLY: 3}) and opening.clock == stage.runner.clock
    stage.ticked(opening)
    stage.project()
    _, (found,) = status(made, spark)
    assert found.adds_up and found.read == 3 * (ROWS + POISON) and found.open_cells > 0
    panes = table(spark, tmp_path, "panes")
    assert panes.where("is_last").groupBy("k", "window_start").count().where("count > 1").isEmpty()


@pytest.mark.long
def test_rows_after_the_end_of_time_are_late_for_windows_that_can_close(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(1))
    closing = pipeline(tmp_path, trigger={"after_count": 4}, allow_closing=True)
    run(closing, spark, once=True, drain=True)
    write_files(tmp_path / "data", range(1, 2))
    run(closing, spark, once=True)
    ticks = table(spark, tmp_path, "ticks").orderBy("tick").collect()
    assert ticks[-1].late == ROWS


def test_the_tables_of_a_source_hold_its_batches_and_its_dead_rows(spark, streamed: Path) -> None:
    landings = table(spark, streamed, "landings", "clicks").collect()
    assert [(row.step, row.files, row.rows, row.dead) for row in sorted(landings)] == [
        (step + 1, 1, ROWS + POISON, POISON - 1) for step in range(FILES)
    ]
    letters = table(spark, streamed, "dead_letters", "clicks").groupBy("reason").count().collect()
    assert {row["reason"]: row["count"] for row in letters} == {"unreadable": 2 * FILES, "bad_timestamp": FILES}


def test_content_helper_sees_every_column(spark, streamed: Path) -> None:
    assert content(spark, streamed, "current")


@pytest.mark.long
def test_late_rows_that_change_nothing_are_restated_once_too(spark, tmp_path: Path) -> None:
    """In the global window, whose letters have no bounds in the table, and with a result that stays as it was."""
    window = {"window": {"global": {}}, "trigger": {"repeat": {"after_count": 50}}, "allowed_lateness": "0s"}
    most = {"aggregates": {"most": {"max": "v"}}, "derive": {}, "select": {}}
    made = pipeline(tmp_path, **window, **most)
    write_files(tmp_path / "data", range(2))
    run(made, spark, once=True, drain=True)
    write_files(tmp_path / "data", range(2, 3))
    run(made, spark, once=True)
    (before,) = reconcile(made, spark)
    assert before.late_rows == ROWS + 1  # nothing divides by its zero here
    (result,) = restate(made, spark)
    assert result.backfilled is not None and result.backfilled.tick is not None
    assert table(spark, tmp_path, "dead_letters").where("reason = 'late' AND restated_by IS NULL").isEmpty()
    (after,) = reconcile(made, spark)
    assert after.equal and after.late_rows == 0
    (again,) = backfill(made, spark, START, START + DAY)
    assert again.tick is None
