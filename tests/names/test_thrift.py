"""JDBC, DuckDB and Polars ask while a stream writes: no read is torn, and in the end all give the same answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import windrow
from tests.names.questions import AIRLINES, InPolars, assert_same, flights, in_duckdb, questions, rows_of
from tests.names.served import BEELINE, Jdbc, Server, serving

pytestmark = pytest.mark.long

FILES = 6
READS = 200
STATE = "SELECT count(*) AS results, sum(flights) AS flights, max(tick) AS tick FROM departures_hourly"
State = tuple[int, int, int]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory: pytest.TempPathFactory) -> windrow.Pipeline:
    """The flights of two days have been read; those of ten more wait in another folder."""
    root = tmp_path_factory.mktemp("served")
    made = flights(root, FILES)
    (root / "waiting").mkdir()
    for path in sorted((root / "data").iterdir())[1:]:
        shutil.move(path, root / "waiting" / path.name)
    windrow.run(made, spark, once=True)
    return made


@pytest.fixture(scope="module")
def server(lake: windrow.Pipeline) -> Iterator[Server]:
    root = Path(lake.lake).parent
    file = root / "flights.yaml"
    file.write_text(yaml.safe_dump(lake.to_mapping()))
    with serving(file) as made:
        yield made


def read_by(engine: str, lake: windrow.Pipeline, jdbc: Jdbc) -> State:
    """What an engine says of `departures_hourly` in one query."""
    if engine == "jdbc":
        return jdbc.rows(STATE)[0][0]
    if engine == "duckdb":
        return rows_of(in_duckdb(lake).sql(STATE).to_arrow_table())[0]
    rows = pl.scan_delta(lake.table("departures_hourly").path("current"))
    sums = rows.select(pl.len(), pl.col("flights").sum(), pl.col("tick").max()).collect()
    return sums.row(0)


def test_readers_beside_a_stream(spark, lake: windrow.Pipeline, server: Server) -> None:
    root, stop, failed = Path(lake.lake).parent, threading.Event(), []
    waiting = sorted((root / "waiting").iterdir())

    def stream() -> None:
        try:
            windrow.run(lake, spark, every=0.2, stop=stop)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=stream)
    writer.start()
    seen: dict[str, list[State]] = {"jdbc": [], "duckdb": [], "polars": []}
    try:
        with Jdbc.to(spark, server.url) as jdbc:
            for number in range(READS):
                if number % (READS // (len(waiting) + 1)) == 0 and waiting:
                    shutil.move(path := waiting.pop(0), root / "data" / path.name)
                engine = list(seen)[number % len(seen)]
                seen[engine].append(read_by(engine, lake, jdbc))
                assert not failed, failed
    finally:
        stop.set()
        writer.join(timeout=120)
    assert not failed and not writer.is_alive()
    windrow.run(lake, spark, once=True, drain=True)
    known = states(lake)
    for engine, found in seen.items():
        assert [state for state in found if state[2] not in known or known[state[2]] != state[:2]] == [], engine
        assert [state[2] for state in found] == sorted(state[2] for state in found), engine
    assert len({state for found in seen.values() for state in found}) > 2, "the stream wrote nothing meanwhile"


def states(lake: windrow.Pipeline) -> dict[int, tuple[int, int]]:
    """The number of results and of flights after each tick that has shown some, from the log of changes."""
    connection = in_duckdb(lake)
    found: dict[int, tuple[int, int]] = {}
    for (tick,) in connection.sql("SELECT DISTINCT tick FROM departures_hourly_panes ORDER BY tick").fetchall():
        stood = (
            f"SELECT count(*), sum(flights) FROM departures_hourly_asof WHERE tick <= {tick} AND {tick} < valid_to_tick"
        )
        number, flown = connection.sql(stood).fetchall()[0]
        found[tick] = (number, int(flown))
    return found


def test_jdbc_duckdb_and_polars_give_the_same_answers(spark, lake: windrow.Pipeline, server: Server) -> None:
    connection, polars = in_duckdb(lake), InPolars.over(lake)
    pairs = ", ".join(f"('{carrier}', '{name}')" for carrier, name in zip(*AIRLINES.values(), strict=True))
    with Jdbc.to(spark, server.url) as jdbc:
        jdbc.run(f"CREATE TEMPORARY VIEW airlines AS SELECT * FROM VALUES {pairs} AS rows(carrier, name)")
        for question in questions():
            rows, names = jdbc.rows(question.sql)
            for table in (connection.sql(question.sql).to_arrow_table(), polars.answer(question)):
                assert_same(rows, rows_of(table), names, table.column_names)


def test_beeline_and_python_ask_the_server(lake: windrow.Pipeline, server: Server) -> None:
    assert "flights.departures_hourly_asof" in server.said
    query = "SELECT origin, count(*) FROM departures_hourly GROUP BY origin ORDER BY origin"
    meant = in_duckdb(lake).sql(query).fetchall()
    command = [
        str(BEELINE),
        "-u",
        server.url,
        "--silent=true",
        "--outputformat=csv2",
        "--showHeader=false",
        "-e",
        query,
    ]
    home = {**os.environ, "SPARK_HOME": str(BEELINE.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=home)
    assert done.returncode == 0, done.stderr
    prompt = f"0: {server.url}> "  # beeline prints it where its input is no terminal
    lines = [line.removeprefix(prompt) for line in done.stdout.splitlines() if line]
    assert lines == [f"{origin},{number}" for origin, number in meant]
    hive: Any = pytest.importorskip("pyhive.hive", reason="the client of the page is not installed")
    cursor = hive.connect("127.0.0.1", server.port, database="flights").cursor()
    cursor.execute(query)
    assert cursor.fetchall() == meant
