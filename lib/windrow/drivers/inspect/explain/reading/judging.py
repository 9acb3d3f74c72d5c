"""Rows as elements of a stage, in plain Python: where each is, what its key is, and what the aggregates take of it.

Rule: docs/semantics.md#where-every-row-is.

What only Spark can evaluate is said (`unknown`), and nothing is concluded from it: of aggregates that take such a value
no result is computed (`uncomputed`), and where it decides which rows are elements, nothing is compared (`decides`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, RAW, REASON, RULE
from windrow.drivers.inspect.explain.reading.rows import Row, bounds_of
from windrow.spec.evaluation.evaluate import Evaluator
from windrow.spec.evaluation.kinds import Failed, NotEvaluated
from windrow.spec.expressions import Expression
from windrow.spec.expressions.plain import plain
from windrow.spec.stages.stage import Stage
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME
from windrow.view.explain.life import FILTERED, IN_RESULT, NOT_KNOWN

_FAILED = object()
"""The value of an expression that fails, or that only Spark can evaluate, where that does not matter."""


@dataclass(frozen=True)
class Judged:
    """A row as an element. `place` is IN_RESULT where it goes into windows, FILTERED, why it is dead, or NOT_KNOWN.

    `key` is null where it cannot be said. `facts` are the values of the expressions that the trigger looks at.
    """

    row: Row
    place: str
    event_time: int | None
    key: Mapping[str, Any] | None
    why: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[Expression, Any] = field(default_factory=dict)
    size: int | None = None
    weight: int = 1
    window: tuple[int, int] | None = None


@dataclass
class Judge:
    """How one input of a stage judges its rows. `alone` is the stage as if it read this input only.

    `kinds` are the types of the rows' columns, `looked_at` what the trigger wants to know of an element, `weight` the
    column of +1 and -1, `size` the bytes of a row, `max_future` how far ahead of its arrival a row may be. `unknown`
    grows with what could not be evaluated, `uncomputed` with the aggregates that take such values, and `decides` is
    false from when on a row could not be judged.
    """

    alone: Stage
    kinds: Mapping[str, str]
    looked_at: tuple[Expression, ...] = ()
    weight: str | None = None
    size: Expression | None = None
    max_future: int | None = None
    unknown: dict[str, None] = field(default_factory=dict)
    uncomputed: set[str] = field(default_factory=set)
    decides: bool = True

    @cached_property
    def evaluator(self) -> Evaluator:
        """Over the columns of a row and those of `select` and `explode`."""
        kinds = dict(self.kinds)
        for made, item in ((self.alone.select, False), (self.alone.explode, True)):
            for name, expression in made.items():
                try:
                    kind = Evaluator(kinds).kind_of(expression)
                except NotEvaluated:
                    continue  # whatever reads the column is not evaluated either
                kinds[name] = kind.removeprefix("array<").removesuffix(">") if item else kind
        return Evaluator(kinds)

    @property
    def value_kinds(self) -> Mapping[str, str]:
        """The types of what each aggregate takes, as far as its values are known."""
        found = {}
        for name, aggregate in self.alone.aggregates.items():
            if name in self.uncomputed:
                continue
            try:
                kinds = [self.evaluator.kind_of(expression) for expression in aggregate.expressions]
                found[name] = kinds[0] if kinds else "int"
            except NotEvaluated as what:
                self._say(f"{name}: {what}")
        return found

    def judged(self, row: Row) -> Iterator[Judged]:
        """A row as an element, or as several with `explode`."""
        if row.get(REASON) is not None:
            yield Judged(row, row[REASON], row[EVENT_TIME], self._key(row), row.get(RULE) or "")
            return
        try:
            items = list(self._items(row))
        except Failed as why:
            yield Judged(
                row, "bad_expression", row[EVENT_TIME], self._key(row), f"an expression of select fails: {why}"
            )
            return
        except NotEvaluated as what:
            yield Judged(row, NOT_KNOWN, row[EVENT_TIME], self._key(row), str(what))
            return
        if not items:
            yield Judged(row, FILTERED, row[EVENT_TIME], self._key(row), "it has no item to explode")
        for columns in items:
            yield self._item(row, columns)

    def was_alive(self, row: Row) -> bool:
        """Whether a row of a quarantined file was alive when it landed. Whether it was `rejected` it says no more."""
        at, arrival = row[EVENT_TIME], row[ARRIVAL_TIME]
        if row[RAW] is not None or at is None or arrival is None:
            return False
        is_ahead = self.max_future is not None and at > arrival + self.max_future
        return not is_ahead and (self.weight is None or row[self.weight] in (1, -1))

    def _items(self, row: Row) -> Iterator[dict[str, Any]]:
        columns = dict(row)
        for name, expression in self.alone.select.items():
            value = self._value(expression, columns, f"select.{name}")
            if value is not _FAILED:
                columns[name] = value
        for name, expression in self.alone.explode.items():
            items = self._deciding(expression, columns, f"explode.{name}")
            yield from ({**columns, name: item} for item in items or [])
            return
        yield columns

    def _item(self, row: Row, columns: Mapping[str, Any]) -> Judged:
        at = row[EVENT_TIME]
        try:
            at = self._time(columns, at)
            if at is None:
                return Judged(row, "bad_timestamp", None, self._key(columns), "its element time is none")
            where = self.alone.where
            if where is not None and self._deciding(where, columns, "where") is not True:
                return Judged(row, FILTERED, at, self._key(columns), f"where: {plain(where)} is not true")
            key = {n: self._deciding(e, columns, f"keys.{n}") for n, e in self.alone.keys.items()}
            values = self._values(columns)
            facts = {e: value for e in self.looked_at if (value := self._value(e, columns, "trigger")) is not _FAILED}
            size = self._bytes(columns)
        except Failed as why:
            return Judged(row, "bad_expression", at, self._key(columns), f"an expression fails: {why}")
        except NotEvaluated as what:
            return Judged(row, NOT_KNOWN, at, self._key(columns), str(what))
        weight = 1 if self.weight is None else int(columns[self.weight])
        own = bounds_of(row) if self.alone.window.FOLLOWS_PANES else None
        return Judged(row, IN_RESULT, at, key, "", values, facts, size, weight, own)

    def _bytes(self, columns: Mapping[str, Any]) -> int | None:
        """The size of a row by the source's expression; null where there is none, as only Spark knows them then."""
        if self.size is None:
            return None
        value = self._value(self.size, columns, "size")
        return max(value or 0, 0) if value is None or isinstance(value, int) else None

    def _time(self, columns: Mapping[str, Any], at: int | None) -> int | None:
        if self.alone.element_time is None:
            return at
        try:
            own = self._deciding(self.alone.element_time.of, columns, "element_time")
        except Failed:
            return None
        return own if isinstance(own, int) and EARLIEST_EVENT_TIME <= own <= LATEST_EVENT_TIME else None

    def _values(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, aggregate in self.alone.aggregates.items():
            values = [self._value(e, columns, f"aggregates.{name}") for e in aggregate.expressions]
            if _FAILED in values:
                self.uncomputed.add(name)
            else:
                found[name] = values[0] if values else 1
        return found

    def _deciding(self, expression: Expression, columns: Mapping[str, Any], place: str) -> Any:
        """The value where it decides what becomes of the row. Raises Failed and NotEvaluated."""
        value = self._value(expression, columns, place)
        if value is _FAILED:
            self.decides = False
            raise NotEvaluated(f"only Spark can evaluate {place}")
        return value

    def _value(self, expression: Expression, columns: Mapping[str, Any], place: str) -> Any:
        """The value, or _FAILED where only Spark can evaluate it. Raises Failed where it fails on the row."""
        try:
            return self.evaluator.evaluate(expression, columns)
        except NotEvaluated as what:
            self._say(f"{place}: {what}")
            return _FAILED

    def _key(self, columns: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The key of a row that is in no window; null where it cannot be said."""
        try:
            key = {n: self.evaluator.evaluate(e, columns) for n, e in self.alone.keys.items()}
        except (Failed, NotEvaluated):
            return None
        unreadable = columns.get(RAW) is not None
        return None if unreadable and self.alone.keys else key

    def _say(self, what: str) -> None:
        self.unknown[f"stage {self.alone.name}, {what}"] = None
