"""Every command on a small lake, in this process and session: what it prints, and its exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

import windrow as package
from jobs.backfill import main as backfill_job
from tests.cli.command import Result, windrow
from tests.cli.test_wrong_input import refused, write
from tests.lake import POISON, ROWS, table, write_files
from windrow.drivers.stream import stream
from windrow.store.delta.log.retries import StepTaken
from windrow.store.reading import arrow

FILES = 2
DAY = ("--from", "2024-01-01", "--to", "2024-01-02")


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory) -> Path:
    """A lake over all files, drained; the lateness is so short that some rows are late."""
    root = tmp_path_factory.mktemp("cli")
    write_files(root / "data", range(FILES))
    done = windrow("run", write(root, allowed_lateness="0s"), "--drain")
    assert done.code == 0 and done.err == ""
    first, *lines = done.out.splitlines()
    assert first.split()[:3] == ["stage", "tick", "watermark"]
    assert [line.split()[:2] for line in lines[: FILES + 1]] == [["sums", str(tick + 1)] for tick in range(FILES + 1)]
    assert "the end of time" in lines[FILES]
    assert f"sums: {FILES + 1} ticks, {FILES * (ROWS + POISON)} rows" in lines[-1]
    return root


def on(lake: Path, command: str, *arguments: str) -> Result:
    return windrow(command, lake / "pipeline.yaml", *arguments)


def test_a_second_run_has_nothing_to_do(lake: Path) -> None:
    done = on(lake, "run", "--once")
    assert (done.code, done.out.strip()) == (0, "nothing new")


def test_plan_knows_the_last_run(lake: Path) -> None:
    assert "means the same; generation 1 goes on" in on(lake, "plan").out
    changed = on(lake, "plan", "--set", "stages.sums.window.fixed.size=1m").out
    assert "--from-start" in changed and "stage.window.fixed.size: 30s -> 1m" in changed


def test_a_changed_fingerprint_is_refused(lake: Path) -> None:
    changed = on(lake, "run", "--once", "--set", "stages.sums.window.fixed.size=1m")
    refused(changed, "stages.sums means something else", "30s -> 1m", "--from-start")


def test_status_adds_up(lake: Path) -> None:
    done = on(lake, "status", "--json")
    (source,), (stage,) = done.json["sources"], done.json["stages"]
    assert source["rows"] == stage["read"] == FILES * (ROWS + POISON) and source["files"] == FILES
    assert stage["dead"] == {"unreadable": 2 * FILES, "bad_timestamp": FILES, "bad_expression": FILES}
    assert stage["in_windows"] == FILES * ROWS and stage["adds_up"]
    assert stage["late"] > 0 and stage["aggregated"] == stage["assigned"] - stage["late"] - stage["closed"]
    assert stage["open_cells"] == stage["batches_behind"] == 0 and stage["watermark"] == "max"
    text = on(lake, "status").out
    assert f"{FILES * (ROWS + POISON)} read = {FILES * ROWS} in windows + 0 filtered" in text
    assert "does not add up" not in text


def test_metrics_say_what_status_says(lake: Path) -> None:
    """As Prometheus parses them."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    (stage,) = on(lake, "status", "--json").json["stages"]
    done = on(lake, "metrics")
    assert (done.code, done.err) == (0, "")
    samples = [one for family in text_string_to_metric_families(done.out) for one in family.samples]
    panes = {one.labels["timing"]: one.value for one in samples if one.name == "windrow_stage_panes_total"}
    assert panes == stage["timings"]
    (late,) = (
        one.value for one in samples if one.name == "windrow_stage_pairs_total" and one.labels["place"] == "late"
    )
    assert late == stage["late"] > 0
    assert not [one for one in samples if one.name == "windrow_stage_watermark_age_seconds"], "it is at the end of time"
    phases = {one.labels["phase"]: one.value for one in samples if one.name == "windrow_stage_tick_seconds"}
    assert phases and all(0 <= seconds < 600 for seconds in phases.values())


def test_lineage_of_the_stream(lake: Path) -> None:
    start, runs = map(json.loads, on(lake, "lineage", "--run", "stream").out.splitlines())
    assert (start["eventType"], runs["eventType"]) == ("START", "RUNNING") and start["run"] == runs["run"]
    shown = {one["name"].rpartition("/")[2]: one.get("outputFacets") for one in runs["outputs"]}
    (stage,) = on(lake, "status", "--json").json["stages"]
    assert shown["panes"]["outputStatistics"]["rowCount"] == sum(stage["timings"].values())
    refused(on(lake, "lineage", "--run", "nobody"), "--run has left nothing in this lake", '"nobody"')


def test_show_has_the_rows_of_a_key(lake: Path) -> None:
    every = on(lake, "show", "sums", "--json", "--limit", "1000").json
    nulls = on(lake, "show", "sums", "--json", "--key", "k=null").json
    assert {row["k"] for row in every} == {"a", "b", None} and {row["k"] for row in nulls} == {None}
    (inside,) = on(lake, "show", "sums", "--json", "--key", "a", "--at", "2024-01-01T01:00:45Z").json
    assert inside["window_start"] == "2024-01-01 01:00:30+00:00" and inside["num"] > 0
    text = on(lake, "show", "sums", "--limit", "2").out
    assert f"the last 2 of {len(every)} rows" in text and "2024-01-01 01:0" in text and "twice" in text
    panes = on(lake, "show", "sums", "--panes", "--key", "k=a").out
    assert "update_preimage" in panes and "at_watermark" in panes


@pytest.mark.parametrize(
    "options",
    [{}, {"keys": {"k": "null"}}, {"panes": True, "keys": {"k": "a"}}, {"panes": True, "at": "2024-01-01T01:00:45Z"}],
    ids=str,
)
def test_show_is_the_same_without_spark(spark, lake: Path, options: dict[str, Any], monkeypatch) -> None:
    made = package.load(lake / "pipeline.yaml")
    without = package.show(made, None, "sums", limit=7, **options)
    monkeypatch.setattr(arrow, "SCHEMES", frozenset())
    assert without.rows and without == package.show(made, spark, "sums", limit=7, **options)


def test_late_rows_fail_a_comparison_until_a_backfill_takes_them_in(lake: Path) -> None:
    assert on(lake, "reconcile").code == 1
    allowed = on(lake, "reconcile", "--allow-late")
    assert allowed.code == 0 and "sums: stream and batch are equal but for" in allowed.out
    assert "nothing committed (dry run)" in on(lake, "backfill", *DAY, "--dry-run").out
    with pytest.raises(SystemExit) as ended:
        backfill_job([str(lake / "pipeline.yaml"), *DAY])
    assert not ended.value.code
    again = on(lake, "backfill", *DAY)
    assert again.code == 0 and "no differences, nothing committed" in again.out
    equal = on(lake, "reconcile")
    assert (equal.code, equal.err) == (0, "") and "stream and batch are equal:" in equal.out


def test_a_table_that_somebody_changed_is_found(spark, lake: Path) -> None:
    from delta.tables import DeltaTable

    current = DeltaTable.forPath(spark, f"{lake}/lake/sums/current")
    current.update("k = 'b'", {"total": "total + 1"})
    try:
        done = on(lake, "reconcile")
        changed = table(spark, lake, "current").where("k = 'b'").count()
        assert done.code == 1 and f"differ in {changed} windows" in done.out
        assert on(lake, "reconcile", "--json").json[0]["number_differing"] == changed
    finally:
        current.update("k = 'b'", {"total": "total - 1"})


def test_open_windows_are_not_backfilled(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(1))
    path = write(tmp_path)
    assert windrow("run", path, "--once").code == 0
    done = windrow("backfill", path, *DAY)
    assert done.code == 0 and "have not expired, not published: the watermark stands at" in done.out
    refused(windrow("backfill", path, *DAY, "--whole"), "stages.sums window", "is open in the stream")
    refused(windrow("backfill", path, *DAY, "--whole", "--early"), "--early does not go with --whole")


def test_files_that_are_not_there(spark, tmp_path: Path) -> None:
    refused(windrow("run", write(tmp_path), "--once"), "the files of a source must be there", str(tmp_path / "data"))


def test_a_second_writer_is_said_in_plain_words(spark, tmp_path: Path, monkeypatch) -> None:
    def taken(*arguments: object, **options: object) -> None:
        raise StepTaken("lake/sums/journal/1", 4, None)

    monkeypatch.setattr(stream, "run", taken)
    done = windrow("run", write(tmp_path), "--once")
    assert done.code == 1 and "another writer is at work on this lake: step 4" in done.err and "Hint: " in done.err


CASES = """
case: {name}
stage: {{window: {{fixed: {{size: 1m}}}}, aggregates: {{n: {{count: "*"}}}}{more}}}
elements: {{v: long}}
steps:
  - {{add: [{{at: "12:00", v: 1}}], watermark: "12:00"}}
  - {{watermark: "12:05", expect: [{{window: ["12:00", "12:01"], n: {n}}}]}}
"""
NOT_BUILT = ", explode: {item: items}, trigger: {after_watermark: {}}, allowed_lateness: 1m, allow_closing: true"


def test_transcripts_pass_fail_and_are_refused_by_name(spark, tmp_path: Path) -> None:
    passes = CASES.format(name="passes", more="", n=1)
    later = CASES.format(name="later", more=NOT_BUILT, n=1)
    fails = CASES.format(name="fails", more="", n=2)
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(f"{passes}---{later}")
    bad.write_text(fails)
    done = windrow("check", good)
    assert done.code == 0 and "2 cases: 1 passed, 0 failed, 1 refused (not in this version)" in done.out
    assert "refused  later: stage.explode with a trigger that can finish too soon" in done.out
    done = windrow("check", good, bad)
    assert done.code == 1 and "failed   fails" in done.out and "steps[1]" in done.out
    assert [case["outcome"] for case in windrow("check", bad, "--json").json] == ["failed"]


def test_one_batch_in_a_notebook(spark) -> None:
    stage = package.Stage(
        "hourly",
        keys=["k"],
        window=package.FixedWindows(size="1h"),
        aggregates={"total": package.Sum("v")},
        derive={"twice": "total * 2"},
    )
    rows = [("a", 1, "2024-01-01T00:10:00Z"), ("a", 2, "2024-01-01T00:59:59Z"), (None, 5, "2024-01-01T01:00:00Z")]
    frame = spark.createDataFrame([*rows, ("a", 9, "no time")], "k string, v long, at string")
    found = package.panes(stage, frame, package.TimeColumn("at", format="iso8601"))
    result = found.results
    assert result.columns == ["k", "window_start", "window_end", "total", "twice"]
    shown = {(row.k, row.window_start.hour, row.window_end.hour, row.total, row.twice) for row in result.collect()}
    assert shown == {("a", 0, 1, 3, 6), (None, 1, 2, 5, 10)}
    assert [row.reason for row in found.dead_letters.collect()] == ["bad_timestamp"]
