"""`windrow simulate` over the flights of January, against DuckDB over departures and arrivals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from demo import flights
from windrow.drivers.simulate.simulate import simulate
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, MINUTE, SECOND, parse_duration
from windrow.view.simulate.findings import AGES, Simulation, Suggestion

EVERY = 10 * MINUTE
LATENESS = parse_duration("18h")
TRIED = (
    "{watermark: {bounded_delay: 30m}}",
    "{watermark: {bounded_delay: 6h}}",
    "{name: early, trigger: {after_watermark: {early: {after_count: 3}, late: {after_count: 1}}}}",
    "{name: final, trigger: at_close}",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    found = tmp_path_factory.mktemp("flights")
    flights.write_landing_files(found / "data")
    return Path(found)


def pipeline(folder: Path, **stage: Any) -> Pipeline:
    source = {
        "name": "departures", "files": {"path": str(folder / "data")},
        "schema": "carrier string, origin string, departed_at string, arrived_at string",
        "event_time": {"column": "departed_at", "format": "iso8601"},
        "arrival_time": {"column": "arrived_at", "format": "iso8601"},
        "watermark": {"bounded_delay": "2h", "max_future": "1h"},
    }  # fmt: skip
    made = {
        "name": "hourly", "keys": ["origin", "carrier"], "window": {"fixed": {"size": "1h"}}, "allowed_lateness": "18h",
        "trigger": {"after_watermark": {"late": {"after_count": 1}}}, "accumulation": "retracting",
        "aggregates": {"flights": {"count": "*"}}, **stage,
    }  # fmt: skip
    return Pipeline.from_mapping(
        {"pipeline": "flights", "lake": str(folder / "lake"), "sources": [source], "stages": [made]}
    )


@pytest.fixture(scope="module")
def january(spark, folder: Path) -> Simulation:
    return simulate(pipeline(folder), spark, "hourly", TRIED, EVERY, suggest=["complete=99%", "latency=2h"])


@pytest.fixture(scope="module")
def rows() -> duckdb.DuckDBPyConnection:
    """Flights with a departure: event and arrival in microseconds, window, and the tick that reads them."""
    frame = flights.arrivals()
    found = duckdb.connect()
    found.execute("SET TimeZone = 'UTC'")
    found.register("frame", frame)
    found.execute(
        f"""CREATE TABLE flights AS
        SELECT origin, carrier, epoch_us(departed_at) AS departed, epoch_us(arrived_at) AS arrived,
            epoch_us(departed_at) // 3600000000 * 3600000000 + 3600000000 AS ends,
            epoch_us(arrived_at) // {EVERY} + 1 AS tick
        FROM frame WHERE departed_at IS NOT NULL AND epoch_us(departed_at) <= epoch_us(arrived_at) + 3600000000"""
    )
    return found


def measured(january: Simulation, rows: duckdb.DuckDBPyConnection) -> int:
    """The end of the last measured window: of as many windows as the simulation has measured."""
    ends = rows.execute("SELECT ends, count(DISTINCT (origin, carrier)) FROM flights GROUP BY ends ORDER BY ends")
    number = 0
    for end, windows in ends.fetchall():
        number += windows
        if number == january.findings[0].windows:
            return int(end)
    raise AssertionError("no end has so many windows before it")


def test_nothing_is_written(january: Simulation, folder: Path) -> None:
    assert january.rows == len(flights.arrivals())
    assert not (folder / "lake").exists()


def test_completeness_is_that_of_departures_and_arrivals(january: Simulation, rows: duckdb.DuckDBPyConnection) -> None:
    until = measured(january, rows)
    ((_, arrival),) = january.arrivals
    for number, age in enumerate(AGES):
        pairs, shown = rows.execute(
            f"SELECT count(*), count(*) FILTER (arrived <= ends + {age * SECOND}) FROM flights WHERE ends <= {until}"
        ).fetchall()[0]
        assert arrival.pairs == pairs
        assert arrival.elements[number] == (age, shown / pairs)
        windows, complete = rows.execute(
            f"""SELECT count(*), count(*) FILTER (last <= ends + {age * SECOND}) FROM (
                SELECT ends, max(arrived) AS last FROM flights WHERE ends <= {until} GROUP BY origin, carrier, ends)"""
        ).fetchall()[0]
        assert arrival.complete[number] == (age, complete / windows)


def right_at_first(rows: duckdb.DuckDBPyConnection, until: int, delay: int) -> int:
    """Windows whose last flight had landed before the latest departure seen was the delay past their end.

    Those whose flights landed in one tick are right as well, if that was within 18 hours: nothing was shown before.
    """
    return int(
        rows.execute(
            f"""WITH seen AS (SELECT tick, max(departed) AS latest FROM flights GROUP BY tick),
            before AS (SELECT tick, max(latest) OVER (
                ORDER BY tick ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest FROM seen),
            windows AS (
                SELECT ends, max(tick) AS tick, min(tick) AS first FROM flights WHERE ends <= {until}
                GROUP BY origin, carrier, ends),
            ahead AS (SELECT *, coalesce(latest, -1) - {delay} - ends AS ahead FROM windows JOIN before USING (tick))
            SELECT count(*) FILTER (ahead < 0 OR (first = tick AND ahead < {LATENESS})) FROM ahead"""
        ).fetchall()[0][0]
    )


def test_windows_that_are_right_at_first(january: Simulation, rows: duckdb.DuckDBPyConnection) -> None:
    until = measured(january, rows)
    by_name = {one.name: one for one in january.findings}
    delays = {"as it is": "2h", "delay 30m": "30m", "delay 6h": "6h", "early": "2h"}  # early panes change nothing of it
    for name, delay in delays.items():
        assert by_name[name].right_at_first == right_at_first(rows, until, parse_duration(delay)), name


def delay_of(suggestion: Suggestion) -> int:
    """The delay that `--try` would be given."""
    assert suggestion.fields is not None
    return parse_duration(load_yaml(suggestion.fields)["watermark"]["bounded_delay"])


def test_a_suggestion_is_the_smallest_delay(january: Simulation, rows: duckdb.DuckDBPyConnection) -> None:
    until, found = measured(january, rows), january.suggestions[0].findings
    assert found is not None
    delay = delay_of(january.suggestions[0])
    assert found.right_at_first == right_at_first(rows, until, delay)
    assert found.right_at_first >= 0.99 * found.windows > right_at_first(rows, until, delay - SECOND)


def complete_in_time(rows: duckdb.DuckDBPyConnection, until: int, delay: int, length: int) -> float:
    """The share of windows for which a tick so soon after their end had seen a departure the delay past it."""
    return float(
        rows.execute(
            f"""WITH seen AS (SELECT tick, max(departed) AS latest FROM flights GROUP BY tick),
            reached AS (SELECT tick, max(latest) OVER (ORDER BY tick) - {delay} AS watermark FROM seen),
            windows AS (SELECT DISTINCT origin, carrier, ends FROM flights WHERE ends <= {until}),
            complete AS (SELECT origin, carrier, ends, min(tick) * {EVERY} AS complete_at
                FROM windows JOIN reached ON watermark >= ends GROUP BY ALL)
            SELECT count(*) FILTER (complete_at <= ends + {length}) / (SELECT count(*) FROM windows) FROM complete"""
        ).fetchall()[0][0]
    )


def test_a_suggestion_is_the_largest_delay_for_a_latency(january: Simulation, rows: duckdb.DuckDBPyConnection) -> None:
    until = measured(january, rows)
    delay, length = delay_of(january.suggestions[1]), 120 * MINUTE
    assert complete_in_time(rows, until, delay, length) >= 0.95 > complete_in_time(rows, until, delay + SECOND, length)


def test_other_figures_fit_together(january: Simulation) -> None:
    by_name = {one.name: one for one in january.findings}
    assert by_name["final"].early == by_name["final"].corrections == by_name["final"].retractions == 0
    assert by_name["final"].share_right == by_name["as it is"].share_right
    assert by_name["early"].early > 0 and by_name["as it is"].early == 0
    assert by_name["as it is"].retractions == by_name["as it is"].corrections
    assert by_name["delay 30m"].to_on_time.median < by_name["delay 6h"].to_on_time.median
    assert "as it is" in january.text() and "<svg" in january.page()


def test_each_specification_has_a_picture_of_the_same_days(january: Simulation) -> None:
    assert [one.name for one in january.shown] == [one.name for one in january.findings]
    assert january.density is not None and sum(january.density.counts.values()) > 500
    first, end = january.density.event_times
    assert 8 * HOUR <= end - first < 7 * DAY, "not the whole month"
    for one in january.shown:
        assert one.panes and all(first <= pane.end <= end <= pane.shown_at + 7 * DAY for pane in one.panes)
        assert [at for _, at in one.watermark] == sorted(at for _, at in one.watermark)
        assert first <= one.watermark[1][0] <= one.watermark[-2][0] <= end
    (early,) = [one for one in january.shown if one.name == "early"]
    assert {"early", "late"} <= {pane.timing for pane in early.panes}


def test_the_same_rows_have_landed_before(spark, folder: Path, january: Simulation, tmp_path: Path) -> None:
    from windrow.drivers.stream.stream import run

    made = pipeline(folder).with_lake(str(tmp_path / "lake"))
    run(made, spark, once=True)
    found = simulate(made, spark, "hourly", TRIED[:1], EVERY)
    assert found.rows == january.rows
    assert found.findings[1].share_right_at_first == pytest.approx(january.findings[1].share_right_at_first, abs=0.02)


@pytest.mark.parametrize(
    ("stage", "refused"),
    [
        ({"window": {"sessions": {"gap": "1h"}}}, "window"),
        ({"having": "flights > 1"}, "having"),
        ({"trigger": {"repeat": {"when_result": "flights > 1"}}}, "trigger"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(spark, folder: Path, stage: Any, refused: str) -> None:
    with pytest.raises(NotInThisVersion, match=rf"stages\.hourly\.{refused}"):
        simulate(pipeline(folder, **stage), spark, "hourly")


def test_a_wrong_trial_is_named(spark, folder: Path) -> None:
    with pytest.raises(SpecError, match=r"--try 2: watermark\.bounded_delay"):
        simulate(pipeline(folder), spark, "hourly", [{}, {"watermark": {"bounded_delay": "soon"}}])
