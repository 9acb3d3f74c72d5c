"""Everybody's results against those of DuckDB over the same files, row for row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from bench.nexmark.events import Data
from bench.nexmark.queries import Query, tables

SHOWN = 5
"""So many differences of each kind are shown."""


@dataclass(frozen=True)
class Verdict:
    """How many rows are expected, and the first differences."""

    rows: int
    differences: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return f"equal ({self.rows:,} rows)" if self.is_equal else "\n".join(self.differences)


class Oracle:
    """The expected results of the queries over some data; each is computed once."""

    def __init__(self, data: Data) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute(tables(data))

    def check_delta(self, query: Query, path: str) -> Verdict:
        """The rows of a Delta table, whose times are timestamps."""
        return self.check(query, DeltaTable(path).to_pyarrow_table())

    def check_csv(self, query: Query, folder: Path) -> Verdict:
        """The lines of CSV files without a header; times are texts, in UTC."""
        types = {name: _stored_in_csv(name, kind) for name, kind in query.columns.items()}
        files = [str(file) for file in folder.rglob("part-*") if file.stat().st_size]
        if not files:
            return self.check(query, pa.table({name: pa.array([], pa.int64()) for name in query.columns}))
        read = self._database.from_csv_auto(files, header=False, columns=types)  # type: ignore[arg-type]
        return self.check(query, read.to_arrow_table())

    def expected(self, query: Query) -> pa.Table:
        """What the query gives, in an order of no meaning."""
        return self._database.table(self._expected(query)).to_arrow_table()

    def check(self, query: Query, found: pa.Table) -> Verdict:
        """Any table with the columns of the query."""
        names, expected = ", ".join(query.columns), self._expected(query)
        self._database.register("found", found.select(list(query.columns)))
        sides = {"wanted": f"SELECT {names} FROM {expected}", "found": f"SELECT {_plain(found, query)} FROM found"}
        (rows,) = self._database.execute(f"SELECT count(*) FROM {expected}").fetchone() or (0,)
        differences = [
            *self._only_in("missing", sides["wanted"], sides["found"]),
            *self._only_in("too many", sides["found"], sides["wanted"]),
        ]
        self._database.unregister("found")
        return Verdict(rows, tuple(differences))

    def _expected(self, query: Query) -> str:
        """The table of what the query gives."""
        name = f"expected_{query.name}"
        names = ", ".join(query.columns)
        self._database.execute(f"CREATE TABLE IF NOT EXISTS {name} AS SELECT {names} FROM ({query.expected})")
        return name

    def _only_in(self, word: str, one: str, other: str) -> list[str]:
        difference = f"({one} EXCEPT ALL {other})"
        (count,) = self._database.execute(f"SELECT count(*) FROM {difference}").fetchone() or (0,)
        shown = self._database.execute(f"SELECT * FROM {difference} ORDER BY ALL LIMIT {SHOWN}").fetchall()
        return [f"{count:,} rows {word}, such as {shown}"] if count else []


def _plain(found: pa.Table, query: Query) -> str:
    """The columns with times as milliseconds."""
    is_time = {name: pa.types.is_timestamp(found.schema.field(name).type) for name in query.columns}
    return ", ".join(f"epoch_ms({name}) AS {name}" if is_time[name] else name for name in query.columns)


def _stored_in_csv(name: str, kind: str) -> str:
    return "timestamp" if name.startswith("window_") else kind.replace("string", "varchar")
