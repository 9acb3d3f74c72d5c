"""The state of a cell, one key and window, as columns: their names, types and first values.

Rule: docs/semantics.md#ticks.

The state is flat: aggregates' parts, what is new, the counters of panes, what the last pane was, and the trigger's
nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.compile.aggregates.parts import CompiledAggregate
from windrow.compile.columns import ELEMENTS, NET
from windrow.compile.panes import event_times
from windrow.compile.sql.columns import Value
from windrow.compile.triggers.tree import TriggerTree, tick_part, timer_column
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.firings import fires_at_end

_COUNTERS: Mapping[str, tuple[str, Value]] = {
    "new": ("bigint", 0),
    "since": ("bigint", None),
    "emitted": ("int", 0),
    "emitted_on_time": ("int", 0),
    "completed": ("boolean", False),
    "closed": ("boolean", False),
}
"""Elements not yet emitted; the least watermark before a tick that added one of them; panes so far, and those not
early; whether a pane was fired with the window complete; whether the trigger has finished."""

_LAST: Mapping[str, tuple[str, Value]] = {
    "standing": ("boolean", False),
    "last_timing": ("int", None),
    "last_on_time_index": ("int", None),
    "last_trigger": ("int", None),
    "last_percentile": ("int", None),
}
"""Whether the window's last pane still stands, and what it was, for its retraction. Names are kept as their indexes in
a list, from 1: a state of numbers alone is grouped by hash, one with texts by sorting."""


@dataclass(frozen=True)
class CellState:
    """The state of a stage's cells. `value_types` and `part_types` are the types of `v_` and `p_` columns.

    A family of windows that keeps more has a class of its own (`CompiledWindows.cells`).
    """

    stage: Stage
    aggregates: Mapping[str, CompiledAggregate]
    tree: TriggerTree
    part_types: Mapping[str, str]
    value_types: Mapping[str, str]
    is_weighted: bool = False
    """Whether elements can be taken back: then the net number of elements is kept, and the last pane."""

    @property
    def parts(self) -> list[tuple[str, str]]:
        """All (aggregate, part) pairs, in order."""
        return [(name, part) for name, aggregate in self.aggregates.items() for part in aggregate.parts]

    @property
    def tick_parts(self) -> list[str]:
        """The columns of all that is aggregated over the elements of a tick, by aggregates and by trigger nodes."""
        of_nodes = [tick_part(n, part) for n, aggregate in self.tree.aggregates.items() for part in aggregate.parts]
        return [*(f"p_{name}_{part}" for name, part in self.parts), *of_nodes, *event_times.partial(self.stage)]

    @property
    def fields_of_parts(self) -> Mapping[str, str]:
        """The columns of what elements make of a cell that has not fired, and the state's fields that have them."""
        counts = {ELEMENTS: "new", **({NET: "net"} if self.is_weighted else {})}
        return {**counts, **{f"p_{name}_{part}": f"a_{name}_{part}" for name, part in self.parts}}

    @property
    def keeps_values(self) -> bool:
        return self.can_retract or self.stage.only_if_changed

    @property
    def can_retract(self) -> bool:
        """Whether a tick may take back a pane, so that what the last one was must be known."""
        return self.stage.can_retract or self.is_weighted

    @property
    def own_fields(self) -> Mapping[str, tuple[str, Value]]:
        """The fields that only the cells of this family have: name, type, and the value in a cell that is new."""
        return {}

    @property
    def state(self) -> Mapping[str, tuple[str, Value]]:
        """The fields of the state: name, type, and the value in a cell that is new."""
        fields: dict[str, tuple[str, Value]] = {
            f"a_{name}_{part}": (self.part_types[f"p_{name}_{part}"], None) for name, part in self.parts
        }
        fields.update(_COUNTERS)
        if self.stage.keeps_event_times:
            fields[event_times.KEPT] = ("bigint", None)
        fields["standing"] = _LAST["standing"]
        if self.is_weighted:
            fields["net"] = ("bigint", 0)
        if self.can_retract:
            fields.update(_LAST)
        if self.can_retract and self.stage.keeps_event_times:
            fields["last_event_time"] = ("bigint", None)
        if self.keeps_values:
            fields.update({f"last_{name}": (kind, None) for name, kind in self.value_types.items()})
        fields.update(self.own_fields)
        fields.update(self.tree.state)
        fields.update({column: ("bigint", None) for column in map(timer_column, self.tree.clocks)})
        return fields

    @property
    def written(self) -> tuple[str, ...]:
        """The fields of the state that are written; the others of an open cell are as in one that is new.

        A window that fires at its end only has shown nothing as long as it is open.
        """
        if not fires_at_end(self.stage):
            return tuple(self.state)
        of_panes = {*_COUNTERS, *_LAST, *(f"last_{name}" for name in self.value_types)} - {"new", "since"}
        return tuple(name for name in self.state if name not in of_panes)

    @property
    def state_type(self) -> str:
        """The Spark type of the state."""
        return "struct<" + ", ".join(f"`{name}`: {kind}" for name, (kind, _) in self.state.items()) + ">"

    @property
    def pane_type(self) -> str:
        """The Spark type of a pane as it is emitted."""
        return self.pane_type_of(self.result_type)

    @property
    def result_type(self) -> str:
        """The Spark type of the result of a pane."""
        result = ", ".join(f"`{name.removeprefix('v_')}`: {kind}" for name, kind in self.value_types.items())
        return f"struct<{result}>"

    def pane_type_of(self, result: str) -> str:
        """The type of a pane with a result of that type."""
        return (
            "struct<change: string, weight: int, timing: string, pane_index: int, on_time_index: int, "
            "is_first: boolean, is_last: boolean, `trigger`: string, watermark_percentile: int, "
            f"{'event_time: bigint, ' if self.stage.keeps_event_times else ''}result: {result}>"
        )
