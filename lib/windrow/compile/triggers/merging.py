"""The nodes that keep more where windows merge: what it takes to say in which state the merged window is.

Rule: docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.compile.columns import STATE
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, Value, all_of, call, case, coalesce, lit, when
from windrow.compile.triggers.clocks import CellClock
from windrow.compile.triggers.composites import FirstNode, SequenceNode


class MergingFirstNode(FirstNode):
    """It knows by which child it has finished."""

    FIELDS = {"by": ("int", None)}

    def advanced(self) -> Mapping[str, Column]:
        first = coalesce(*[when(child.col("ready"), index) for index, child in enumerate(self.children)])
        return {"by": when(self.col("fires"), first, self.col("by"))}

    def gathered(self) -> Mapping[str, Column]:
        by = self.of_part("by")
        finished = call("bool_and", by.is_not_null() | sql.col(STATE).is_null())
        return {"finished": finished, "first": call("min", by), "last": call("max", by)}

    def merged(self, clock: CellClock) -> Mapping[str, Column]:
        stays = self.gathered_col("finished") & self.stays_finished(clock)
        return {"by": when(stays, self.gathered_col("first"))}

    def stays_finished(self, clock: CellClock) -> Column:
        """Where one child has finished it in all parts, and that one still is."""
        first, last = self.gathered_col("first"), self.gathered_col("last")
        child = [when(first == index, child.stays_finished(clock)) for index, child in enumerate(self.children)]
        return coalesce((first == last) & coalesce(*child), lit(False))


class MergingSequenceNode(SequenceNode):
    """It may go back to a child while one behind it stays finished: it knows which have."""

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {**super().fields, **{name: ("boolean", False) for name in self._done}}

    @property
    def _done(self) -> list[str]:
        return [f"done{index}" for index in range(len(self.children))]

    def finished(self) -> Column:
        """Where the current child has finished, and all others have."""
        others = all_of(self.col(name) | self.is_current(index) for index, name in enumerate(self._done))
        return self.child_finished() & others

    def advanced(self) -> Mapping[str, Column]:
        moves = self.moves_on()
        done = {name: self.col(name) | (moves & self.is_current(index)) for index, name in enumerate(self._done)}
        return {**done, "position": _first_undone(done.values())}

    def gathered(self) -> Mapping[str, Column]:
        return {name: call("bool_and", self.of_part(name)) for name in self._done}

    def merged(self, clock: CellClock) -> Mapping[str, Column]:
        """It is at the first child that has not finished in all parts, or does not stay so."""
        done = {
            name: self.gathered_col(name) & child.stays_finished(clock)
            for name, child in zip(self._done, self.children, strict=True)
        }
        return {**done, "position": _first_undone(done.values())}

    def stays_finished(self, clock: CellClock) -> Column:
        return all_of(child.stays_finished(clock) for child in self.children)


def _first_undone(done: Iterable[Column]) -> Column:
    several = list(done)
    return case(*[(~each, index) for index, each in enumerate(several)], otherwise=len(several))
