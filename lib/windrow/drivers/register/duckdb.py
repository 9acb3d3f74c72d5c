"""The names of a pipeline as views of a DuckDB in this process, over tables that `deltalake` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.compile.names.dialects import Opened
from windrow.compile.names.relations import chosen, relations
from windrow.drivers.register.registered import Registered
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake, Location
from windrow.store.reading.arrow import ArrowTables

if TYPE_CHECKING:
    import duckdb


def views(pipeline: Pipeline, connection: duckdb.DuckDBPyConnection) -> list[Registered]:
    """Make the names of a pipeline temporary views of a DuckDB connection, over its tables as they stand now.

    Each table is read at the version that it has at this moment, so that several queries see the same rows; call it
    again to see newer ones. DuckDB needs no extension for it. Errors: SpecError where nothing has run in the lake, and
    where `deltalake` cannot reach it.
    """
    lake, made = Lake.of(pipeline.lake).root, relations(pipeline)
    spoken, tables, there = Opened(("main",), lake), ArrowTables(), []
    for one in made:
        table = None if one.folder is None else tables.open(Location(spoken.path(one)))
        if table is not None:
            connection.register(one.name, table.dataset)
            there.append(one.folder or "")
    named = chosen(made, there)
    if not named:
        raise SpecError("lake", "has no tables of the pipeline yet", pipeline.lake, "windrow run, or --set lake=...")
    for statement in spoken.statements(named):
        connection.execute(statement)
    return [Registered.of(one, one.name) for one in named]
