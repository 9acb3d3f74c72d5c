"""Late rows are restated: only their windows are computed again, and what is not expired yet waits."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import windrow
from tests.cli.test_wrong_input import write
from tests.lake import BEHIND, content, iso, judged, pipeline, table, write_files
from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.report import report_of_run
from windrow.drivers.inspect.reports.index import index_in
from windrow.drivers.inspect.telling.late import late_rows_in
from windrow.drivers.inspect.telling.runs import published_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import joined_spans, restate
from windrow.drivers.recompute.run import Run
from windrow.drivers.recompute.scope.request import Mode
from windrow.drivers.stream.stream import run
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import HOUR, parse_time
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.reports.parts import State

FILES = 3
START = parse_time("2024-01-01T00:00:00Z")
FAR = 6 * 3600
"""Seconds behind the first files."""


def write_row(root: Path, name: str, at: int, arrived: int) -> None:
    row = {"k": "a", "v": 100, "d": 1, "at": iso(at), "arrived": iso(arrived)}
    (root / "data").mkdir(exist_ok=True)
    path = root / "data" / name
    path.write_text(json.dumps(row) + "\n")
    os.utime(path, (1_700_000_000 + arrived, 1_700_000_000 + arrived))


def late(spark, root: Path):
    return table(spark, root, "dead_letters").where("reason IN ('late', 'closed')")


def restated(spark, root: Path) -> set[int | None]:
    return {row["restated_by"] for row in late(spark, root).collect()}


def test_late_rows_are_restated_once(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    assert windrow("reconcile", write(tmp_path, allowed_lateness="0s")).code == 1
    (before,) = reconcile(made, spark)
    shown = content(spark, tmp_path, "panes")
    (dry,) = restate(made, spark, dry_run=True)
    assert dry.rows == before.late_rows and dry.backfilled is not None and dry.backfilled.tick is None
    assert content(spark, tmp_path, "panes") == shown and restated(spark, tmp_path) == {None}
    done = windrow("restate", tmp_path / "pipeline.yaml")
    assert done.code == 0 and f"sums: {before.late_rows} late rows in" in done.out and "; tick" in done.out, done.err
    last = table(spark, tmp_path, "ticks").orderBy("tick").collect()[-1]
    assert last["kind"] == "restatement" and restated(spark, tmp_path) == {last["tick"]}
    panes = table(spark, tmp_path, "panes").where(f"tick = {last['tick']} AND weight > 0").collect()
    assert {(row["trigger"], row["timing"], row["is_last"], row["change"]) for row in panes} == {
        ("backfill", "late", True, "insert")
    }
    assert windrow("reconcile", tmp_path / "pipeline.yaml").code == 0
    assert "sums: no late rows to restate" in windrow("restate", tmp_path / "pipeline.yaml").out
    assert table(spark, tmp_path, "ticks").count() == last["tick"]


@pytest.mark.long
def test_what_lies_between_late_windows_is_not_computed(spark, tmp_path: Path) -> None:
    """Two late rows half an hour apart; of the windows between them none is touched."""
    made = pipeline(tmp_path, allowed_lateness="0s")
    for number in range(5):
        write_row(tmp_path, f"{number:03}.json", number * 600, number * 600)
    write_row(tmp_path, "100.json", 1, FAR)
    write_row(tmp_path, "101.json", 3 * 600 + 1, FAR)
    run(made, spark, once=True, drain=True)
    (result,) = restate(made, spark)
    assert (result.rows, result.windows, result.spans) == (2, 2, 2)
    assert result.backfilled is not None and (result.backfilled.windows, result.backfilled.changed) == (2, 2)
    (after,) = reconcile(made, spark)
    assert after.equal and after.late_rows == 0 and after.windows == 5


def test_windows_that_are_open_wait_and_are_named(spark, tmp_path: Path) -> None:
    """Rows that were closed out of a window that has not expired, and later of one that has."""
    closing = {"trigger": {"after_count": 4}, "allow_closing": True, "allowed_lateness": "10m"}
    made = pipeline(tmp_path, **closing)
    write_files(tmp_path / "data", range(2))
    run(made, spark, once=True)
    (result,) = restate(made, spark)
    assert result.backfilled is None and result.rows == 0
    assert result.waiting is not None and result.waiting.rows == late(spark, tmp_path).count() > 0
    done = windrow("restate", write(tmp_path, **closing))
    assert done.code == 0 and "no late rows to restate" in done.out
    first = min(row["window_start"] for row in late(spark, tmp_path).collect())
    assert "late rows wait until window" in done.out and f"{first:%Y-%m-%d %H:%M}" in done.out
    assert restated(spark, tmp_path) == {None}
    run(made, spark, once=True, drain=True)
    (result,) = restate(made, spark)
    assert result.waiting is None and result.backfilled is not None and result.backfilled.tick is not None
    assert restated(spark, tmp_path) == {result.backfilled.tick}
    assert reconcile(made, spark)[0].late_rows == 0


@pytest.mark.long
def test_rows_of_a_quarantined_file_are_not_restated(spark, tmp_path: Path) -> None:
    """Neither by a backfill that finds nothing else to do, nor for ever by one restatement after the other."""
    made = pipeline(tmp_path, allowed_lateness="0s")
    for name, at, arrived in (("a", 0, 0), ("b", 600, 600), ("bad", 1, 601), ("z", 1400, 1400), ("good", 601, 1401)):
        write_row(tmp_path, f"{name}.json", at, arrived)
    run(made, spark, once=True, drain=True)
    assert late(spark, tmp_path).count() == 2
    quarantine(made, spark, "clicks", "bad.json")
    (result,) = backfill(made, spark, START, parse_time("2024-01-01T01:05:00Z"))
    assert result.tick is None and restated(spark, tmp_path) == {None}
    (result,) = restate(made, spark)
    assert (result.rows, result.windows) == (1, 1)
    (again,) = restate(made, spark)
    assert (again.rows, again.backfilled) == (0, None)
    restated_by = {row["offset"].rsplit("/", 1)[-1]: row["restated_by"] for row in late(spark, tmp_path).collect()}
    assert restated_by["bad.json"] is None
    assert all(tick is not None for name, tick in restated_by.items() if name != "bad.json")
    assert reconcile(made, spark)[0].equal and reconcile(made, spark)[0].late_rows == 0


@contextmanager
def killed_behind_a_commit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A try of a run that ends when it has committed, and before it has kept what it has published."""
    record = Run.record

    def killed(self: Run, step: str, *found: object) -> None:
        if step == "publish":
            raise InterruptedError
        record(self, step, *found)

    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(Run, "record", killed)
        yield


def test_what_a_named_run_has_restated_stands_in_the_audits(spark, tmp_path: Path, monkeypatch) -> None:
    """Also where a try was killed behind its commit, and the next one finds nothing to do."""
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    lake, tables = Lake.of(made.lake), ArrowTables()
    (found,) = late_rows_in(tables, lake, ["sums"])
    assert found.rows == late(spark, tmp_path).count() and published_in(tables, lake, "night") == []

    with killed_behind_a_commit(monkeypatch):
        restate(made, spark, run="night")
    assert late_rows_in(tables, lake, ["sums"]) == [] and published_in(tables, lake, "night") == []
    (result,) = restate(made, spark, run="night")
    assert result.backfilled is None
    (published,) = published_in(tables, lake, "night")
    tick = table(spark, tmp_path, "ticks").orderBy("tick").collect()[-1]["tick"]
    assert (published.stage, published.tick) == ("sums", tick) and published.start < published.end
    assert published.inserted + published.changed > 0
    assert not list((tmp_path / "lake" / "_windrow" / "staging").rglob("*.parquet"))


def test_what_a_killed_backfill_has_published_is_known_when_it_begins_anew(spark, tmp_path: Path, monkeypatch) -> None:
    """The first task of a run that is cleared lands again, and finds that nothing is left to change."""
    write_files(tmp_path / "data", range(FILES))
    made = pipeline(tmp_path)

    def steps(*names: str) -> None:
        run = Backfill(PipelineWork.open(made, spark), "monday", START, START + HOUR, mode=Mode.WHOLE)
        for name in names:
            getattr(run, name)()

    with killed_behind_a_commit(monkeypatch):
        steps("land", "publish")
    steps("land", "publish")
    (published,) = published_in(ArrowTables(), Lake.of(made.lake), "monday")
    assert (published.stage, published.inserted) == ("sums", table(spark, tmp_path, "current").count())


TOTALS = {
    "name": "totals", "from": "sums", "keys": ["k"], "window": {"fixed": {"size": "60s"}},
    "accumulation": "retracting", "aggregates": {"num": {"sum": "num"}},
}  # fmt: skip


@pytest.mark.parametrize("name", ["night", pytest.param(None, marks=pytest.mark.long)])
def test_one_run_tells_of_the_stages_in_front_and_behind(spark, tmp_path: Path, name: str | None) -> None:
    """What was corrected in front comes behind in the same run: one page, and what both have published."""
    write_files(tmp_path / "data", range(FILES))
    (tmp_path / BEHIND).write_text(json.dumps([TOTALS]))
    made = pipeline(tmp_path, allowed_lateness="0s")
    run(made, spark, once=True, drain=True)
    results = restate(made, spark, run=name)
    assert [result.backfilled is not None for result in results] == [True, True]
    report = report_of_run(ArrowTables(), made, name or "last", None, None)
    published = published_in(ArrowTables(), Lake.of(made.lake), report.run)
    assert [one.stage for one in published] == ["sums", "totals"]
    assert report.state is State.PUBLISHED and report.outcome == "Published: sums, totals."
    assert [(one.stage, one.tick) for one in report.stages] == [(one.stage, one.tick) for one in published]
    assert (report.start, report.end) == (min(one.start for one in published), max(one.end for one in published))
    assert {diff.stage for diff in report.changed} == {"sums", "totals"}
    assert [step.step for step in report.steps].count("begin") == 1
    (line,) = index_in(ArrowTables(), made).runs
    assert (line.run, line.start, line.end) == (report.run, report.start, report.end)


@pytest.mark.long
def test_a_gate_stops_a_restatement(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(FILES))
    made = judged(tmp_path)
    run(made, spark, once=True, drain=True)
    suite = tmp_path / "sums.yaml"
    suite.write_text(suite.read_text().replace("min_value: 1", "max_value: 0"))
    before = table(spark, tmp_path, "ticks").count()
    with pytest.raises(GateFailed):
        restate(made, spark)
    assert table(spark, tmp_path, "ticks").count() == before and restated(spark, tmp_path) == {None}
    judged(tmp_path)
    (result,) = restate(made, spark)
    assert result.backfilled is not None and result.backfilled.tick == before + 1


def test_the_nearest_spans_become_one() -> None:
    spans = [(0, 10), (100, 110), (120, 130), (500, 510)]
    assert joined_spans(spans, 4) == tuple(spans)
    assert joined_spans(spans, 3) == ((0, 10), (100, 130), (500, 510))
    assert joined_spans(spans, 2) == ((0, 130), (500, 510))
    assert joined_spans(spans, 1) == ((0, 510),)
