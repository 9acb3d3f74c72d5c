"""Five windows of the flights, chosen by a rule: each number of their explanations against DuckDB over the files.

One with elements that came late, one with nothing in it, one that was restated, one of a chain, one with a dead row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from pyspark.sql import SparkSession

import windrow
from demo.flights import write_landing_files
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR
from windrow.view.explain.life import IN_RESULT, Life

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
DAYS = 10
PER_FILE = 8
COLUMNS = "{carrier: 'VARCHAR', flight: 'BIGINT', tailnum: 'VARCHAR', origin: 'VARCHAR', departed_at: 'VARCHAR', " \
    "arrived_at: 'VARCHAR', dep_delay: 'BIGINT', distance: 'BIGINT'}"  # fmt: skip
HOUR_OF_A = f"f.a // {HOUR} * {HOUR}"
LEFT_IN_IT = (
    "(SELECT 1 FROM f AS g WHERE g.origin = f.origin AND g.carrier = f.carrier "
    f"AND g.t >= {HOUR_OF_A} AND g.t < {HOUR_OF_A} + {HOUR})"
)
"""Others of the airline left in the hour in which a flight arrived."""


def read(name: str, lake: Path, files: Path, **stage: str) -> Pipeline:
    """A pipeline of the project over these files, without its suites; `stage` replaces fields of its first stage."""
    mapping = yaml.safe_load((ROOT / "conf" / "pipelines" / f"{name}.yaml").read_text())
    mapping.pop("schedule", None)
    for one in (*mapping["sources"], *mapping["stages"]):
        one.pop("quality", None)
    mapping["lake"] = str(lake)
    mapping["sources"][0]["files"]["path"] = str(files)
    mapping["stages"][0].update(stage)
    return Pipeline.from_mapping(mapping)


@dataclass(frozen=True)
class Flights:
    """The files, and two lakes: of hours with little lateness and a restatement, and of a chain that was drained."""

    files: Path
    hours: Pipeline
    chain: Pipeline

    def sql(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """Over `f`, the rows of the files, with `t`, the departure in microseconds, and the file of each."""
        rows = f"read_json('{self.files}/*.json', columns = {COLUMNS}, format = 'newline_delimited', filename = true)"
        with_times = (
            f"SELECT *, epoch_us(departed_at::TIMESTAMPTZ) AS t, epoch_us(arrived_at::TIMESTAMPTZ) AS a FROM {rows}"
        )
        return duckdb.execute(f"WITH f AS ({with_times}) {query}", values or None).fetchall()

    def panes(self, made: Pipeline, stage: str) -> Any:
        return made.table(stage).arrow("panes")


@pytest.fixture(scope="module")
def flights(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Flights:
    root = tmp_path_factory.mktemp("flights")
    for path in write_landing_files(root / "data", hours_per_file=PER_FILE)[DAYS * 24 // PER_FILE :]:
        path.unlink()
    hours = read("flights", root / "hours", root / "data", allowed_lateness="3h")
    run(hours, spark, once=True)
    restate(hours, spark, stage="departures_hourly")
    chain = read("aircraft", root / "chain", root / "data")
    run(chain, spark, drain=True)
    return Flights(root / "data", hours, chain)


def test_one_with_late_elements(flights: Flights) -> None:
    """The window with the most panes; of equals the first by start and key."""
    found = duckdb_over(flights.panes(flights.hours, "departures_hourly"))(
        "SELECT origin, carrier, epoch_us(window_start) FROM panes WHERE timing = 'late' AND trigger <> 'backfill' "
        "AND weight > 0 GROUP BY ALL ORDER BY count(*) DESC, 3, 1, 2 LIMIT 1"
    )
    life = right(flights, *found[0])
    assert any(pane.timing == "late" for pane in life.panes)


def test_one_that_is_empty(flights: Flights) -> None:
    """The first hour in which an airline has only cancelled flights that it had scheduled to leave then."""
    ((origin, carrier, start),) = flights.sql(
        f"SELECT origin, carrier, {HOUR_OF_A} AS h FROM f WHERE t IS NULL AND NOT EXISTS {LEFT_IN_IT} "
        "ORDER BY h, origin, carrier LIMIT 1"
    )
    life = explained(flights.hours, "departures_hourly", {"origin": origin, "carrier": carrier}, start)
    assert not life.panes and life.missing[0] == "no row of this key fell into the window"
    assert any(e.place == "bad_timestamp" for e in life.elements)


def test_one_that_was_restated(flights: Flights) -> None:
    """The first by start and key that a restatement has changed."""
    found = duckdb_over(flights.panes(flights.hours, "departures_hourly"))(
        "SELECT origin, carrier, epoch_us(window_start) FROM panes WHERE trigger = 'backfill' ORDER BY 3, 1, 2 LIMIT 1"
    )
    life = right(flights, *found[0])
    assert life.corrections and any(e.restated_by for e in life.elements)


def test_one_with_a_dead_row(flights: Flights) -> None:
    """The hour of arrival of the first cancelled flight whose airline had others leave in that hour."""
    ((origin, carrier, start),) = flights.sql(
        f"SELECT origin, carrier, {HOUR_OF_A} AS h FROM f WHERE t IS NULL AND EXISTS {LEFT_IN_IT} "
        "ORDER BY a, origin, carrier LIMIT 1"
    )
    life = right(flights, origin, carrier, start)
    dead = [e for e in life.elements if e.place == "bad_timestamp"]
    until = max(tick.processing_time or 0 for tick in life.ticks)
    files = flights.sql(
        "SELECT filename FROM f WHERE t IS NULL AND origin = $origin AND carrier = $carrier "
        "AND a >= $start AND a < $until",
        origin=origin, carrier=carrier, start=start, until=until,
    )  # fmt: skip
    assert dead and sorted(Path(str(e.offset)).name for e in dead) == sorted(Path(name).name for (name,) in files)
    assert any("is a dead letter `bad_timestamp`" in said and ".json" in said for said in life.missing)


def test_one_of_a_chain(flights: Flights) -> None:
    """The week and airline with the most panes: down to the bouts that it counts, and these down to their flights."""
    found = duckdb_over(flights.panes(flights.chain, "bouts_weekly"))(
        "SELECT carrier, epoch_us(window_start) FROM panes GROUP BY ALL ORDER BY count(*) DESC, 2, 1 LIMIT 1"
    )
    carrier, start = found[0]
    life = explained(flights.chain, "bouts_weekly", {"carrier": carrier}, start)
    standing = [one for one in life.upstream if one.panes and one.panes[-1].change != "delete"]
    last = [pane for pane in life.panes if pane.weight > 0][-1]
    assert last.value["bouts"] == len(standing)
    assert last.value["flights"] == sum(one.panes[-1].value["flights"] for one in standing)
    bout = max(standing, key=lambda one: (len(one.panes), one.window, str(one.key)))
    below = explained(flights.chain, "bouts", {k: str(v) for k, v in bout.key.items()}, bout.window[0])
    assert below.window == bout.window
    ((number, miles),) = flights.sql(
        "SELECT count(*), sum(distance) FROM f WHERE carrier = $carrier AND tailnum = $tailnum "
        "AND t >= $start AND t < $end",
        **bout.key, start=bout.window[0], end=bout.window[1],
    )  # fmt: skip
    shown = [pane for pane in below.panes if pane.weight > 0][-1]
    assert (shown.value["flights"], shown.value["miles"]) == (number, miles)
    assert sum(e.place == IN_RESULT for e in below.elements) == number
    assert any(one.stage == "bouts_weekly" and one.window == life.window for one in below.behind)


def duckdb_over(panes: Any) -> Any:
    connection = duckdb.connect()
    connection.register("panes", panes)
    return lambda query: connection.execute(query).fetchall()


def explained(made: Pipeline, stage: str, keys: dict[str, str], start: int) -> Life:
    life = windrow.explain(made, stage, keys, start)
    assert list(life.differences) == [], life.text(200)
    return life


def right(flights: Flights, origin: str, carrier: str, start: int) -> Life:
    """The life of an hour, compared with the files: its elements, when they came, and what the last pane shows."""
    life = explained(flights.hours, "departures_hourly", {"origin": origin, "carrier": carrier}, start)
    assert not life.unknown and life.window == (start, start + HOUR)
    rows = flights.sql(
        "SELECT t, a, filename FROM f WHERE origin = $origin AND carrier = $carrier AND t >= $start AND t < $end",
        origin=origin, carrier=carrier, start=start, end=start + HOUR,
    )  # fmt: skip
    elements = [e for e in life.elements if e.event_time is not None]
    told = sorted((e.event_time, e.arrival_time, Path(str(e.offset)).name) for e in elements)
    assert told == sorted((t, a, Path(name).name) for t, a, name in rows)
    ((flights_, delayed, mean, miles),) = flights.sql(
        "SELECT count(*), count(*) FILTER (dep_delay > 15), avg(dep_delay), sum(distance) FROM f "
        "WHERE origin = $origin AND carrier = $carrier AND t >= $start AND t < $end",
        origin=origin, carrier=carrier, start=start, end=start + HOUR,
    )  # fmt: skip
    last = [pane for pane in life.panes if pane.weight > 0][-1]
    left = sum(e.is_late and not e.restated_by for e in elements)
    if left == 0:
        assert (last.value["flights"], last.value["delayed"], last.value["miles"]) == (flights_, delayed, miles)
        assert last.value["mean_delay"] == pytest.approx(mean, rel=1e-9)
    for pane in [pane for pane in life.panes if pane.weight > 0 and pane.trigger != "backfill"]:
        seen = sum(e.place == IN_RESULT and e.tick is not None and e.tick <= pane.tick for e in elements)
        assert pane.value["flights"] == seen
    return life
