"""What every node of a trigger tree is: its state, and what it does in each phase of a tick, as columns.

Rules: docs/semantics.md#triggers, docs/semantics.md#sessions.

A node never sees a row of its own; it is a set of columns `t<i>_...` of the cell's row. It sees the clocks of the tick
as columns too (`windrow.compile.triggers.clocks`).
`windrow.compile.triggers.tree` puts the phases together; `windrow.compile.triggers.registry` has the list of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from windrow.compile.columns import STATE
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, Value, bigint, lit
from windrow.compile.triggers.clocks import CellClock
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import Trigger


@dataclass
class Node:
    """One node of the tree: its number in preorder, and its columns in each phase."""

    FIELDS: ClassVar[Mapping[str, tuple[str, Value]]] = {}
    """The state: field names with their type and initial value."""

    number: int
    trigger: Trigger
    children: list[Node] = field(default_factory=list)

    def name(self, suffix: str) -> str:
        return f"t{self.number}_{suffix}"

    def col(self, suffix: str) -> Column:
        return sql.col(self.name(suffix))

    @property
    def height(self) -> int:
        return 1 + max((child.height for child in self.children), default=-1)

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return self.FIELDS

    def of_tick(self, name: str) -> Column:
        """What the node aggregates over the tick's elements of its cell; null where it has none, or only nulls."""
        return self.col(f"tick_{name}")

    def clock_columns(self, clock: CellClock) -> Mapping[str, Column]:
        """The clocks of the tick that the node reads as columns, under names that all nodes share."""
        return {}

    def has_timer(self, name: str) -> bool:
        """Whether a deadline of this clock can be in this tree at all."""
        return any(child.has_timer(name) for child in self.children)

    # Each of these gives columns by suffix; the defaults are those of a leaf that is never ready.

    def sees(self, child: int) -> Column:
        """Whether a child gets the tick's elements, where this node does."""
        return self.col("sees")

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        """The state after the tick's elements, by field; fields left out stay as they are."""
        return {}

    def ready(self, clock: CellClock) -> Column:
        return lit(False)

    def leaf(self) -> Column:
        """The number of the leaf on the path that fires, where this node is ready."""
        return lit(self.number)

    def child_fires(self, child: int) -> Column:
        return lit(False)

    def finished(self) -> Column:
        """Whether this node has finished, where it fires."""
        return lit(True)

    def child_reset(self, child: int) -> Column:
        """Whether a child is reset though this node is not."""
        return lit(False)

    def advanced(self) -> Mapping[str, Column]:
        """The state after firing, by field, where this node is not reset."""
        return {}

    def initial(self, clock: CellClock) -> Mapping[str, Column]:
        """The state after a reset, by field."""
        return {name: lit(value).cast(kind) for name, (kind, value) in self.fields.items()}

    def waiting(self) -> Mapping[str, Value]:
        """The state of a node that got elements and waits for nothing but the end of its window, by field."""
        return {name: value for name, (_, value) in self.fields.items()}

    def timer(self, name: str, clock: CellClock) -> Column:
        """When this node must be evaluated next, by a clock, +infinity for never; where `has_timer` holds."""
        return bigint(INFINITY)

    # Of windows that merge: what is gathered over the parts, and what the node of the merged window makes of it.

    def of_part(self, name: str) -> Column:
        """A field of the node in one of the cells that merge."""
        return sql.col(STATE, self.name(name))

    def gathered_name(self, suffix: str) -> str:
        return self.name(f"g_{suffix}")

    def gathered_col(self, suffix: str) -> Column:
        return sql.col(self.gathered_name(suffix))

    def gathered(self) -> Mapping[str, Column]:
        """Aggregates over the parts, by suffix."""
        return {}

    def merged(self, clock: CellClock) -> Mapping[str, Column]:
        """The fields of the merged window's node, from what was gathered; those left out are as in a new one."""
        return {name: self.gathered_col(name) for name in self.gathered() if name in self.fields}

    def stays_finished(self, clock: CellClock) -> Column:
        """Whether a node that had finished in all parts stays so."""
        return lit(True)


def earliest(columns: Iterable[Column]) -> Column:
    """The least of one column or more."""
    several = list(columns)
    return several[0] if len(several) == 1 else sql.least(*several)
