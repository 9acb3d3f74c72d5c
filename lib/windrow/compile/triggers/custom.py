"""A trigger node of a user's own as columns: its expressions over its state and the clocks.

Rule: docs/pipeline-files.md#triggers-of-your-own.
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.columns import ELEMENTS
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, Value, bigint, call, coalesce, lit, when
from windrow.compile.triggers.clocks import CellClock, clock_of
from windrow.compile.triggers.nodes import Node
from windrow.spec.times import INFINITY
from windrow.spec.triggers.custom import CLOCKS, CustomTrigger, expression


def _clock_column(name: str) -> str:
    return f"clock_{name}"


def _field(name: str) -> str:
    """The field of the node's state that holds one of the class: no column of a node is called so."""
    return f"own_{name}"


class CustomNode(Node):
    """State and expressions as the class of the trigger gives them."""

    trigger: CustomTrigger

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {_field(name): field for name, field in self.trigger.STATE.items()}

    def _value(self, place: str, text: str) -> Column:
        """An expression of the class over the columns of this node; null where it fails."""
        own = {name: self.name(_field(name)) for name in self.trigger.STATE}
        of_tick = {name: self.name(f"tick_{name}") for name in self.trigger.aggregates}
        clocks = {name: _clock_column(name) for name in CLOCKS}
        parsed = expression(self.trigger, place, text)
        return Column(parsed.rename({**own, **of_tick, **clocks}).value_sql)

    def _fields(self, function: str, texts: Mapping[str, str]) -> dict[str, Column]:
        """The new values of fields, by the name that the node has for them."""
        kinds = self.trigger.STATE
        return {_field(n): self._value(f"{function}.{n}", text).try_cast(kinds[n][0]) for n, text in texts.items()}

    def clock_columns(self, clock: CellClock) -> Mapping[str, Column]:
        return {_clock_column(name): value for name, value in zip(CLOCKS, clock.known(), strict=True)}

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        gets = self.col("sees") & (sql.col(ELEMENTS) > 0)
        added = self._fields("on_elements", self.trigger.on_elements())
        return {name: when(gets, value, self.col(name)) for name, value in added.items()}

    def ready(self, clock: CellClock) -> Column:
        return coalesce(self._value("ready", self.trigger.ready()), lit(False))

    def finished(self) -> Column:
        return coalesce(self._value("finished", self.trigger.finished()), lit(False))

    def advanced(self) -> Mapping[str, Column]:
        fired = self._fields("on_fire", self.trigger.on_fire())
        return {name: when(self.col("fires"), value, self.col(name)) for name, value in fired.items()}

    def has_timer(self, name: str) -> bool:
        return any(clock_of(domain) == name for domain in self.trigger.deadline())

    def timer(self, name: str, clock: CellClock) -> Column:
        texts = {clock_of(domain): (domain, text) for domain, text in self.trigger.deadline().items()}
        domain, text = texts[name]
        return coalesce(self._value(f"deadline.{domain}", text).try_cast("bigint"), bigint(INFINITY))

    def gathered(self) -> Mapping[str, Column]:
        merges = self.trigger.on_merge()
        return {_field(n): call(_MERGES[how], self.of_part(_field(n))).cast(self.trigger.STATE[n][0])
                for n, how in merges.items()}  # fmt: skip


_MERGES = {"sum": "try_sum", "min": "min", "max": "max", "any": "bool_or", "all": "bool_and"}
