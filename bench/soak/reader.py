"""A reader beside the stream: by `deltalake` and DuckDB, it checks that no table is ever seen in a torn state.

- `current` is what the panes up to its own tick come to, row for row, at any moment;
- of each window the panes are shown and retracted in turns, so that one stands or none;
- `raw` has each row once, and none is missing before the last one;
- no table ever goes back, or is gone.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from pyarrow import fs

from bench.soak.load import SOURCE, STAGE

PATIENCE = 120.0
"""Seconds that `panes` may be behind `current`: both are written at once, and a stream that was killed starts again."""

_STANDING = """
    SELECT k, window_start, window_end, n, total, most, pane_index FROM (
        SELECT *, row_number() OVER (
            PARTITION BY k, window_start, window_end ORDER BY tick DESC, pane_index DESC, weight DESC) AS place
        FROM panes WHERE tick <= {tick})
    WHERE place = 1 AND weight > 0
"""
_SHOWN = "SELECT k, window_start, window_end, n, total, most, pane_index FROM current"
_WEIGHTS = """
    SELECT count(*) FROM (
        SELECT sum(weight) AS standing FROM panes WHERE tick <= {tick} GROUP BY k, window_start, window_end)
    WHERE standing NOT IN (0, 1)
"""


@dataclass(frozen=True)
class Seen:
    """A table at a version, with the notes of its newest step."""

    table: DeltaTable
    notes: dict[str, Any]

    @property
    def tick(self) -> int:
        """The tick up to which it is made."""
        return int(self.notes["journal_step"])

    @property
    def rows(self) -> Any:
        """What DuckDB scans."""
        place = fs.SubTreeFileSystem(self.table.table_uri.removeprefix("file://"), fs.LocalFileSystem())
        return self.table.to_pyarrow_dataset(filesystem=place)


def opened(path: Path) -> Seen | None:
    """The table as it stands now; None before it has a step.

    The notes are those of its own version or of one before it: `DeltaTable.history` begins with the newest commit that
    there is by then.
    """
    try:
        table = DeltaTable(str(path))
    except TableNotFoundError:
        return None
    for version in range(table.version(), -1, -1):
        notes = _notes(path / "_delta_log" / f"{version:020}.json")
        if notes is None or "step" in notes:
            return None if notes is None else Seen(table, notes)
    return None


def _notes(commit: Path) -> dict[str, Any] | None:
    """What a commit says of itself; None where it is not there any more."""
    try:
        lines = commit.read_text().splitlines()
    except FileNotFoundError:
        return None
    said = next((json.loads(line)["commitInfo"] for line in lines if line.startswith('{"commitInfo"')), {})
    return dict(json.loads(said.get("userMetadata") or "{}"))


@dataclass(eq=False)
class Reader(threading.Thread):
    """Looks again and again until it is stopped; `torn` says what it has found, `reads` how often it has looked.

    Every `raw_each`-th time it looks at all rows of `raw`, too; `rows` says how many there were.
    """

    lake: Path
    every: float = 5.0
    raw_each: int = 6
    reads: int = 0
    rows: int = 0
    torn: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    _ticks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def run(self) -> None:
        while not self.stopped.wait(self.every):
            self.look()

    def look(self, at_raw: bool = False) -> None:
        """Check each table once, and `raw` too where it is its turn or one asks for it."""
        try:
            at_raw = at_raw or self.reads % self.raw_each == 0
            found = [*self._of_stage(), *(self._of_source() if at_raw else [])]
        except Exception as error:  # whatever a reader meets is what the soak is there to find
            found = [f"{type(error).__name__}: {error}"]
        self.torn += [f"read {self.reads}: {one}" for one in found]
        self.reads += 1

    def _of_stage(self) -> list[str]:
        current = opened(self.lake / STAGE / "current")
        if current is None:
            return self._gone("current")
        panes = self._panes(current.tick)
        if panes is None:
            return [f"panes has not reached tick {current.tick} of current in {PATIENCE:.0f} s"]
        with duckdb.connect() as connection:
            connection.register("current", current.rows)
            connection.register("panes", panes.rows)
            standing = _STANDING.format(tick=current.tick)
            differ = _count(connection, f"({_SHOWN} EXCEPT ALL {standing}) UNION ALL ({standing} EXCEPT ALL {_SHOWN})")
            (wrong,) = connection.execute(_WEIGHTS.format(tick=current.tick)).fetchall()[0]
        found = [f"{differ} rows of current differ from panes at tick {current.tick}"] if differ else []
        found += [f"{wrong} windows have panes that do not come to one or none"] if wrong else []
        return [*found, *self._gone_back("current", current.tick), *self._gone_back("panes", panes.tick)]

    def _panes(self, tick: int) -> Seen | None:
        """The panes, when they are made up to that tick."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            panes = opened(self.lake / STAGE / "panes")
            if panes is not None and panes.tick >= tick:
                return panes
            time.sleep(0.5)
        return None

    def _of_source(self) -> list[str]:
        raw = opened(self.lake / SOURCE / "raw")
        if raw is None:
            return self._gone("raw")
        with duckdb.connect() as connection:
            connection.register("raw", raw.rows)
            ((rows, ids, last),) = connection.execute(
                "SELECT count(*), count(DISTINCT id), max(id) FROM raw"
            ).fetchall()
        self.rows, whole = rows, rows == ids == last + 1
        found = [] if whole else [f"raw has {rows} rows with {ids} numbers up to {last}"]
        return [*found, *self._gone_back("raw", int(raw.notes["step"]))]

    def _gone(self, name: str) -> list[str]:
        return [f"{name} is gone"] if name in self._ticks else []

    def _gone_back(self, name: str, step: int) -> list[str]:
        before, self._ticks[name] = self._ticks.get(name, 0), step
        return [f"{name} has gone back from {before} to {step}"] if step < before else []


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    ((number,),) = connection.execute(f"SELECT count(*) FROM ({query})").fetchall()
    return int(number)
