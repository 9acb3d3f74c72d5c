"""The nodes of a trigger tree that have others below them, as columns.

Rules: docs/semantics.md#triggers, docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from windrow.compile.columns import STATE
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, Value, all_of, any_of, bigint, call, case, coalesce, lit, when
from windrow.compile.triggers.nodes import Node, TickClock, earliest
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import RepeatCount


class FirstNode(Node):
    """Ready when any child is; finished by firing. Where windows merge it knows which child that was."""

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {"by": ("int", None)} if self.merges else {}

    def advanced(self) -> Mapping[str, Column]:
        if not self.merges:
            return {}
        first = coalesce(*[when(child.col("ready"), index) for index, child in enumerate(self.children)])
        return {"by": when(self.col("fires"), first, self.col("by"))}

    def gathered(self) -> Mapping[str, Column]:
        by = self.of_part("by")
        finished = call("bool_and", by.is_not_null() | sql.col(STATE).is_null())
        return {"finished": finished, "first": call("min", by), "last": call("max", by)}

    def merged(self, clock: TickClock) -> Mapping[str, Column]:
        stays = self.gathered_col("finished") & self.stays_finished(clock)
        return {"by": when(stays, self.gathered_col("first"))}

    def stays_finished(self, clock: TickClock) -> Column:
        """Where one child has finished it in all parts, and that one still is."""
        first, last = self.gathered_col("first"), self.gathered_col("last")
        child = [when(first == index, child.stays_finished(clock)) for index, child in enumerate(self.children)]
        return coalesce((first == last) & coalesce(*child), lit(False))

    def ready(self, clock: TickClock) -> Column:
        return any_of(child.col("ready") for child in self.children)

    def leaf(self) -> Column:
        return coalesce(*[when(child.col("ready"), child.col("leaf")) for child in self.children])

    def due(self, name: str, clock: TickClock) -> Column:
        return earliest([child.col(f"due_{name}") for child in self.children if child.has_due(name)])


class AllNode(Node):
    """Ready when every child has been since the reset; a child that was ready is latched."""

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {f"latch{index}": ("boolean", False) for index in range(len(self.children))}

    def sees(self, child: int) -> Column:
        return self.col("sees") & ~self.col(f"latch{child}")

    def _latched(self, child: int) -> Column:
        return self.col(f"latch{child}") | self.children[child].col("ready")

    def ready(self, clock: TickClock) -> Column:
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

    def stays_finished(self, clock: TickClock) -> Column:
        """It forgets which were ready, and asks again."""
        return lit(False)

    def due(self, name: str, clock: TickClock) -> Column:
        return earliest(
            when(self.col(f"latch{index}"), bigint(INFINITY), child.col(f"due_{name}"))
            for index, child in enumerate(self.children)
            if child.has_due(name)
        )


class SequenceNode(Node):
    """The current child, then the next; finished after the last.

    Where windows merge it may go back to a child while one behind it stays finished: it knows which have.
    """

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {"position": ("int", 0), **({name: ("boolean", False) for name in self._done} if self.merges else {})}

    @property
    def _done(self) -> list[str]:
        return [f"done{index}" for index in range(len(self.children))]

    def _current(self, child: int) -> Column:
        return self.col("position") == child

    def _of_current(self, values: Callable[[Node], Column]) -> Column:
        return coalesce(*[when(self._current(index), values(child)) for index, child in enumerate(self.children)])

    def sees(self, child: int) -> Column:
        return self.col("sees") & self._current(child)

    def ready(self, clock: TickClock) -> Column:
        return coalesce(self._of_current(lambda child: child.col("ready")), lit(False))

    def leaf(self) -> Column:
        return self._of_current(lambda child: child.col("leaf"))

    def child_fires(self, child: int) -> Column:
        return self.col("fires") & self._current(child)

    def _child_finished(self) -> Column:
        return coalesce(self._of_current(lambda child: child.col("finished")), lit(False))

    def finished(self) -> Column:
        if self.merges:
            return self._child_finished() & all_of(
                self.col(name) | self._current(i) for i, name in enumerate(self._done)
            )
        return self._current(len(self.children) - 1) & self._child_finished()

    def advanced(self) -> Mapping[str, Column]:
        moves = self.col("fires") & self._child_finished()
        if not self.merges:
            return {"position": self.col("position") + when(moves, 1, 0)}
        done = {name: self.col(name) | (moves & self._current(index)) for index, name in enumerate(self._done)}
        return {**done, "position": _first_undone(done.values())}

    def gathered(self) -> Mapping[str, Column]:
        return {name: call("bool_and", self.of_part(name)) for name in self._done}

    def merged(self, clock: TickClock) -> Mapping[str, Column]:
        """It is at the first child that has not finished in all parts, or does not stay so."""
        done = {
            name: self.gathered_col(name) & child.stays_finished(clock)
            for name, child in zip(self._done, self.children, strict=True)
        }
        return {**done, "position": _first_undone(done.values())}

    def stays_finished(self, clock: TickClock) -> Column:
        return all_of(child.stays_finished(clock) for child in self.children)

    def due(self, name: str, clock: TickClock) -> Column:
        return earliest(
            when(self._current(index), child.col(f"due_{name}"), bigint(INFINITY))
            for index, child in enumerate(self.children)
            if child.has_due(name)
        )


def _first_undone(done: Iterable[Column]) -> Column:
    several = list(done)
    return case(*[(~each, index) for index, each in enumerate(several)], otherwise=len(several))


class RepeatNode(Node):
    """Its child again and again."""

    def ready(self, clock: TickClock) -> Column:
        return self.children[0].col("ready")

    def leaf(self) -> Column:
        return self.children[0].col("leaf")

    def child_fires(self, child: int) -> Column:
        return self.col("fires")

    def finished(self) -> Column:
        return lit(False)

    def child_reset(self, child: int) -> Column:
        return self.col("fires") & self.children[0].col("finished")

    def due(self, name: str, clock: TickClock) -> Column:
        return self.children[0].col(f"due_{name}")


class RepeatUntilNode(RepeatNode):
    """As Repeat, until the second child is ready."""

    def ready(self, clock: TickClock) -> Column:
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

    def stays_finished(self, clock: TickClock) -> Column:
        return self.children[1].stays_finished(clock)

    def due(self, name: str, clock: TickClock) -> Column:
        return earliest([child.col(f"due_{name}") for child in self.children if child.has_due(name)])


class RepeatCountNode(RepeatNode):
    """As Repeat, for n firings."""

    FIELDS = {"firings": ("int", 0)}

    def finished(self) -> Column:
        assert isinstance(self.trigger, RepeatCount)
        return self.col("firings") + 1 >= self.trigger.times

    def advanced(self) -> Mapping[str, Column]:
        return {"firings": self.col("firings") + when(self.col("fires"), 1, 0)}

    def gathered(self) -> Mapping[str, Column]:
        return {"firings": call("min", self.of_part("firings"))}
