"""Joins: the rows that two inputs have in one window, pair by pair. Rule: docs/semantics.md#several-inputs.

A join is a co-group that collects the rows of both sides; its panes are shown as one row per pair. A pane without a row
is held back as by `having`: it is not shown, has no index, and retracts what was shown of the window before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tests.model.cogroup import CoGroup, TypedCoGroup
from tests.model.elements import Row
from tests.model.panes import Pane
from windrow.spec.aggregates import Collect, Count
from windrow.spec.expressions import Expression
from windrow.spec.stages.inputs import JoinKind
from windrow.spec.stages.stage import Stage

Pair = tuple["JoinRow | None", "JoinRow | None"]


@dataclass(frozen=True)
class JoinRow:
    """The columns of one element of a join, in an order of their own that knows nulls."""

    values: tuple[Any, ...]

    def __lt__(self, other: JoinRow) -> bool:
        return repr(self.values) < repr(other.values)


def collecting(group: CoGroup) -> Stage:
    """The stage of a join's cells: it collects and counts the rows of each side."""
    aggregates = {_rows(name): Collect("true") for name in group.inputs}
    counts = {_number(name): Count() for name in group.inputs}
    having = None if group.stage.is_discarding or group.stage.is_mixed else _has_rows(group)
    return replace(group.stage, aggregates={**aggregates, **counts}, having=having)


def _has_rows(group: CoGroup) -> Expression | None:
    """That there is a row to show; of a full join there always is one."""
    assert group.join is not None
    left, right = group.inputs
    needed = [
        name for name, may_lack in ((left, group.join.keeps_right), (right, group.join.keeps_left)) if not may_lack
    ]
    return Expression.parse(" and ".join(f"{_number(name)} > 0" for name in needed)) if needed else None


def _rows(name: str) -> str:
    return f"_{name}_rows"


def _number(name: str) -> str:
    return f"_{name}_number"


@dataclass(frozen=True)
class TypedJoin(TypedCoGroup):
    """A join whose inputs have known columns."""

    join: JoinKind = JoinKind.INNER

    @cached_property
    def value_types(self) -> Mapping[str, str]:
        return {name: "boolean" for name in self.stage.aggregates}

    @cached_property
    def shown_types(self) -> Mapping[str, str]:
        """Of the columns of its rows."""
        keys = dict(zip(self.stage.keys, self.key_types, strict=True))
        columns = {name: kind for one in self.inputs.values() for name, kind in one.value_types.items()}
        return {**keys, **columns, "row": "bigint"}

    def values_of(self, name: str, row: Row) -> Mapping[str, Any]:
        collected = JoinRow(tuple(row.values.values()))
        return {**dict.fromkeys(self.stage.aggregates), _rows(name): collected, _number(name): True}

    def rows_of(self, pane: Pane) -> list[Pane]:
        """The pane as it is shown: a row per pair, with the pane's index and the number of the row in it."""
        left, right = self.inputs
        sides = pane.aggregates[_rows(left)], pane.aggregates[_rows(right)]
        return [
            replace(pane, aggregates={**self._columns(pair), "row": number})
            for number, pair in enumerate(pairs(self.join, *sides))
        ]

    def _columns(self, pair: Pair) -> Mapping[str, Any]:
        columns: dict[str, Any] = {}
        for one, row in zip(self.inputs.values(), pair, strict=True):
            names = list(one.stage.aggregates)
            columns |= dict(zip(names, [None] * len(names) if row is None else row.values, strict=True))
        return columns


def pairs(join: JoinKind, left: Sequence[JoinRow], right: Sequence[JoinRow]) -> Iterator[Pair]:
    """Every row of the left with every one of the right; where one side has none, those of a kept side alone."""
    yield from ((one, other) for one in left for other in right)
    if not right and join.keeps_left:
        yield from ((one, None) for one in left)
    if not left and join.keeps_right:
        yield from ((None, other) for other in right)
