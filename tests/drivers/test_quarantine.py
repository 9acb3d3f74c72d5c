"""A landed file that is taken out: its rows stay as dead letters, and nothing that is made from now on counts them."""

from pathlib import Path

import pytest

from tests.drivers.test_gates import START, pipeline, write_rows
from tests.lake import iso, table
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.scope.request import Mode
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import DAY, SECOND

POSITIVE = {
    "expect": "column_values_to_be_between", "column": "v", "min_value": 0, "severity": "critical", "row": True,
}  # fmt: skip
ONCE = {"expect": "compound_columns_to_be_unique", "column_list": ["k", "at"], "severity": "critical"}


def reasons(spark, root: Path) -> list[tuple[str, str]]:
    dead = table(spark, root, "dead_letters", "rows").collect()
    return sorted((row["reason"], row["offset"].rsplit("/", 1)[-1]) for row in dead)


def total(spark, root: Path) -> list[int]:
    return [row["total"] for row in table(spark, root, "current").collect()]


@pytest.mark.long
def test_a_corrected_file_makes_the_gate_pass(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, [POSITIVE, ONCE])
    write_rows(tmp_path, "a.json", [{"v": 1}])
    write_rows(tmp_path, "wrong.json", [{"v": -2, "at": iso(1)}, {"v": 3, "at": iso(2)}, {"v": 3, "at": iso(2)}])

    def opened() -> Backfill:
        return Backfill(PipelineWork.open(made, spark), "scheduled__1", START, START + DAY, mode=Mode.WHOLE)

    opened().land()
    with pytest.raises(GateFailed, match=r"between.*compound_columns_to_be_unique"):
        opened().publish()
    done = quarantine(made, spark, "rows", "wrong.json")
    assert (done.rows, done.step) == (3, 2)
    assert (done.start, done.end) == (START + 3600 * SECOND, START + 3603 * SECOND)
    assert reasons(spark, tmp_path) == [("quarantined", "wrong.json")] * 3
    write_rows(tmp_path, "right.json", [{"v": 2, "at": iso(1)}, {"v": 3, "at": iso(2)}])
    opened().land()
    opened().publish()
    assert total(spark, tmp_path) == [6]
    (landed,) = table(spark, tmp_path, "landings", "rows").where("step = 1").collect()
    assert (landed["rows"], landed["dead"]) == (4, 3)


def test_what_a_stream_has_shown_is_corrected_by_a_backfill(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a.json", [{"v": 1}])
    write_rows(tmp_path, "b.json", [{"v": 5}, {"v": -5}])
    run(made, spark, once=True, drain=True)
    quarantine(made, spark, "rows", "b.json")
    (before,) = reconcile(made, spark)
    assert before.number_differing == 1
    (result,) = backfill(made, spark, START, START + DAY)
    assert (result.changed, total(spark, tmp_path)) == (1, [1])
    run(made, spark, once=True)
    (after,) = reconcile(made, spark)
    assert after.equal and total(spark, tmp_path) == [1]
    (source,), (stage,) = status(made, spark)
    assert source.dead == {"quarantined": 2}
    assert stage.read == 3 == stage.in_windows + sum(stage.dead.values())


@pytest.mark.long
def test_a_stream_does_not_read_what_was_taken_out_before_it_came_there(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a.json", [{"v": 1}])
    Backfill(PipelineWork.open(made, spark), "land", START, START + DAY).land()
    quarantine(made, spark, "rows", "a.json")
    write_rows(tmp_path, "b.json", [{"v": 7}])
    run(made, spark, once=True, drain=True)
    assert total(spark, tmp_path) == [7]
    (source,), (stage,) = status(made, spark)
    assert (source.rows, source.dead, stage.dead) == (2, {"quarantined": 1}, {"quarantined": 1})
    assert stage.read == 2 == stage.in_windows + sum(stage.dead.values())


def test_it_is_done_once_and_the_tables_keep_their_comments(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a b.json", [{"v": 1}])
    run(made, spark, once=True)
    before = table(spark, tmp_path, "dead_letters", "rows").schema
    assert quarantine(made, spark, "rows", str(tmp_path / "data" / "a b.json")).step == 2
    assert quarantine(made, spark, "rows", "a b.json").step is None
    assert reasons(spark, tmp_path) == [("quarantined", "a%20b.json")]
    assert table(spark, tmp_path, "dead_letters", "rows").schema == before


def test_a_file_that_has_not_landed_is_named(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a.json", [{"v": 1}])
    run(made, spark, once=True)
    with pytest.raises(SpecError, match=r'--file is no file that has landed; got "c.json".*a.json'):
        quarantine(made, spark, "rows", "c.json")
    with pytest.raises(SpecError, match="source is not in the pipeline"):
        quarantine(made, spark, "other", "a.json")


@pytest.mark.long
def test_a_batch_that_lands_meanwhile_is_landed_behind_it(spark, tmp_path: Path, monkeypatch) -> None:
    """The file is taken out when the landing has computed its step and not written it."""
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a.json", [{"v": 1}])
    run(made, spark, once=True)
    write_rows(tmp_path, "b.json", [{"v": 7}])
    first = iter([True])

    def between(name: str) -> None:
        if name == "landing:before_raw" and next(first, False):
            quarantine(made, spark, "rows", "a.json")

    monkeypatch.setattr("windrow.drivers.ingest.landing.point", between)
    Landing(spark, made.sources[0], PipelineWork.open(made, spark).lake).run()
    raw = table(spark, tmp_path, "raw", "rows").collect()
    assert sorted((row["_step"], row["_reason"]) for row in raw) == [(1, "quarantined"), (3, None)]


def test_every_column_of_every_table_has_its_comment(spark, tmp_path: Path) -> None:
    """Also those of tables that were made anew: by the first projection, a quarantine, a new generation."""
    made = pipeline(tmp_path)
    write_rows(tmp_path, "a.json", [{"v": 1}])
    run(made, spark, once=True, drain=True)
    quarantine(made, spark, "rows", "a.json")
    run(made, spark, once=True, drain=True, from_start=True)
    tables = [("rows", ("landings", "dead_letters")), ("sums", ("current", "panes", "dead_letters", "ticks"))]
    for owner, names in tables:
        for name in names:
            fields = table(spark, tmp_path, name, owner).schema.fields
            assert [field.name for field in fields if "comment" not in field.metadata] == [], name
