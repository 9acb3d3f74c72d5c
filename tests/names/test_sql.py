"""The statements of `windrow register --sql`: no Spark, no text of a user as SQL, and what DuckDB makes of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from deltalake import write_deltalake
from sqlglot import exp

from tests.cli.command import windrow as command
from tests.names.frames import KINDS, table_of
from windrow import names_sql, views
from windrow.compile.names.asof import VALIDITY
from windrow.compile.names.dialects import DIALECTS
from windrow.compile.names.relations import relations
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.column_comments import (
    LONGEST,
    Additivity,
    additivity,
    comments_of_current,
    comments_of_panes,
)
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import STAGE_DEAD_LETTERS, TICKS, current_columns, pane_columns
from windrow.spec.stages.stage import Stage

GOLDEN = Path(__file__).parent / "golden"
FILE = "conf/pipelines/traffic.yaml"
SOURCE = {
    "name": "clicks", "files": {"path": "data", "format": "json"}, "schema": "k string, v long, at string",
    "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "1s"},
}  # fmt: skip


def stage_of(**fields: Any) -> dict[str, Any]:
    return {
        "name": "sums", "from": "clicks", "keys": ["k"], "window": {"fixed": {"size": "1h"}},
        "aggregates": {"n": {"count": "*"}}, **fields,
    }  # fmt: skip


def pipeline(lake: str = "/lake", *stages: dict[str, Any]) -> Pipeline:
    mapping = {"pipeline": "tests", "lake": lake, "sources": [SOURCE], "stages": list(stages) or [stage_of()]}
    return Pipeline.from_mapping(mapping)


@pytest.mark.parametrize("engine", DIALECTS)
def test_the_statements_are_those_that_were_reviewed(engine: str) -> None:
    """`UPDATE_GOLDEN=1` writes them again."""
    done = command("register", FILE, "--set", "lake=/data/lake", "--schema", "traffic", "--sql", engine)
    assert (done.code, done.err) == (0, "")
    file = GOLDEN / f"{engine}.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(done.out)
    assert done.out == file.read_text()


@pytest.mark.parametrize("engine", DIALECTS)
def test_the_dialect_reads_its_own_statements(engine: str) -> None:
    text = names_sql(pipeline("/lake", stage_of(accumulation="discarding")), engine, "main.flights")
    trees = sqlglot.parse(text, dialect=engine)
    assert trees and all(tree is not None for tree in trees)
    commands = [tree for tree in trees if isinstance(tree, exp.Command)]
    assert all(engine == "trino" and tree.name.upper() == "CALL" for tree in commands)


def test_what_a_user_writes_is_never_sql(tmp_path: Path) -> None:
    """A quote in a path, a constant or a name is one in DuckDB too."""
    lake = tmp_path / "o'hara's \"lake\""
    stage = stage_of(
        keys=["k", {"order": "if(k = 'it''s', 'a\\\\b', k)"}], aggregates={"select": {"count_if": "k = ''';--'"}}
    )
    made = pipeline(str(lake), stage)
    write_lake(lake, made.stages[0])
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE MACRO delta_scan(path) AS TABLE FROM read_parquet(path || '/*.parquet')")
    text = names_sql(made, "duckdb")
    for statement in text.split(";\n\n"):
        if not any(name in statement for name in ("quality_results", "clicks", "dead_letters")):  # without files
            connection.execute(statement)
    connection.execute("USE tests")
    assert connection.sql('SELECT k, "order", "select" FROM sums').fetchall() == [("a", "a", 5)]
    assert connection.sql("SELECT tick, valid_to_tick FROM sums_asof").fetchall() == [(1, 2**63 - 1)]
    found = connection.sql(
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'sums_final' AND column_name = 'select'"
    )
    assert found.fetchall() == [(comments_of_current(made.stages[0])["select"],)]
    assert "''';--'" in found.fetchall()[0][0] or "';--" in comments_of_current(made.stages[0])["select"]


def test_views_of_a_duckdb_see_one_moment(tmp_path: Path) -> None:
    made = pipeline(str(tmp_path / "lake"))
    write_lake(tmp_path / "lake", made.stages[0])
    connection = duckdb.connect()
    names = {one.name: one.kind for one in views(made, connection)}
    assert names == {
        "sums": "table", "sums_panes": "table", "sums_ticks": "table", "sums_dead_letters": "table",
        "sums_final": "view", "sums_asof": "view",
    }  # fmt: skip
    write_lake(tmp_path / "lake", made.stages[0], tick=2, key="b")
    assert len(connection.sql("SELECT * FROM sums").fetchall()) == 1
    views(made, connection)
    assert connection.sql("SELECT k FROM sums_asof ORDER BY k").fetchall() == [("a",), ("b",)]


def test_a_duckdb_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="has no tables of the pipeline yet"):
        views(pipeline(str(tmp_path / "lake")), duckdb.connect())


def write_lake(lake: Path, stage: Stage, tick: int = 1, key: str = "a") -> None:
    """The tables of a stage with one row, as Spark would write them."""
    row = {
        "k": key, "order": key, "n": 5, "select": 5, "window_start": 0, "window_end": 3_600_000_000,
        "timing": "on_time", "pane_index": 0, "on_time_index": 0, "is_first": True, "is_last": True, "event_time": 0,
        "watermark": 0, "produced_at": 0, "tick": tick, "change": "insert", "weight": 1, "trigger": "expiry",
        "watermark_percentile": 100,
    }  # fmt: skip
    for name, columns in (("current", current_columns(stage)), ("panes", pane_columns(stage))):
        write_deltalake(lake / "sums" / name, table_of([row], columns), mode="append")
    for name, ddl in (("ticks", TICKS), ("dead_letters", STAGE_DEAD_LETTERS)):
        schema = pa.schema({column: KINDS[kind] for column, kind in Schema.parse(ddl).items()})
        rows = [{"tick": tick, "kind": "stream", "generation": 1}] if name == "ticks" else []
        write_deltalake(lake / "sums" / name, pa.Table.from_pylist(rows, schema), mode="append")


# ---------------------------------------------------------------- refusals


def test_an_engine_that_nobody_knows() -> None:
    done = command("register", FILE, "--sql", "oracle")
    assert done.code == 2 and "--sql must be one of the dialects" in done.err and "spark, trino, duckdb" in done.err


@pytest.mark.parametrize("schema", ["a.b.c", ".a", "a."])
def test_a_schema_of_other_parts(schema: str) -> None:
    with pytest.raises(SpecError, match="must be a schema, or a catalog and a schema"):
        names_sql(pipeline(), "spark", schema)


def test_two_tables_of_one_name() -> None:
    made = pipeline("/lake", stage_of(), stage_of(name="SUMS_final"))
    with pytest.raises(SpecError, match=r"have two tables of one name.*SUMS_final"):
        relations(made)


@pytest.mark.parametrize("name", VALIDITY)
def test_a_column_that_a_view_adds(name: str) -> None:
    with pytest.raises(SpecError, match=rf"stages\.sums\.{name} is a column that sums_asof adds"):
        relations(pipeline("/lake", stage_of(aggregates={name: {"count": "*"}})))


# ---------------------------------------------------------------- what adds up


@pytest.mark.parametrize(
    ("window", "aggregate", "meant"),
    [
        ({"fixed": {"size": "1h"}}, {"count": "*"}, Additivity.ADDITIVE),
        ({"calendar": {"unit": "day"}}, {"sum": "v"}, Additivity.ADDITIVE),
        ({"sessions": {"gap": "1h"}}, {"count_if": "v > 1"}, Additivity.ADDITIVE),
        ({"sliding": {"size": "1h", "period": "2h"}}, {"count": "*"}, Additivity.ADDITIVE),
        ({"sliding": {"size": "3h", "period": "1h"}}, {"count": "*"}, Additivity.SEMI_ADDITIVE),
        ({"cumulative": {"size": "1d", "step": "1h"}}, {"sum": "v"}, Additivity.SEMI_ADDITIVE),
        ({"record": {"difference": "10s"}}, {"count": "v"}, Additivity.SEMI_ADDITIVE),
        ({"fixed": {"size": "1h"}}, {"mean": "v"}, Additivity.NON_ADDITIVE),
        ({"fixed": {"size": "1h"}}, {"max": "v"}, Additivity.NON_ADDITIVE),
        ({"fixed": {"size": "1h"}}, {"count_distinct": "v"}, Additivity.NON_ADDITIVE),
    ],
)
def test_what_a_naive_sum_is(window: Any, aggregate: Any, meant: Additivity) -> None:
    stage = Stage.from_mapping(stage_of(window=window, aggregates={"n": aggregate}))
    assert additivity(stage, "n") is meant
    assert f"; {meant}: " in comments_of_current(stage)["n"]


def test_every_column_has_a_comment_that_a_metastore_can_keep() -> None:
    expression = " + ".join(["v"] * 90)
    stage = Stage.from_mapping(stage_of(aggregates={"n": {"sum": expression}}, derive={"twice": "n * 2"}))
    for comments, columns in ((comments_of_current(stage), current_columns), (comments_of_panes(stage), pane_columns)):
        assert list(comments) == columns(stage)
        assert all(0 < len(comment) <= LONGEST for comment in comments.values())
    assert comments_of_current(stage)["twice"].endswith("non-additive: compute it again from what it is made of")
    assert comments_of_panes(Stage.from_mapping(stage_of(accumulation="retracting")))["n"].startswith("times weight; ")
