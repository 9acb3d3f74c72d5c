"""JDBC, DuckDB and Polars ask while a stream writes: no read is torn, and in the end all give the same answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

import windrow
from tests.names.questions import AIRLINES, InPolars, Question, assert_same, flights, in_duckdb, questions, rows_of
from tests.names.served import BEELINE, Jdbc, Server, serving
from tests.names.versions import Answer, Reading, Versions

pytestmark = pytest.mark.long

FILES = 10
READS = 200
PYTHON_EACH, BEELINE_EACH = 20, 50
"""Every so many reads the server is also asked by Python, and by beeline, which takes seconds to start."""
ENGINES = ("jdbc", "duckdb", "polars")
STATE = "SELECT count(*) AS results, sum(flights) AS flights, max(tick) AS tick FROM departures_hourly"
OF_STATE = Question(0, STATE, "")


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory: pytest.TempPathFactory) -> windrow.Pipeline:
    """The flights of two days have been read; those of eighteen more wait in another folder."""
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


def answer_of(engine: str, question: Question, lake: windrow.Pipeline, jdbc: Jdbc) -> Answer:
    """What an engine says in one query, of tables that it looks at anew."""
    if engine == "jdbc":
        return jdbc.rows(question.sql)
    in_polars = engine == "polars"
    table = InPolars.over(lake).answer(question) if in_polars else in_duckdb(lake).sql(question.sql).to_arrow_table()
    return rows_of(table), table.column_names


def state_of(engine: str, server: Server) -> Answer:
    """What a client of the server says of `departures_hourly`."""
    names = ["results", "flights", "tick"]
    if engine == "beeline":
        (line,) = by_beeline(server, STATE)
        return [tuple(map(int, line.split(",")))], names
    return [tuple(map(int, row)) for row in by_python(server, STATE)], names


def by_beeline(server: Server, query: str) -> list[str]:
    options = ("--silent=true", "--outputformat=csv2", "--showHeader=false")
    home = {**os.environ, "SPARK_HOME": str(BEELINE.parents[1])}
    command = [str(BEELINE), "-u", server.url, *options, "-e", query]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=home)
    assert done.returncode == 0, done.stderr
    prompt = f"0: {server.url}> "  # beeline prints it where its input is no terminal
    return [line.removeprefix(prompt) for line in done.stdout.splitlines() if line]


def by_python(server: Server, query: str) -> list[tuple[Any, ...]]:
    hive: Any = pytest.importorskip("pyhive.hive", reason="the client of the page is not installed")
    cursor = hive.connect("127.0.0.1", server.port, database="flights").cursor()
    cursor.execute(query)
    return list(cursor.fetchall())


def test_readers_beside_a_stream(spark, lake: windrow.Pipeline, server: Server) -> None:
    """Every answer is that of versions which each of its tables had while it was asked for: Spark looks one by one."""
    root, stop, failed = Path(lake.lake).parent, threading.Event(), []
    waiting, asked = sorted((root / "waiting").iterdir()), questions()
    apart = READS // len(waiting)  # so that the stream writes from the first read to the last

    def stream() -> None:
        try:
            windrow.run(lake, spark, every=0.2, stop=stop)
        except BaseException as error:
            failed.append(error)

    readings: list[Reading] = []

    def read(engine: str, question: Question, answer: Callable[[], Answer]) -> None:
        began = time.time()
        found = answer()
        readings.append(Reading(engine, question, began, time.time(), found))
        assert not failed, failed

    writer = threading.Thread(target=stream)
    writer.start()
    try:
        with Jdbc.to(spark, server.url) as jdbc:
            name_airlines(jdbc)
            for number in range(READS):
                if number % apart == 0 and waiting:
                    shutil.move(path := waiting.pop(0), root / "data" / path.name)
                engine, question = ENGINES[number % len(ENGINES)], asked[number % len(asked)]
                read(engine, question, partial(answer_of, engine, question, lake, jdbc))
                for client, each in (("python", PYTHON_EACH), ("beeline", BEELINE_EACH)):
                    if number % each == each - 1:
                        read(client, OF_STATE, partial(state_of, client, server))
    finally:
        stop.set()
        writer.join(timeout=120)
    assert not failed and not writer.is_alive()
    versions = Versions(lake)
    torn = [
        reading for reading in readings if not any(is_same(reading.answer, one) for one in versions.answers(reading))
    ]
    assert torn == []
    middle = len(readings) // 2
    for half in (readings[:middle], readings[middle:]):
        assert any(map(versions.has_met_a_commit, half)), "nothing was written while one was asked"
    seen = [reading.answer[0][0] for reading in readings if reading.question is OF_STATE]
    assert len({*seen}) > 2, "the stream wrote nothing meanwhile"
    assert seen == sorted(seen, key=lambda state: state[2]), "a reader has gone back"


def is_same(one: Answer, other: Answer) -> bool:
    try:
        assert_same(one[0], other[0], one[1], other[1])
    except AssertionError:
        return False
    return True


def name_airlines(jdbc: Jdbc) -> None:
    pairs = ", ".join(f"('{carrier}', '{name}')" for carrier, name in zip(*AIRLINES.values(), strict=True))
    jdbc.run(f"CREATE TEMPORARY VIEW airlines AS SELECT * FROM VALUES {pairs} AS rows(carrier, name)")


def test_jdbc_duckdb_and_polars_give_the_same_answers(spark, lake: windrow.Pipeline, server: Server) -> None:
    windrow.run(lake, spark, once=True, drain=True)
    with Jdbc.to(spark, server.url) as jdbc:
        name_airlines(jdbc)
        for question in questions():
            rows, names = jdbc.rows(question.sql)
            for engine in ("duckdb", "polars"):
                others, columns = answer_of(engine, question, lake, jdbc)
                assert_same(rows, others, names, columns)


def test_beeline_and_python_ask_the_server(lake: windrow.Pipeline, server: Server) -> None:
    assert "flights.departures_hourly_asof" in server.said
    query = "SELECT origin, count(*) FROM departures_hourly GROUP BY origin ORDER BY origin"
    meant = in_duckdb(lake).sql(query).fetchall()
    assert by_beeline(server, query) == [f"{origin},{number}" for origin, number in meant]
    assert by_python(server, query) == meant
