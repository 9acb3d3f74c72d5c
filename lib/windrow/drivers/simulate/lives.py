"""The lives of cells: what each shows from its first element to its expiry, all cells at once.

Rule: docs/semantics.md#ticks. A pass takes every cell one event further: its next touch, or a timer that is due before
that. So there are as many passes as the busiest cell has events, and each has only the cells that are still there.

| table of a specification | a row is |
|---|---|
| `ticks` | a tick with its clocks |
| `touches` | a cell that gets elements in a tick, in time |
| `log` | something that a tick did to a cell: a pane, a retraction, elements that came when it was closed, its end |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from windrow.compile.cells.own_ticks import CARRIED, FACTS, SO_FAR, OwnTicks, of_state
from windrow.compile.columns import ELEMENTS, NET
from windrow.drivers.simulate.duck import ROWS, kind, row_of, written

if TYPE_CHECKING:
    import duckdb

_BOUNDS = ("window_start", "window_end")
_OF_A_TOUCH = (*CARRIED, *_BOUNDS, "key")


@dataclass(frozen=True)
class Lives:
    """The cells of one specification, in the schema `name` of a database that has their touches in the schema `of`."""

    duck: duckdb.DuckDBPyConnection
    name: str
    of: str
    own: OwnTicks
    clocks: tuple[str, ...]
    """The columns of `ticks` that are clocks, beside `tick` and `expired_before`."""

    def live(self) -> int:
        """Take all cells through all ticks; how often a cell was evaluated."""
        self._begin()
        evaluated, touch = 0, 1
        while touched := self._pass(self._touched(touch)):
            evaluated += touched
            while waiting := self._number("busy"):
                evaluated += waiting
                self._pass(self._due())
            self._run("CREATE OR REPLACE TABLE {s}.state AS SELECT * FROM {s}.rest")
            self._run("DELETE FROM {s}.rest")
            touch += 1
        return evaluated

    def late(self) -> int:
        """The pairs of element and window that were late."""
        return self._one(
            """SELECT coalesce(sum(elements), 0)::BIGINT
            FROM {of}.touches JOIN {of}.cells USING (cell) JOIN {s}.ticks USING (tick)
            WHERE window_end <= expired_before"""
        )

    def _text(self, text: str) -> str:
        return text.replace("{s}", self.name).replace("{of}", self.of)

    def _run(self, text: str) -> None:
        self.duck.execute(self._text(text))

    def _one(self, text: str) -> int:
        return int(row_of(self.duck, self._text(text))[0])

    def _number(self, table: str) -> int:
        return self._one(f"SELECT count(*) FROM {{s}}.{table}")

    def _begin(self) -> None:
        """The touches in time, with their number in the life of their cell; when each clock reaches each value."""
        self._run(
            f"""CREATE OR REPLACE TABLE {{s}}.touches AS
            SELECT cell, tick, row_number() OVER life AS touch, lead(tick) OVER life AS next_tick,
                   window_start, window_end, key, {", ".join(self.own.added)}
            FROM {{of}}.touches JOIN {{of}}.cells USING (cell) JOIN {{s}}.ticks USING (tick)
            WHERE window_end > expired_before
            WINDOW life AS (PARTITION BY cell ORDER BY tick) ORDER BY touch"""
        )
        for name in self.own.timers:
            values = f"SELECT at_{name} AS value, min(tick) AS tick FROM {{s}}.ticks GROUP BY 1"
            self._run(f"CREATE OR REPLACE TABLE {{s}}.reaches_{name} AS {values}")
        state = ", ".join(f"{name} {kind(spark)}" for name, (spark, _) in self.own.state.items())
        told = "cell BIGINT, tick BIGINT, touch BIGINT, next_tick BIGINT, window_start BIGINT, window_end BIGINT"
        for table in ("state", "rest", "busy"):
            self._run(f"CREATE OR REPLACE TABLE {{s}}.{table} ({told}, key BIGINT, {state}, due BIGINT)")
        self._run(
            """CREATE OR REPLACE TABLE {s}.log (cell BIGINT, tick BIGINT, so_far BIGINT, shows BOOLEAN,
            retracts BOOLEAN, replaces BOOLEAN, timing VARCHAR, pane_index INTEGER, is_last BOOLEAN, leaf VARCHAR,
            shut_out BIGINT, is_expired BOOLEAN)"""
        )

    def _touched(self, touch: int) -> str:
        """The cells at that touch of theirs, with the state behind the one before."""
        named = [f"t.{name}" for name in (*_OF_A_TOUCH, *self.own.added)]
        return f"""SELECT {", ".join([*named, *self._state("s"), *self._clocks])}
            FROM {{s}}.touches t JOIN {{s}}.ticks k USING (tick) LEFT JOIN {{s}}.state s USING (cell)
            WHERE t.touch = {touch}"""

    def _due(self) -> str:
        """The cells that have a timer before their next touch, at the tick in which it is due."""
        told = ["s.cell", "s.due AS tick", *(f"s.{name}" for name in (*CARRIED[2:], *_BOUNDS, "key"))]
        nothing = [f"{'0' if name in (ELEMENTS, NET) else 'NULL'} AS {name}" for name in self.own.added]
        return f"""SELECT {", ".join([*told, *nothing, *self._state("s"), *self._clocks])}
            FROM {{s}}.busy s JOIN {{s}}.ticks k ON k.tick = s.due"""

    def _state(self, table: str) -> Sequence[str]:
        return [f"{table}.{name}" for name in self.own.state]

    @property
    def _clocks(self) -> Sequence[str]:
        return [f"k.{name}" for name in self.clocks]

    @cached_property
    def _step(self) -> str:
        return written(self.own.step(self.clocks).pruned())

    def _pass(self, rows: str) -> int:
        """One event of each of these cells; how many there were.

        Those that have a timer before their next touch are `busy` then, and those that wait for one are at `rest`.
        """
        timers = self.own.timers
        joins = [
            f"ASOF LEFT JOIN {{s}}.reaches_{name} AS at_{name} ON e.{column} <= at_{name}.value"
            for name, column in timers.items()
        ]
        first = f"least({', '.join(f'at_{name}.tick' for name in timers)})"
        due = f"CASE WHEN {first} IS NOT NULL AND NOT e.is_expired THEN greatest({first}, e.tick + 1) END"
        last = "(SELECT max(tick) FROM {s}.ticks)"
        self._run(
            f"""CREATE OR REPLACE TABLE {{s}}.moved AS
            WITH {ROWS} AS ({rows}), evaluated AS ({self._step})
            SELECT e.*, CASE WHEN {due} <= {last} THEN {due} END AS due FROM evaluated e {" ".join(joins)}"""
        )
        facts = ", ".join(FACTS)
        self._run(
            f"""INSERT INTO {{s}}.log BY NAME SELECT cell, tick, {of_state(SO_FAR)} AS so_far, {facts} FROM {{s}}.moved
            WHERE shows OR retracts OR shut_out > 0 OR is_expired"""
        )
        kept = ", ".join([*_OF_A_TOUCH, *self.own.state, "due"])
        is_busy = "due IS NOT NULL AND (next_tick IS NULL OR due < next_tick)"
        self._run(
            f"""INSERT INTO {{s}}.rest BY NAME SELECT {kept} FROM {{s}}.moved
            WHERE next_tick IS NOT NULL AND NOT ({is_busy})"""
        )
        self._run(f"CREATE OR REPLACE TABLE {{s}}.busy AS SELECT {kept} FROM {{s}}.moved WHERE {is_busy}")
        return self._number("moved")
