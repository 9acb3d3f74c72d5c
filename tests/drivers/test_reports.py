"""What the page of a run tells, read without Spark from what the run has left: also of runs that were stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drivers.test_gates import MANY, POSITIVE, START, pipeline, write_rows
from tests.lake import iso
from windrow.drivers.inspect.report import report_of_run, report_of_stream
from windrow.drivers.inspect.reports.index import index_in
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.restate import restate
from windrow.drivers.recompute.scope.request import Mode
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import DAY
from windrow.store.reading.arrow import ArrowTables
from windrow.view.report import Report
from windrow.view.reports.parts import State


def told(made: Pipeline, name: str = "last") -> Report:
    return report_of_run(ArrowTables(), made, name, None, None)


def test_the_rows_add_up_behind_a_gate_that_stops(spark, tmp_path: Path) -> None:
    """A gate on rows keeps them from being computed, one on results from being published: each row is somewhere."""
    made = pipeline(tmp_path, [{**POSITIVE, "row": True}])
    write_rows(tmp_path, "a.json", [{}, {"v": -5}, {"at": "never"}, {"v": 7}])
    started = Backfill(PipelineWork.open(made, spark), "monday", START, START + DAY, mode=Mode.WHOLE)
    started.land()
    with pytest.raises(GateFailed):
        started.gate_rows()
    report = told(made, "monday")
    parts = [{part.name: part.number for part in one.parts if part.number} for one in report.balances]
    assert parts == [{"good": 2, "bad_timestamp": 1, "rejected": 1}, {"waiting": 2, "rejected": 1}]
    assert all(one.adds_up for one in report.balances) and report.state is State.STOPPED
    assert [step.step for step in report.steps] == ["begin", "landed", "judged", "counted"]

    judged = pipeline(tmp_path, None, [MANY])
    with pytest.raises(GateFailed):
        backfill(judged, spark, START, START + DAY, whole=True)
    report = told(judged)
    (balance,) = report.balances
    assert balance.adds_up and balance.parts[0].name == "waiting" and "not published" in balance.parts[0].why
    (diff,) = report.changed
    assert (diff.here, diff.only_here, diff.windows) == ("staged", 1, 1)
    (window,) = diff.differing
    assert window.there is None and window.here == {"num": 2, "total": 8}
    (stage,) = report.stages
    assert (stage.windows, stage.inserted, stage.tick) == (1, 1, None)


def test_every_backfill_and_restatement_has_a_page_and_a_line_of_the_index(spark, tmp_path: Path) -> None:
    """Without suites too: windows old and new, the figure of the stream, and nothing of a dry run."""
    made = pipeline(tmp_path)
    for name, rows in {"a": [{}, {"v": 5}], "b": [{"at": iso(100)}], "c": [{"at": iso(3), "v": 10}]}.items():
        write_rows(tmp_path, f"{name}.json", rows)
        run(made, spark, once=True)
    stream = report_of_stream(ArrowTables(), made, None, None)
    assert stream.facts["late rows to restate"] == 1 and [step.command for step in stream.next] == [
        "windrow restate FILE"
    ]
    assert all(one.adds_up for one in stream.balances)
    restate(made, spark, dry_run=True)
    assert index_in(ArrowTables(), made).runs == []
    restate(made, spark)
    report = told(made)
    assert report.run.startswith("restatement-") and report.state is State.PUBLISHED and report.next == []
    (diff,) = report.changed
    assert (diff.only_here, diff.only_there, diff.different) == (0, 0, 1)
    (window,) = diff.differing
    assert (window.there, window.here) == ({"num": 2, "total": 6, "mean": 3.0}, {"num": 3, "total": 16, "mean": 16 / 3})
    backfill(made, spark, START, START + DAY)
    again = told(made)
    assert again.state in (State.UNCHANGED, State.WAITING) and again.changed == []
    index = index_in(ArrowTables(), made)
    assert [line.run for line in index.runs] == [again.run, report.run] and index.number == 2
    assert (index.runs[1].changed, index.runs[1].state) == (1, State.PUBLISHED)
    assert report_of_stream(ArrowTables(), made, None, None).next == []
