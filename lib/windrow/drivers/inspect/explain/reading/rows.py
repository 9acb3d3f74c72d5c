"""The rows of what a stage reads that may concern one window of one key, and the types of their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, FORGOTTEN, REASON, STEP
from windrow.drivers.inspect.explain.question import Bounds, Question
from windrow.drivers.inspect.show.wanted import NULL
from windrow.drivers.inspect.status.logs import RawRows
from windrow.spec.expressions.tree import Column
from windrow.spec.pipelines.table_columns import PANE_TYPES, pane_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import Condition, LakeTable, Tables

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows, and the types of their columns as Spark calls them. Timestamps are microseconds."""

    kinds: Mapping[str, str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class RawLog:
    """The raw rows of a source. `table` is null where nothing has landed; `are_elsewhere`: they are read in place."""

    table: LakeTable | None
    last: int
    are_elsewhere: bool

    @classmethod
    def of(cls, tables: Tables, lake: Lake, source: str) -> RawLog:
        found = RawRows.of(tables, lake, source)
        return cls(found.table, found.last, found.are_elsewhere)

    @property
    def kinds(self) -> Mapping[str, str]:
        """The types of the columns of rows; none where they are not in the lake."""
        return {} if self.table is None or self.are_elsewhere else self.table.types()

    def rows(self, alone: Stage, question: Question, times: Bounds) -> Rows:
        """Rows whose event time lies in an interval, of the key if that is a column; and others perhaps.

        None of those that are forgotten: of these nobody is told.
        """
        kinds = self.kinds
        if self.table is None or not kinds:
            return Rows({}, [])
        if alone.element_time is not None:  # the event time of the source says nothing of that of the element
            times = MINUS_INFINITY, INFINITY
        conditions = [*between(EVENT_TIME, times), *_of_key(alone, question, kinds), self._until]
        rows = _read(self.table, list(kinds), conditions)
        return Rows(kinds, [row for row in rows if row[EVENT_TIME] is not None and row[REASON] != FORGOTTEN])

    def dead(self, alone: Stage, question: Question, arrivals: Bounds) -> Rows:
        """Dead rows without an event time that arrived in an interval, whatever their key: it may be unreadable."""
        kinds = self.kinds
        if self.table is None or not kinds:
            return Rows({}, [])
        conditions = [Condition(REASON, "is known"), *between(ARRIVAL_TIME, arrivals), self._until]
        rows = _read(self.table, list(kinds), conditions)
        return Rows(kinds, [row for row in rows if row[EVENT_TIME] is None and row[REASON] != FORGOTTEN])

    @property
    def _until(self) -> Condition:
        return Condition(STEP, "<=", self.last)


@dataclass(frozen=True)
class PaneLog:
    """The table `panes` of a stage up to a tick; null where it is not there yet."""

    stage: Stage
    table: LakeTable | None
    until: int

    @property
    def kinds(self) -> Mapping[str, str]:
        return {} if self.table is None else {**self.table.types(), **PANE_TYPES}

    def rows(self, *conditions: Condition) -> Rows:
        """The panes and retractions that meet conditions, in the order of ticks, retractions first."""
        if self.table is None:
            return Rows({}, [])
        rows = _read(self.table, pane_columns(self.stage), [*conditions, Condition("tick", "<=", self.until)])
        return Rows(self.kinds, sorted(rows, key=lambda row: (row["tick"], row["pane_index"], row["weight"])))

    def of_window(self, is_key: Callable[[Row], bool], bounds: Bounds, overlapping: bool = False) -> list[Row]:
        """The panes of a window of a key; with `overlapping` also those of windows that share a time with it."""
        start, end = bounds
        if bounds == (MINUS_INFINITY, INFINITY):
            conditions = []
        elif overlapping:
            conditions = [Condition("window_start", "<", end), Condition("window_end", ">", start)]
        else:
            conditions = [Condition("window_start", "=", start), Condition("window_end", "=", end)]
        return [row for row in self.rows(*conditions).rows if is_key(row)]

    def holding(self, question: Question) -> list[Bounds]:
        """The windows of a key that hold a time and have shown something."""
        conditions = [Condition("window_start", "<=", question.at), Condition("window_end", ">", question.at)]
        return sorted({bounds_of(row) for row in self.rows(*conditions).rows if question.means(row)})


def bounds_of(row: Row) -> Bounds:
    """The window of a row of panes; that of all time has no bounds there."""
    start, end = row["window_start"], row["window_end"]
    return MINUS_INFINITY if start is None else start, INFINITY if end is None else end


def _read(table: LakeTable, columns: Sequence[str], conditions: Sequence[Condition]) -> list[Row]:
    return [row for batch in table.rows(columns, *conditions) for row in batch.to_pylist()]


def between(column: str, times: Bounds) -> list[Condition]:
    """In an interval, as far as it has bounds."""
    first = [] if times[0] == MINUS_INFINITY else [Condition(column, ">=", times[0])]
    return first if times[1] == INFINITY else [*first, Condition(column, "<", times[1])]


def _of_key(alone: Stage, question: Question, kinds: Mapping[str, str]) -> list[Condition]:
    """Conditions for keys that are columns with texts: the scan then leaves other keys out."""
    names = {name.lower(): name for name in kinds}
    made = {name.lower() for name in (*alone.select, *alone.explode)}
    found = []
    for key, text in question.keys.items():
        tree = alone.keys[key].tree
        if not isinstance(tree, Column) or len(tree.path) > 1 or tree.path[0].lower() in made or text == NULL:
            continue
        name = names.get(tree.path[0].lower())
        if name is not None and kinds[name] == "string":
            found.append(Condition(name, "=", text))
    return found
