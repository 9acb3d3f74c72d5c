"""Two stages over real flights, as conf/pipelines/aircraft.yaml has them: sessions of aircraft, then how long they are.

The stream retracts sessions that merge; what comes out is what a backfill into a lake of its own gives, and what plain
Python finds.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from demo.flights import write_landing_files
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR, parse_time
from windrow.store.delta.location import Lake
from windrow.testing.panes import panes

FILE = Path(__file__).parents[2] / "conf/pipelines/aircraft.yaml"
DAYS = 4
GAP = 12 * HOUR

Bouts = dict[tuple[str, str, int, int], int]


def expected(folder: Path) -> Bouts:
    """The sessions of each aircraft, and how many flights are in each."""
    times: dict[tuple[str, str], list[int]] = defaultdict(list)
    for path in folder.iterdir():
        for row in map(json.loads, path.read_text().splitlines()):
            if row["departed_at"] is not None and row["tailnum"] is not None:
                times[row["carrier"], row["tailnum"]].append(parse_time(row["departed_at"]))
    found: Bouts = {}
    for (carrier, tailnum), several in times.items():
        bout: list[int] = []
        for at in sorted(several):
            if bout and at >= bout[-1] + GAP:
                found[carrier, tailnum, bout[0], bout[-1] + GAP] = len(bout)
                bout = []
            bout.append(at)
        found[carrier, tailnum, bout[0], bout[-1] + GAP] = len(bout)
    return found


def check_panes(spark: SparkSession, alone: Pipeline, made: Pipeline) -> None:
    """The panes of the rows that landed are what a backfill over them has published, and so are the dead letters."""
    lake = Lake.of(alone.lake)
    found = panes(alone, lake.table("departures", "raw").read(spark))
    for name, of_stage in found.items():
        current = lake.table(name, "current").read(spark).select(*of_stage.results.columns)
        assert current.exceptAll(of_stage.results).isEmpty() and of_stage.results.exceptAll(current).isEmpty(), name
    dead = Lake.of(made.lake).table("departures", "dead_letters").read(spark)  # a landing alone writes none
    ours = found["bouts"].dead_letters.select("reason", "rule", "event_time", "element", "source")
    assert not dead.isEmpty() and dead.select(*ours.columns).exceptAll(ours).isEmpty()
    assert found["bouts"].counts()["dead_rows"] == dead.count() == ours.count()


@pytest.mark.long
def test_the_stream_of_both_stages_is_their_backfill(spark, tmp_path: Path) -> None:
    files = write_landing_files(tmp_path / "all", hours_per_file=24)[:DAYS]
    folder = tmp_path / "data"
    folder.mkdir()
    for file in files:
        file.rename(folder / file.name)
    settings = {"sources.departures.files.path": str(folder)}
    made = Pipeline.from_yaml(FILE, {**settings, "lake": str(tmp_path / "lake")})
    alone = Pipeline.from_yaml(FILE, {**settings, "lake": str(tmp_path / "alone")})
    run(made, spark, drain=True)
    for source in alone.sources:
        Landing(spark, source, Lake.of(alone.lake)).run()
    backfill(alone, spark, parse_time("2012-12-01"), parse_time("2014-01-01"), whole=True)

    assert all(one.equal and one.windows for one in reconcile(made, spark))
    for stage in made.stages:
        columns = [*stage.keys, "window_start", "window_end", *stage.result_columns]
        ours, theirs = (Lake.of(lake).table(stage.name, "current").read(spark) for lake in (made.lake, alone.lake))
        assert ours.select(*columns).exceptAll(theirs.select(*columns)).isEmpty(), stage.name
        assert theirs.select(*columns).exceptAll(ours.select(*columns)).isEmpty(), stage.name
    check_panes(spark, alone, made)
    bouts = Lake.of(made.lake).table("bouts", "current").read(spark)
    rows = bouts.selectExpr("carrier", "tailnum", "unix_micros(window_start)", "unix_micros(window_end)", "flights")
    assert {tuple(row)[:4]: row["flights"] for row in rows.collect()} == expected(folder)
    panes = Lake.of(made.lake).table("bouts", "panes").read(spark)
    assert not panes.where("weight < 0").isEmpty(), "sessions grew after they had been shown"
