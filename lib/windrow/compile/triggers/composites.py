"""The nodes of a trigger tree that have others below them, as columns.

Rules: docs/semantics.md#triggers, docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windrow.compile.sql.columns import Column, Value, all_of, any_of, bigint, call, coalesce, lit, when
from windrow.compile.triggers.clocks import CellClock
from windrow.compile.triggers.nodes import Node, earliest
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import RepeatCount


class FirstNode(Node):
    """Ready when any child is; finished by firing."""

    def ready(self, clock: CellClock) -> Column:
        return any_of(child.col("ready") for child in self.children)

    def leaf(self) -> Column:
        return coalesce(*[when(child.col("ready"), child.col("leaf")) for child in self.children])

    def timer(self, name: str, clock: CellClock) -> Column:
        return earliest([child.col(f"timer_{name}") for child in self.children if child.has_timer(name)])


class AllNode(Node):
    """Ready when every child has been since the reset; a child that was ready is latched."""

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {f"latch{index}": ("boolean", False) for index in range(len(self.children))}

    def sees(self, child: int) -> Column:
        return self.col("sees") & ~self.col(f"latch{child}")

    def _latched(self, child: int) -> Column:
        return self.col(f"latch{child}") | self.children[child].col("ready")

    def ready(self, clock: CellClock) -> Column:
        return all_of(self._latched(index) for index in range(len(self.children)))

    def leaf(self) -> Column:
        new = [
            when(child.col("ready") & ~self.col(f"latch{index}"), child.col("leaf"))
            for index, child in enumerate(self.children)
        ]
        return coalesce(*new, self.children[0].col("leaf"))

    def advanced(self) -> Mapping[str, Column]:
        return {
            f"latch{index}": self.col(f"latch{index}") | (self.col("sees") & child.col("ready"))
            for index, child in enumerate(self.children)
        }

    def stays_finished(self, clock: CellClock) -> Column:
        """It forgets which were ready, and evaluates them again."""
        return lit(False)

    def timer(self, name: str, clock: CellClock) -> Column:
        return earliest(
            when(self.col(f"latch{index}"), bigint(INFINITY), child.col(f"timer_{name}"))
            for index, child in enumerate(self.children)
            if child.has_timer(name)
        )


class SequenceNode(Node):
    """The current child, then the next; finished after the last."""

    FIELDS = {"position": ("int", 0)}

    def is_current(self, child: int) -> Column:
        """Whether the node is at this child."""
        return self.col("position") == child

    def _of_current(self, values: Callable[[Node], Column]) -> Column:
        return coalesce(*[when(self.is_current(index), values(child)) for index, child in enumerate(self.children)])

    def sees(self, child: int) -> Column:
        return self.col("sees") & self.is_current(child)

    def ready(self, clock: CellClock) -> Column:
        return coalesce(self._of_current(lambda child: child.col("ready")), lit(False))

    def leaf(self) -> Column:
        return self._of_current(lambda child: child.col("leaf"))

    def child_fires(self, child: int) -> Column:
        return self.col("fires") & self.is_current(child)

    def child_finished(self) -> Column:
        """Whether the current child has finished, where it fires."""
        return coalesce(self._of_current(lambda child: child.col("finished")), lit(False))

    def moves_on(self) -> Column:
        """Whether the node leaves the current child."""
        return self.col("fires") & self.child_finished()

    def finished(self) -> Column:
        return self.is_current(len(self.children) - 1) & self.child_finished()

    def advanced(self) -> Mapping[str, Column]:
        return {"position": self.col("position") + when(self.moves_on(), 1, 0)}

    def timer(self, name: str, clock: CellClock) -> Column:
        return earliest(
            when(self.is_current(index), child.col(f"timer_{name}"), bigint(INFINITY))
            for index, child in enumerate(self.children)
            if child.has_timer(name)
        )


class RepeatNode(Node):
    """Its child again and again."""

    def ready(self, clock: CellClock) -> Column:
        return self.children[0].col("ready")

    def leaf(self) -> Column:
        return self.children[0].col("leaf")

    def child_fires(self, child: int) -> Column:
        return self.col("fires")

    def finished(self) -> Column:
        return lit(False)

    def child_reset(self, child: int) -> Column:
        return self.col("fires") & self.children[0].col("finished")

    def timer(self, name: str, clock: CellClock) -> Column:
        return self.children[0].col(f"timer_{name}")


class RepeatUntilNode(RepeatNode):
    """As Repeat, until the second child is ready."""

    def ready(self, clock: CellClock) -> Column:
        return any_of(child.col("ready") for child in self.children)

    def leaf(self) -> Column:
        repeat, until = self.children
        return when(until.col("ready"), until.col("leaf"), repeat.col("leaf"))

    def child_fires(self, child: int) -> Column:
        return self.col("fires") & ~self.children[1].col("ready") if child == 0 else lit(False)

    def finished(self) -> Column:
        return self.children[1].col("ready")

    def child_reset(self, child: int) -> Column:
        return self.children[0].col("fires") & self.children[0].col("finished") if child == 0 else lit(False)

    def stays_finished(self, clock: CellClock) -> Column:
        return self.children[1].stays_finished(clock)

    def timer(self, name: str, clock: CellClock) -> Column:
        return earliest([child.col(f"timer_{name}") for child in self.children if child.has_timer(name)])


class RepeatCountNode(RepeatNode):
    """As Repeat, for n firings."""

    FIELDS = {"firings": ("int", 0)}
    trigger: RepeatCount

    def finished(self) -> Column:
        return self.col("firings") + 1 >= self.trigger.times

    def advanced(self) -> Mapping[str, Column]:
        return {"firings": self.col("firings") + when(self.col("fires"), 1, 0)}

    def gathered(self) -> Mapping[str, Column]:
        return {"firings": call("min", self.of_part("firings"))}
