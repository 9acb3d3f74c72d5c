"""Row rules at landing and gates around a backfill: what is broken is said, and nothing that failed is ever visible."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.lake import content, iso, table
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.diff.diff import diff
from windrow.drivers.inspect.report import report_of_run, report_of_stream
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.publish.commit import commit
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.scope.request import Mode
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed, Outcome
from windrow.spec.times import DAY, parse_time
from windrow.store.journal.constraints import ConstraintBroken
from windrow.store.reading.arrow import ArrowTables

START = parse_time("2024-01-01T00:00:00Z")


def write_rows(root: Path, name: str, rows: list[dict[str, object]]) -> None:
    (root / "data").mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"at": iso(second), "k": "a", "v": 1, **row}) for second, row in enumerate(rows)]
    (root / "data" / name).write_text("\n".join(lines) + "\n")


def pipeline(root: Path, rows: list[dict[str, object]] | None = None, results: list[dict[str, object]] | None = None):  # type: ignore[no-untyped-def]
    source = {
        "name": "rows", "files": {"path": str(root / "data")}, "schema": "at string, k string, v int",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    stage = {
        "name": "sums", "from": "rows", "keys": ["k"], "window": {"fixed": {"size": "10s"}},
        "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}}, "derive": {"mean": "total / num"},
    }  # fmt: skip
    for name, owner, suite in (("rows", source, rows), ("sums", stage, results)):
        if suite is not None:
            path = root / f"{name}.yaml"
            path.write_text(yaml.safe_dump(suite))
            owner["quality"] = str(path)
    lake = str(root / "lake")
    return Pipeline.from_mapping({"pipeline": "p", "lake": lake, "sources": [source], "stages": [stage]})


NOT_NULL = {"expect": "column_values_to_not_be_null", "column": "k", "severity": "warning", "row": True}
POSITIVE = {"expect": "column_values_to_be_between", "column": "v", "min_value": 0, "severity": "critical"}
MANY = {"expect": "column_values_to_be_between", "column": "num", "min_value": 3, "severity": "critical"}


def test_a_row_that_breaks_rules_of_rows_is_a_dead_letter_with_their_names(spark, tmp_path: Path) -> None:
    both = [NOT_NULL, {**POSITIVE, "row": True, "severity": "info"}]
    write_rows(tmp_path, "a.json", [{}, {"k": None}, {"v": -1}, {"k": None, "v": -2}, {"v": None}])
    run(pipeline(tmp_path, both), spark, once=True, drain=True)
    dead = spark.read.format("delta").load(str(tmp_path / "lake" / "rows" / "dead_letters"))
    assert sorted((row["reason"], row["rule"]) for row in dead.collect()) == [
        ("rejected", "column_values_to_be_between(v, min_value=0)"),
        ("rejected", "column_values_to_not_be_null(k)"),
        ("rejected", "column_values_to_not_be_null(k), column_values_to_be_between(v, min_value=0)"),
    ]
    (row,) = table(spark, tmp_path, "current").collect()
    assert (row["num"], row["total"]) == (2, 1)


def test_a_gate_on_rows_stops_a_backfill_before_anything_is_computed(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, [NOT_NULL, POSITIVE])
    write_rows(tmp_path, "a.json", [{}, {"v": -5}, {"k": None}])
    run(pipeline(tmp_path), spark, once=True, drain=True)
    with pytest.raises(GateFailed, match="gate of rows stops: column_values_to_be_between") as failed:
        backfill(made, spark, START, START + DAY, whole=True)
    (result,) = failed.value.results
    assert [(j.outcome, j.figure, j.examples) for j in result.judgements] == [
        (Outcome.FAILED, "1 of 3 rows (33.33 %)", ("null",)),
        (Outcome.FAILED, "1 of 3 rows (33.33 %)", ("-5",)),
    ]


def test_a_gate_on_results_stops_what_it_has_judged(spark, tmp_path: Path) -> None:
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    made = pipeline(tmp_path, None, [MANY])
    land = Backfill(PipelineWork.open(made, spark), "first", START, START + DAY, mode=Mode.WHOLE)
    land.land()
    with pytest.raises(GateFailed) as failed:
        backfill(made, spark, START, START + DAY, whole=True)
    (result,) = failed.value.results
    (judgement,) = result.judgements
    assert (result.subject, result.rows, judgement.outcome) == ("sums", 1, Outcome.FAILED)
    assert (judgement.figure, judgement.examples) == ("1 of 1 rows (100.00 %)", ("2",))
    assert table(spark, tmp_path, "current").isEmpty() and table(spark, tmp_path, "panes").isEmpty()
    write_rows(tmp_path, "b.json", [{"v": 7}])
    land.land()
    (published,) = backfill(made, spark, START, START + DAY, whole=True)
    assert published.inserted == 1
    (row,) = table(spark, tmp_path, "current").collect()
    assert (row["num"], row["total"]) == (3, 13)


@pytest.mark.long
def test_a_gate_of_one_stage_holds_all_of_them_back(spark, tmp_path: Path) -> None:
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    made = pipeline(tmp_path, None, [MANY])
    (stage,) = made.stages
    both = replace(made, stages=(replace(stage, name="first", quality=None), stage))
    Backfill(PipelineWork.open(both, spark), "land", START, START + DAY, mode=Mode.WHOLE).land()
    with pytest.raises(GateFailed) as failed:
        backfill(both, spark, START, START + DAY, whole=True)
    assert table(spark, tmp_path, "current", "first").isEmpty()
    assert not list((tmp_path / "lake" / "_windrow" / "staging" / failed.value.run).glob("*"))


@pytest.mark.long
def test_a_run_of_the_same_name_judges_what_it_computes_again(spark, tmp_path: Path) -> None:
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    few = {"expect": "column_values_to_be_between", "column": "num", "max_value": 2, "severity": "critical"}
    made = pipeline(tmp_path, None, [few])

    def opened() -> Backfill:
        return Backfill(PipelineWork.open(made, spark), "scheduled__1", START, START + DAY, mode=Mode.WHOLE)

    opened().land()
    opened().compute()
    opened().gate_results()
    (first,) = opened().publish()
    assert first.inserted == 1
    write_rows(tmp_path, "b.json", [{"v": 7}])
    opened().land()
    with pytest.raises(GateFailed):
        opened().publish()
    (row,) = table(spark, tmp_path, "current").collect()
    assert row["num"] == 2


@pytest.mark.long
def test_what_is_staged_stays_right_beside_a_stream_unless_a_row_is_late(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, None, [{**MANY, "min_value": 1}])
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    run(made, spark, once=True)
    write_rows(tmp_path, "b.json", [{"at": iso(100)}])
    run(made, spark, once=True)

    def staged() -> tuple[str, list[int]]:
        """Which computation a backfill of the first window would publish, and the total that it has."""
        opened = Backfill(PipelineWork.open(made, spark), "monday", START, parse_time("2024-01-01T01:00:10Z"))
        (item,) = opened.stages
        standing = opened._windows.standing(item)
        assert standing is not None
        _, found = standing
        return found.id, [row["v_total"] for row in opened._windows.staged(item).read(found).windows.collect()]

    first = staged()
    write_rows(tmp_path, "c.json", [{"at": iso(200)}])
    run(made, spark, once=True)
    assert staged() == first
    write_rows(tmp_path, "d.json", [{"at": iso(3), "v": 10}])
    run(made, spark, once=True)
    again = staged()
    assert again[0] != first[0] and (first[1], again[1]) == ([6], [16])


@pytest.mark.long
def test_what_was_judged_is_published_whatever_is_staged_beside_it(spark, tmp_path: Path, monkeypatch) -> None:
    """Another try stages nothing at all, in the moment when this one has judged its windows."""
    made = pipeline(tmp_path, None, [{**MANY, "min_value": 1}])
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    first = Backfill(PipelineWork.open(made, spark), "monday", START, START + DAY, mode=Mode.WHOLE)
    first.land()
    first.gate_results()
    (item,) = first.stages

    def beside(*arguments, **options):  # type: ignore[no-untyped-def]
        staging = first._windows.staged(item)._area
        judged = staging.last(spark)
        staging.write(staging.read(spark, judged).limit(0), judged)
        return commit(*arguments, **options)

    monkeypatch.setattr("windrow.drivers.recompute.backfill.commit", beside)
    (published,) = first.publish()
    assert published.inserted == 1 and table(spark, tmp_path, "current").count() == 1


@pytest.mark.long
def test_a_run_that_is_repeated_tells_of_its_last_time(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path, None, [{**MANY, "min_value": 1}])
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    outcomes = []
    for _ in range(2):
        again = Backfill(PipelineWork.open(made, spark), "monday", START, START + DAY, mode=Mode.WHOLE)
        again.land()
        outcomes.append(report_of_run(ArrowTables(), made, "monday", None, None).outcome)
        again.publish()
        outcomes.append(report_of_run(ArrowTables(), made, "monday", None, None).outcome)
    assert outcomes == [
        "Not finished: 0 of 1 stages are published.",
        "Published: sums.",
        "Not finished: 0 of 1 stages are published.",
        "Nothing changed: the tables already had these results.",
    ]
    with pytest.raises(SpecError, match='left nothing in this lake; got "tuesday"'):
        report_of_run(ArrowTables(), made, "tuesday", None, None)


def test_a_backfill_of_nothing_says_so(spark, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    some = {"expect": "table_row_count_to_be_between", "min_value": 1, "severity": "critical"}
    with pytest.raises(GateFailed) as failed:
        backfill(pipeline(tmp_path, [some]), spark, START, START + DAY, whole=True)
    assert failed.value.results[0].rows == 0


def test_no_text_is_replaced_by_a_variable_of_the_environment(spark, tmp_path: Path) -> None:
    write_rows(tmp_path, "a.json", [{"k": "${env:HOME}"}, {"k": "x"}])
    only = {"expect": "column_values_to_be_in_set", "column": "k", "value_set": ["${env:HOME}"], "row": True}
    run(pipeline(tmp_path, [only]), spark, once=True, drain=True)
    assert [row["k"] for row in table(spark, tmp_path, "current").collect()] == ["${env:HOME}"]


def test_a_stream_judges_what_has_expired_and_goes_on_when_it_is_right(spark, tmp_path: Path) -> None:
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    with pytest.raises(GateFailed, match="gate of sums stops"):
        run(pipeline(tmp_path, None, [MANY]), spark, once=True, drain=True)
    (row,) = table(spark, tmp_path, "current").collect()
    assert row["num"] == 2
    with pytest.raises(GateFailed):
        run(pipeline(tmp_path, None, [MANY]), spark, once=True)
    run(pipeline(tmp_path, None, [{**MANY, "min_value": 2}]), spark, once=True)
    assert judged(spark, tmp_path) == 3
    run(pipeline(tmp_path, None, [{**MANY, "min_value": 2}]), spark, once=True)
    assert judged(spark, tmp_path) == 3


def test_a_new_generation_is_judged_before_the_tables_show_it(spark, tmp_path: Path) -> None:
    """A gate that stops leaves the old generation in every table, until the suite or the rows are right."""
    write_rows(tmp_path, "a.json", [{}, {"v": 5}])
    made = pipeline(tmp_path, None, [{**MANY, "min_value": 2}])
    run(made, spark, once=True, drain=True)
    before = content(spark, tmp_path, "current")
    changed = pipeline(tmp_path, None, [{**MANY, "min_value": 2}])
    (stage,) = changed.stages
    filtered = replace(changed, stages=(replace(stage, where="v < 5"),))
    for from_start in (True, False):
        with pytest.raises(GateFailed, match="gate of sums stops") as failed:
            run(filtered, spark, once=True, drain=True, from_start=from_start)
        assert "the tables of sums go on showing the generation before, and generation 2 waits" in failed.value.in_words
    for name in ("current", "panes", "ticks"):
        assert table(spark, tmp_path, name).count() > 0
    assert content(spark, tmp_path, "current") == before
    (found,) = diff(filtered, generation=2)
    assert (found.different, found.differing[0].there) == (1, {"num": 1, "total": 1, "mean": 1.0})
    report = report_of_stream(ArrowTables(), filtered, None, None)
    assert report.outcome == "A new generation is stopped by the gate of sums: the tables show the one before."
    assert report.next[0].command == "windrow diff FILE --stage sums --generation 2"
    with pytest.raises(GateFailed):
        reconcile(filtered, spark)
    (tmp_path / "sums.yaml").write_text(yaml.safe_dump([{**MANY, "min_value": 1}]))
    times = judged(spark, tmp_path)
    run(filtered, spark, once=True)
    assert judged(spark, tmp_path) == times + 1, "and not once more when the tables show it"
    (row,) = table(spark, tmp_path, "current").collect()
    assert (row["num"], row["total"]) == (1, 1)


def judged(spark, root: Path) -> int:
    """How often a gate has judged something."""
    return spark.read.format("delta").load(str(root / "lake" / "_windrow" / "audits")).where("step = 'gate'").count()


def test_what_suites_have_found_is_a_table(spark, tmp_path: Path) -> None:
    """A judgement is a commit of it; a run that is repeated has judged again."""
    mean = {"expect": "column_mean_to_be_between", "column": "v", "max_value": 9, "severity": "info"}
    made = pipeline(tmp_path, [NOT_NULL, POSITIVE, mean], [{**MANY, "min_value": 2}])
    write_rows(tmp_path, "a.json", [{}, {"v": -5}, {"k": None}])
    first = Backfill(PipelineWork.open(made, spark), "monday", START, START + DAY, mode=Mode.WHOLE)
    first.land()
    for _ in range(2):
        with pytest.raises(GateFailed):
            first.publish()
    assert quality_results(spark, made, "rows") == [
        ("monday", NOT_NULL["expect"] + "(k)", "warning", 3, 1, None, "failed", None, 1),
        ("monday", POSITIVE["expect"] + "(v, min_value=0)", "critical", 3, 1, None, "failed", None, 1),
        ("monday", mean["expect"] + "(v, max_value=9)", "info", 3, None, -1.0, "passed", None, 1),
    ]
    write_rows(tmp_path, "b.json", [{"v": 1}])
    run(replace(made, sources=(replace(made.sources[0], quality=None),)), spark, once=True, drain=True)
    (found,) = quality_results(spark, made, "sums")
    assert found[:1] + found[2:5] + found[6:7] == ("stream", "critical", 1, 0, "passed") and found[7] is not None
    arrow = made.table("sums").arrow("quality_results", columns=["run", "suite"]).to_pylist()
    assert arrow == [{"run": "stream", "suite": str(tmp_path / "sums.yaml")}]
    fields = made.table("rows").quality_results(spark).schema.fields
    assert all("comment" in field.metadata for field in fields)


def quality_results(spark, made: Pipeline, name: str) -> list[tuple[object, ...]]:
    """What the suite of a source or stage has found, without the suite and the time."""
    found = made.table(name).quality_results(spark).drop("stage", "suite", "at").collect()
    return sorted((tuple(row) for row in found), key=lambda row: str(row[1]) not in (NOT_NULL["expect"] + "(k)",))


def test_a_result_that_breaks_a_constraint_is_never_written(spark, tmp_path: Path) -> None:
    """Neither by a stream nor by a batch; what was there before can still be retracted."""
    most = {
        "expect": "unexpected_rows",
        "condition": "mean > 5 and k = 'a'",
        "severity": "critical",
        "constraint": True,
    }
    made = pipeline(tmp_path, None, [most])
    free = replace(made, stages=(replace(made.stages[0], quality=None),))
    write_rows(tmp_path, "a.json", [{"v": 5}, {"at": iso(10)}])
    run(made, spark, once=True)
    write_rows(tmp_path, "b.json", [{"at": iso(11), "v": 99, "k": "b"}, {"at": iso(12), "v": 99}, {"at": iso(20)}])
    for _ in range(2):
        with pytest.raises(
            ConstraintBroken, match=r"stages.sums: a result breaks the constraint unexpected_rows\(mean"
        ):
            run(made, spark, once=True)
    assert [row["total"] for row in table(spark, tmp_path, "current").collect()] == [5]
    run(free, spark, once=True)
    assert sorted(row["total"] for row in table(spark, tmp_path, "panes").collect()) == [5, 99, 100]
    quarantine(made, spark, "rows", "b.json")
    (result,) = backfill(made, spark, START, START + DAY)
    assert (result.changed, result.retracted) == (1, 1)
    assert sorted(row["total"] for row in table(spark, tmp_path, "current").collect()) == [1, 5]
