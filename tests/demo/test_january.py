"""January's flights by the schedule of their pipeline: files appear by arrival, and the run of each day waits.

The steps of the DAG are made in process, one run at a time, as Airflow makes them: a run that waits is made again when
the next file has appeared.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from demo.airflow import arrive, new_project
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import WindowsWait
from windrow.spec.pipelines.loading import load
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import micros_of

pytestmark = pytest.mark.long

DAYS = 31
DAY = timedelta(days=1)


def day_of(made: Pipeline, spark, day: datetime, clock: datetime) -> bool:
    """Whether the run of the interval that starts with this day has published; else it waits."""
    work = PipelineWork.open(made, spark, clock=lambda: micros_of(clock))
    steps = Backfill(work, f"day-{day:%d}", micros_of(day), micros_of(day + DAY), waits=True)
    try:
        steps.land()
        steps.gate_rows()
        steps.compute()
    except WindowsWait as waits:
        assert "have not expired" in str(waits)
        return False
    steps.gate_results()
    steps.publish()
    return True


def test_every_day_is_published_when_it_is_over_and_equals_the_stream(spark, tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", 0)
    made = load(project / "conf" / "pipelines" / "flights.yaml", project=project)
    first = datetime(2013, 1, 1, 3, tzinfo=UTC)
    runs, waited, published = deque[datetime](), 0, []
    for day in range(DAYS + 1):
        arrive(project, 1)
        if day < DAYS:
            runs.append(first + day * DAY)
        while runs:
            if not day_of(made, spark, runs[0], clock=first + (day + 1) * DAY):
                waited += 1
                break
            published.append(runs.popleft())
        assert all(stage.adds_up for stage in status(made, spark)[1])
    assert waited >= DAYS - 2 and len(published) >= DAYS - 2
    end = f"timestamp '{published[-1] + DAY:%Y-%m-%d %H:%M:%S}'"
    streamed = load(project / "conf" / "pipelines" / "flights.yaml", {"lake": str(tmp_path / "streamed")}, project)
    run(streamed, spark, once=True)
    for stage in made.stages:
        columns = [*stage.keys, "window_start", "window_end", *stage.result_columns]
        ours, theirs = (
            spark.read.format("delta").load(f"{one.lake}/{stage.name}/current").where(f"window_start < {end}")
            for one in (made, streamed)
        )
        assert ours.where("NOT is_last").isEmpty()
        ours, theirs = ours.select(*columns), theirs.where(f"window_start >= '{first:%Y-%m-%d %H:%M:%S}'")
        theirs = theirs.select(*columns)
        assert ours.exceptAll(theirs).isEmpty() and theirs.exceptAll(ours).isEmpty() and not ours.isEmpty(), stage.name
    assert all(found.equal and found.late_rows == 0 for found in reconcile(made, spark))
