"""A stage with everything that its specification means as columns; `windrow.engine.compiling.stage` makes it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from windrow.compile.aggregates.parts import CompiledAggregate, Values
from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import AHEAD, ELEMENTS, INPUT, NET, WEIGHT
from windrow.compile.elements.elements import CompiledElements
from windrow.compile.panes import event_times
from windrow.compile.panes.shown import ShownPanes
from windrow.compile.sql.columns import Column, call, col, when
from windrow.compile.triggers.tree import TriggerTree, tick_part
from windrow.compile.windows.base import CompiledWindows
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.closing import can_close


@dataclass(frozen=True)
class Assertion:
    """The watermark that a row asserts, in bigint microseconds, or null; and the columns that it is read from."""

    column: Column
    columns_read: tuple[str, ...]


@dataclass(frozen=True)
class CompiledStage:
    """A stage and its columns; `stage` is that of the cells, and `panes` says how theirs are shown.

    `floating` names the aggregates whose values depend on the grouping in the last bits.
    """

    stage: Stage
    elements: CompiledElements
    windows: CompiledWindows
    aggregates: Mapping[str, CompiledAggregate]
    cells: CellColumns
    panes: ShownPanes
    key_type: str
    floating: frozenset[str]
    assertion: Assertion | None = None
    inputs: Mapping[str, CompiledStage] = field(default_factory=dict)
    """The stage as each of its inputs sees it, with their elements; these have none themselves."""
    element_types: Mapping[str, str] = field(default_factory=dict)
    """The columns of the elements of all its inputs, and their types; seen by an input, those of that one."""
    nets: bool = False
    """Whether its elements are panes and none is ever taken back, unless the stage that is read is corrected."""

    @property
    def shown(self) -> Stage:
        """The stage as its users know it, with the keys and results of its tables."""
        return self.panes.stage

    @property
    def pane_type(self) -> str:
        """The Spark type of a pane in the journal."""
        return self.cells.pane_type_of(self.panes.result_type)

    def of_input(self, name: str) -> CompiledStage:
        """The stage as an input sees it."""
        return self.inputs[name]

    def lacking(self, names: Container[str]) -> dict[str, str]:
        """The columns of elements, and their types, that only others of its inputs have than these."""
        there = {column for name, one in self.inputs.items() if name in names for column in one.element_types}
        shared = {INPUT, WEIGHT, *there}
        return {column: kind for column, kind in self.element_types.items() if column not in shared}

    @property
    def tree(self) -> TriggerTree:
        return self.cells.tree

    @property
    def can_close(self) -> bool:
        """Whether there can be elements for a closed cell."""
        return can_close(self.stage.trigger, self.stage.allowed_lateness)

    @property
    def is_weighted(self) -> bool:
        """Whether elements can be taken back."""
        return any(one.elements.weight is not None for one in (self, *self.inputs.values()))

    @property
    def partials(self) -> dict[str, Column]:
        """The aggregate columns over elements: `elements` and a `p_` column for each part."""
        return {
            **partials(self.aggregates, self.is_weighted),
            **tick_partials(self.tree.aggregates),
            **event_times.partial(self.stage),
        }

    @property
    def merged_parts(self) -> dict[str, Column]:
        """The same columns over relations that hold them already."""
        return self.merged_parts_over(col)

    def merged_parts_where(self, condition: Column) -> dict[str, Column]:
        """The same, over the rows on which the condition holds."""
        return self.merged_parts_over(lambda name: when(condition, col(name)))

    def merged_parts_over(self, of: Values) -> dict[str, Column]:
        """The same, over the columns that are given for theirs."""
        ahead = {AHEAD: event_times.gathered(self.stage, of(AHEAD))} if self.stage.keeps_event_times else {}
        return {
            ELEMENTS: call("sum", of(ELEMENTS)),
            **({NET: call("sum", of(NET))} if self.is_weighted else {}),
            **{
                part_name(name, part): columns.merge(of(part_name(name, part)))
                for name, aggregate in self.aggregates.items()
                for part, columns in aggregate.parts.items()
            },
            **{
                tick_part(name, part): columns.merge(of(tick_part(name, part)))
                for name, aggregate in self.tree.aggregates.items()
                for part, columns in aggregate.parts.items()
            },
            **ahead,
        }

    @property
    def values(self) -> dict[str, Column]:
        """The values of the aggregates over `p_` columns, by name."""
        return extracted(self.aggregates)


def part_name(aggregate: str, part: str) -> str:
    """The column of an aggregate's part over the tick's elements."""
    return f"p_{aggregate}_{part}"


def partials(aggregates: Mapping[str, CompiledAggregate], is_weighted: bool = False) -> dict[str, Column]:
    """The aggregate columns over elements: their number, their net number where they have weights, and every part."""
    return {
        ELEMENTS: call("count", 1),
        **({NET: call("sum", col(WEIGHT))} if is_weighted else {}),
        **{
            part_name(name, part): columns.prepare
            for name, aggregate in aggregates.items()
            for part, columns in aggregate.parts.items()
        },
    }


def tick_partials(aggregates: Mapping[str, CompiledAggregate]) -> dict[str, Column]:
    """The columns over elements of what the trigger's nodes aggregate."""
    return {
        tick_part(name, part): columns.prepare
        for name, aggregate in aggregates.items()
        for part, columns in aggregate.parts.items()
    }


def extracted(aggregates: Mapping[str, CompiledAggregate]) -> dict[str, Column]:
    """The values of the aggregates, from their `p_` columns."""
    return {name: aggregate.value(_parts_of(name)) for name, aggregate in aggregates.items()}


def _parts_of(name: str) -> Callable[[str], Column]:
    return lambda part: col(part_name(name, part))
