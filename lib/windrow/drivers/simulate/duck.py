"""The columns of a stage as DuckDB computes them: the text that Spark runs, written once more by sqlglot.

A pass over cells is a few thousand operators over booleans and 64-bit numbers. DuckDB plans it in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import sqlglot
from sqlglot import exp

from windrow.compile.sql.chain import Chain
from windrow.spec.errors import NeedsDuckDB

if TYPE_CHECKING:
    import duckdb

ROWS = "_rows"
"""The name of the relation that a chain is over."""


def connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that spills to a temporary folder. Raises NeedsDuckDB where it is not installed."""
    try:
        found: duckdb.DuckDBPyConnection = import_module("duckdb").connect(":memory:")
    except ModuleNotFoundError as error:
        raise NeedsDuckDB("windrow simulate") from error
    found.execute("SET TimeZone = 'UTC'")
    return found


def written(chain: Chain) -> str:
    """A chain of projections over `ROWS`, in DuckDB's words."""
    text = chain.sql.replace("{rows}", ROWS).replace("{{", "{").replace("}}", "}")
    tree = sqlglot.parse_one(text, read="spark")
    return tree.transform(_in_duck).sql(dialect="duckdb")


def _in_duck(node: exp.Expression) -> exp.Expression:
    """What sqlglot would write in another way than Spark means it, or not at all."""
    if isinstance(node, exp.Anonymous) and node.name.lower() == "element_at":
        items, index = node.expressions
        return exp.Anonymous(this="list_extract", expressions=[items, index])
    return node


def kind(spark: str) -> str:
    """A type of Spark's in DuckDB's words."""
    return exp.DataType.build(spark, dialect="spark").sql(dialect="duckdb")


def load_touches(duck: duckdb.DuckDBPyConnection, schema: str, touches: pa.Table) -> None:
    """The touches that specifications share, and their cells with a number each.

    A touch has `key` (a number), `window_start`, `window_end`, `tick`, `elements`, what else cells get in a tick, and
    `last_arrival`, in microseconds.
    """
    duck.execute(f"CREATE SCHEMA {schema}")
    duck.register("given", touches)
    duck.execute(
        f"""CREATE TABLE {schema}.cells AS
        SELECT row_number() OVER (ORDER BY window_start, window_end, key) AS cell, * FROM (
            SELECT key, window_start, window_end, sum(elements)::BIGINT AS total, max(last_arrival) AS last_arrival,
                   min(tick) AS first_tick, max(tick) AS last_tick
            FROM given GROUP BY ALL)"""
    )
    duck.execute(
        f"""CREATE TABLE {schema}.touches AS SELECT cell, given.* EXCLUDE (key, window_start, window_end)
        FROM given JOIN {schema}.cells USING (key, window_start, window_end)"""
    )
    duck.unregister("given")


def load_ticks(duck: duckdb.DuckDBPyConnection, schema: str, ticks: pa.Table) -> None:
    """The ticks of one specification with their clocks."""
    duck.execute(f"CREATE SCHEMA {schema}")
    duck.register("given", ticks)
    duck.execute(f"CREATE TABLE {schema}.ticks AS SELECT * FROM given ORDER BY tick")
    duck.unregister("given")


def row_of(duck: duckdb.DuckDBPyConnection, text: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
    """The only row of a query. It is fetched to its end: the connection does nothing else before."""
    (row,) = duck.execute(text, list(values)).fetchall()
    return tuple(row)
