"""What a forgetting meets: changed schemas, removed rows, other writers; and what it refuses at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from tests.drivers.shops import HER, HERS, WHERE, files_with, pipeline, write
from tests.drivers.test_forget import never_there, results, shows_her, texts
from tests.drivers.test_retention import at, keeping, upkeep
from tests.lake import iso, table
from windrow.drivers.forget.examples import forget_examples
from windrow.drivers.forget.forget import forget
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.findings import findings
from windrow.drivers.inspect.reports.pages import write_index, write_report
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import NotInThisVersion, NotYet, SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Audits
from windrow.store.projections.quality_results import Judged, QualityResults


def _reasons(spark: SparkSession, root: Path) -> set[str | None]:
    return {row[0] for row in table(spark, root, "raw", "visits").select("_reason").distinct().collect()}


def micros(row: Row) -> int:
    """Where its window starts, in microseconds since 1970."""
    return int(row["window_start"].timestamp() * 1_000_000)


def _with_stage(made: Pipeline, **stage: Any) -> Pipeline:
    aggregates = {"visits": {"count": "*"}}
    return Pipeline.from_mapping(
        {**made.to_mapping(), "stages": [{"name": "records", "aggregates": aggregates, **stage}]}
    )


@pytest.mark.long
def test_rows_that_have_landed_under_another_name_of_the_column(spark: SparkSession, tmp_path: Path) -> None:
    before = pipeline(tmp_path, "tills", schema="client string, shop string, v long, at string, arrived string")
    write(tmp_path, range(1))
    path = tmp_path / "data" / "batch-0000.json"
    path.write_text(path.read_text().replace('"customer"', '"client"'))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    run(before, spark, once=True)
    after = pipeline(tmp_path, "tills", rename={"client": "customer"})
    write(tmp_path, range(1, 2))
    run(after, spark, once=True)
    assert forget(after, spark, WHERE).rows == 2 * HERS, "the one that cannot be read is found by its old name too"
    assert shows_her(spark, tmp_path, after) == []
    assert all(one.equal for one in reconcile(after, spark))


@pytest.mark.long
def test_sessions_of_which_rows_were_removed(spark: SparkSession, tmp_path: Path) -> None:
    """Those that can be made again are; earlier ones stay as they are."""
    made = keeping(pipeline(tmp_path, "sessions"), "60s")
    write(tmp_path, range(4))
    run(made, spark, once=True, drain=True)
    upkeep(made, spark, at(4 * 60))
    before = table(spark, tmp_path, "current", "sessions").collect()
    (stage,) = forget(made, spark, WHERE).stages
    assert stage.windows > 0 and stage.whole_from is not None and at(3 * 60) < stage.whole_from < at(4 * 60)
    early = f"window_start < timestamp_micros({stage.whole_from})"
    kept = table(spark, tmp_path, "current", "sessions").where(early).collect()
    assert kept and sorted(kept, key=str) == sorted((row for row in before if micros(row) < stage.whole_from), key=str)
    assert HER not in texts(table(spark, tmp_path, "current", "sessions").where(f"NOT {early}"))
    (proof,) = reconcile(made, spark)
    assert proof.equal and proof.windows > 0


@pytest.mark.long
def test_a_session_that_has_lost_rows_stands_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Her row is between two parts of what is left of it: the second one is no session of its own beside it."""
    made = keeping(pipeline(tmp_path, "sessions"), "60s")
    times = {"ann": (100, 103, 106, 112, 115, 120, 130), "bob": (300,), HER: (109, 131)}
    lines = [
        {"customer": who, "shop": "east", "v": second, "at": iso(second), "arrived": iso(300)}
        for who, seconds in times.items()
        for second in seconds
    ]
    (tmp_path / "data").mkdir()
    lines.sort(key=lambda line: str(line["at"]))
    (tmp_path / "data" / "batch-0000.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(made, spark, once=True, drain=True)
    upkeep(made, spark, at(165))
    assert reconcile(made, spark)[0].proves_from == at(119), "the end of the session that was cut"

    def starts() -> list[tuple[int, int, int]]:
        """Second of the start and of the end of each session, and how many visits it has."""
        rows = table(spark, tmp_path, "current", "sessions").selectExpr(
            "unix_seconds(window_start)", "unix_seconds(window_end)", "visits"
        )
        return sorted((first - at(0) // 1_000_000, last - at(0) // 1_000_000, n) for first, last, n in rows.collect())

    assert starts() == [(100, 119, 6), (120, 124, 1), (130, 135, 2), (300, 304, 1)]
    assert forget(made, spark, WHERE).rows == 2
    there = [(100, 119, 6), (120, 124, 1), (130, 134, 1), (300, 304, 1)]
    assert starts() == there
    (proof,) = reconcile(made, spark)
    assert proof.equal and proof.windows == 3
    late = {"customer": "ann", "shop": "east", "v": 1, "at": iso(117), "arrived": iso(301)}
    (tmp_path / "data" / "batch-0001.json").write_text(json.dumps(late) + "\n")
    run(made, spark, once=True)
    with pytest.raises(SpecError, match="cannot be recomputed from rows that were removed"):
        backfill(made, spark, at(109), at(400))
    restate(made, spark)
    backfill(made, spark, at(119), at(400))
    assert starts() == there, "a late row that is beside both joins neither"
    (letter,) = table(spark, tmp_path, "dead_letters", "sessions").collect()
    assert (letter["reason"], letter["restated_by"]) == ("late", None)
    assert all(one.equal for one in reconcile(made, spark))


@pytest.mark.long
def test_a_window_in_which_others_were_late_is_hers_alone(spark: SparkSession, tmp_path: Path) -> None:
    """What was late is in no result, so that nothing of the window is left where results of others are."""
    made = pipeline(tmp_path, "tills")
    rows_of = {
        0: [(HER, "lone", 1, 700), ("ann", "east", 2, 1), (HER, "east", 3, 2)],
        1: [("bob", "east", 300, 5)],
        2: [("ann", "lone", 4, 6), ("bob", "east", 301, 7)],
    }
    (tmp_path / "data").mkdir()
    for number, found in rows_of.items():
        names = ("customer", "shop", "at", "v", "arrived")
        lines = [dict(zip(names, (who, shop, iso(at), v, iso(400)), strict=True)) for who, shop, at, v in found]
        path = tmp_path / "data" / f"batch-{number:04}.json"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    run(made, spark, once=True)
    letters = table(spark, tmp_path, "dead_letters", "tills")
    assert [row["reason"] for row in letters.collect()] == ["late"]
    (tills,) = forget(made, spark, WHERE, leave=True).stages
    assert (tills.windows, tills.left) == (1, 1)
    shown = {row["shop"]: row["spent"] for row in table(spark, tmp_path, "current", "tills").collect()}
    assert "lone" not in shown and 700 not in shown.values()
    assert all(one.equal for one in reconcile(made, spark))


@pytest.mark.long
def test_one_that_was_killed_before_it_marked_a_row_needs_its_condition(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Her results were written down by their key: they are not made once more of rows of hers that are there."""
    made = pipeline(tmp_path, "customers")
    write(tmp_path, range(2))
    run(made, spark, once=True)
    before = results(spark, tmp_path, made)
    with halted_at("forget:after_keyed", monkeypatch):
        forget(made, spark, WHERE)
    monkeypatch.undo()
    with pytest.raises(NotYet, match=r"lake has no forgetting to go on with.*its --where"):
        forget(made, spark)
    assert results(spark, tmp_path, made) == before
    maintain(made, spark, 0)  # which waits for no forgetting
    assert forget(made, spark, WHERE).rows == 2 * HERS
    assert shows_her(spark, tmp_path, made) == []


@pytest.mark.long
def test_one_that_had_marked_rows_is_finished_before_another_begins(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pipeline(tmp_path, "customers")
    write(tmp_path, range(2))
    run(made, spark, once=True)
    of_others = {name: [row for row in rows if row[0] != HER] for name, rows in results(spark, tmp_path, made).items()}
    with halted_at("forget:after_stages", monkeypatch, "whole"):
        forget(made, spark, WHERE)
    monkeypatch.undo()
    with halted_at("forget:after_keyed", monkeypatch):
        forget(made, spark, "customer = 'ann'")
    monkeypatch.undo()
    assert shows_her(spark, tmp_path, made) == []
    with pytest.raises(NotYet, match="lake has no forgetting to go on with"):
        forget(made, spark)
    assert results(spark, tmp_path, made) == of_others
    assert forget(made, spark, "customer = 'ann'").rows > 0


def test_what_needs_a_condition(spark: SparkSession, tmp_path: Path) -> None:
    for option in ({"leave": True}, {"unreadable": True}):
        with pytest.raises(SpecError, match=rf"{next(iter(option))} must come with where"):
            forget(pipeline(tmp_path, "tills"), spark, **option)


@pytest.mark.long
def test_a_stream_that_compacts_in_between(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its snapshot has what was taken out of the one before: it is taken out again, and the tick made once more."""
    made = pipeline(tmp_path, "minutes")
    write(tmp_path, range(2))
    run(made, spark, once=True)
    other, first = PipelineWork.open(made, spark), iter([True])

    def between(name: str) -> None:
        if name == "forget:before_journal" and next(first, False):
            other.stages[0].runner.refresh()
            other.stages[0].runner.compact()

    monkeypatch.setattr("windrow.drivers.forget.windows.stage.point", between)
    last = other.stages[0].runner.last
    assert last is not None
    (stage,) = forget(made, spark, WHERE).stages
    assert stage.tick == last.tick + 2
    assert shows_her(spark, tmp_path, made) == []
    write(tmp_path, range(2, 4), with_her=False)
    run(made, spark, once=True, drain=True)
    assert results(spark, tmp_path, made) == never_there(spark, tmp_path / "never", 4, "minutes")


class _Halted(Exception):
    """A forgetting ends here."""


def halted_at(point: str, monkeypatch: pytest.MonkeyPatch, module: str = "forget") -> AbstractContextManager[Any]:
    """Where a forgetting ends at a point of the driver, or of another module of it, whatever it does."""

    def halt(name: str) -> None:
        if name == point:
            raise _Halted

    monkeypatch.setattr(f"windrow.drivers.forget.{module}.point", halt)
    return pytest.raises(_Halted)


@pytest.mark.long
def test_a_quarantine_in_between_leaves_the_reason_of_rows_that_are_being_forgotten(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pipeline(tmp_path, "tills")
    write(tmp_path, range(1))
    run(made, spark, once=True)
    with halted_at("forget:after_raw", monkeypatch):
        forget(made, spark, WHERE)
    monkeypatch.undo()
    quarantine(made, spark, "visits", "batch-0000.json")
    assert _reasons(spark, tmp_path) == {"forgotten", "quarantined"}
    assert forget(made, spark).rows == HERS
    assert quarantine(made, spark, "visits", "batch-0000.json").step is None
    assert shows_her(spark, tmp_path, made) == []


@pytest.mark.long
def test_a_forgetting_that_begins_while_rows_are_removed_by_their_age(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maintenance sees it behind the floor that it has raised, and leaves the rows that windows are made anew of."""
    made = keeping(pipeline(tmp_path, "minutes"), "60s")
    write(tmp_path, range(3))
    run(made, spark, once=True, drain=True)
    before = table(spark, tmp_path, "raw", "visits").count()

    def between(name: str) -> None:
        if name == "retention:after_floor":
            with halted_at("forget:after_raw", monkeypatch):
                forget(made, spark, WHERE)

    monkeypatch.setattr("windrow.drivers.retention.removal.point", between)
    assert "nothing removed by its age" in upkeep(made, spark, at(3 * 60))["visits/raw"]
    assert table(spark, tmp_path, "raw", "visits").count() == before
    monkeypatch.undo()
    assert forget(made, spark).rows == 3 * HERS
    assert "rows before" in upkeep(made, spark, at(3 * 60))["visits/raw"]
    (proof,) = reconcile(made, spark)
    assert proof.equal and proof.windows > 0


@pytest.mark.long
def test_record_windows_of_whole_keys_go_and_others_are_refused_before_anything_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    window = {"record": {"difference": "10s"}}
    shops = _with_stage(pipeline(tmp_path / "shops"), keys=["shop"], window=window)
    write(tmp_path / "shops", range(1))
    run(shops, spark, once=True)
    with pytest.raises(NotInThisVersion, match=r"stages\.records\.window cannot be made anew over"):
        forget(shops, spark, WHERE)
    assert "forgotten" not in _reasons(spark, tmp_path / "shops")
    customers = _with_stage(pipeline(tmp_path / "own"), keys=["customer"], window=window)
    write(tmp_path / "own", range(2))
    run(customers, spark, once=True)
    forget(customers, spark, WHERE)
    assert shows_her(spark, tmp_path / "own", customers) == []
    assert all(one.equal for one in reconcile(customers, spark))


def test_what_else_is_refused_before_anything_changes(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops")
    write(tmp_path, range(1))
    run(made, spark, once=True)
    current = f"delta.`{tmp_path}/lake/shops/current`"
    spark.sql(f"ALTER TABLE {current} SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    with pytest.raises(NotInThisVersion, match=r"shops/current has a property or feature with which only Delta may"):
        forget(made, spark, WHERE)
    spark.sql(f"ALTER TABLE {current} UNSET TBLPROPERTIES ('delta.appendOnly')")
    PipelineWork.open(made, spark, from_start=True)
    with pytest.raises(NotYet, match=r"stages\.shops has a generation that the tables do not show yet"):
        forget(made, spark, WHERE)
    with pytest.raises(NotYet, match="has a generation that the tables do not show yet"):
        maintain(made, spark, 0)
    assert "forgotten" not in _reasons(spark, tmp_path)
    run(made, spark, once=True)
    assert forget(made, spark, WHERE).rows == HERS


def test_tables_that_the_pipeline_file_does_not_name_are_named(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops", "tills")
    write(tmp_path, range(1))
    run(made, spark, once=True)
    fewer = pipeline(tmp_path, "shops")
    assert forget(fewer, spark, WHERE, dry_run=True).unnamed == ("tills",)
    assert forget(fewer, spark, WHERE).unnamed == ("tills",)


@pytest.mark.long
def test_what_a_killed_process_was_about_to_delete_goes_with_the_history(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, "shops")
    write(tmp_path, range(1), with_her=False)
    run(made, spark, once=True)
    folder = tmp_path / "lake" / "_windrow" / "forgetting.gone-0123456789ab"
    folder.mkdir()
    (folder / "part.txt").write_text(HER)
    maintain(made, spark, 0, dry_run=True)
    assert files_with(tmp_path, HER)
    maintain(made, spark, 0)
    assert not folder.exists() and files_with(tmp_path, HER) == []


_SPAN = {"start": 0, "end": 60_000_000}


def _judgements() -> Iterator[Judgement]:
    yield Judgement("column_max_to_be_between(v, max_value=9)", Severity.INFO, Outcome.FAILED, "1,019", value=1019.0)
    yield Judgement("column_mean_to_be_between(v, max_value=9)", Severity.INFO, Outcome.PASSED, "4.5", value=4.5)
    yield Judgement("column_values_to_not_be_null(v)", Severity.INFO, Outcome.FAILED, "1 of 4 rows", (HER,), None, 1)


def test_what_runs_have_found_loses_the_values_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    lake, result = Lake.of(str(tmp_path / "lake")), GateResult("shops", 4, tuple(_judgements()))
    Audits.of(lake).record(spark, "a run", "begin", "", {"steps": {}})
    Audits.of(lake).record(spark, "a run", "gate", "shops", {**result.to_mapping(), "version": "x"})
    QualityResults.of(lake).append(spark, Judged("a run", "shops", "suite.yaml", 1, 1), result)
    forget_examples(spark, lake)
    found = findings(lake, spark, "a run")
    assert HER not in str(found) and "1,019" not in str(found) and found["gate", "shops"]["version"] == "x"
    assert ("begin", "") in found
    rows = lake.quality_results.read(spark).select("rule", "value", "outcome").collect()
    assert {row["rule"].partition("(")[0]: (row["value"], row["outcome"]) for row in rows} == {
        "column_max_to_be_between": (None, "failed"),
        "column_mean_to_be_between": (4.5, "passed"),
        "column_values_to_not_be_null": (None, "failed"),
    }
    forget_examples(spark, Lake.of(str(tmp_path / "empty")))


def test_pages_of_runs_are_written_again(spark: SparkSession, tmp_path: Path) -> None:
    """What they say comes from the audits and tables. A page that is of nothing there is named, and nobody else's."""
    made, pages = pipeline(tmp_path, "shops"), tmp_path / "pages"
    write(tmp_path, range(1))
    run(made, spark, once=True)
    audits, result = Audits.of(Lake.of(made.lake)), GateResult("shops", 4, tuple(_judgements()))
    audits.record(spark, "monday", "begin", "", {"steps": {}, **_SPAN})
    audits.record(spark, "monday", "gate", "shops", {**result.to_mapping(), **_SPAN, "version": "x"})
    link = "https://airflow/monday"
    write_report(made, spark, "monday", *_SPAN.values(), f"{pages}/monday.html", "FILE", link)
    write_report(made, spark, None, None, None, f"{pages}/shops-stream.html")
    write_index(made, spark, f"{pages}/shops-index.html")
    (pages / "shops-shops-simulate.html").write_text(HER)
    (pages / "other.html").write_text("of somebody else")
    gone = json.loads((pages / "monday.json").read_text())
    (pages / "gone.html").write_text(HER)
    (pages / "gone.json").write_text(json.dumps({**gone, "run": "gone"}))
    assert all(HER in (pages / f"monday.{kind}").read_text() for kind in ("html", "json", "junit.xml"))
    done = forget(made, spark, WHERE, pages=[str(pages), str(tmp_path / "none")], typed="shops.yaml")
    assert [Path(page).name for page in done.pages.written] == ["monday.html", "shops-index.html", "shops-stream.html"]
    assert [Path(page).name for page in done.pages.left] == ["gone.html", "shops-shops-simulate.html"]
    left = {path.name for path in pages.iterdir() if HER in path.read_text()}
    assert left == {"gone.html", "gone.json", "shops-shops-simulate.html"}
    again = json.loads((pages / "monday.json").read_text())
    assert (again["run"], again["link"], again["start"], again["end"]) == ("monday", link, gone["start"], gone["end"])
    assert forget(made, spark, WHERE, pages=[f"file://{pages}"]).pages.written[0] == f"file://{pages}/monday.html"
