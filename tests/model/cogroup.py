"""Co-groups: several inputs, each with its own keys and aggregates, in the cells of one stage.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tests.model.elements import Reading, Row
from tests.model.typed_stage import TypedStage
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import Named
from windrow.spec.stages.inputs import Input, JoinKind
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import DEFAULT_TRIGGER, AfterBytes, Trigger, nodes_of


@dataclass(frozen=True)
class CoGroup:
    """A stage over several inputs. `stage` is what they share; its keys and results are those of the panes."""

    stage: Stage
    inputs: Named[Input]
    join: JoinKind | None = None

    @classmethod
    def of_stage(cls, stage: Stage) -> CoGroup:
        return cls(replace(stage, inputs=Named(), join=None), stage.inputs, stage.join)


@dataclass(frozen=True)
class TypedInput(TypedStage):
    """One input as a stage of its own that never fires; `trigger` is the one that sees its elements."""

    trigger: Trigger = DEFAULT_TRIGGER

    @cached_property
    def trigger_expressions(self) -> tuple[Expression, ...]:
        """What the trigger wants to know of these elements: what they have the columns for."""
        known = {name.lower() for name in self.column_types}
        return tuple(e for e in looked_at(self.trigger) if known >= {column.lower() for column in e.columns})

    @cached_property
    def counts_bytes(self) -> bool:
        return any(isinstance(node, AfterBytes) for node in nodes_of(self.trigger))


@dataclass(frozen=True)
class TypedCoGroup(TypedStage):
    """A co-group whose inputs have known columns: what its cells and firings need to know of it."""

    inputs: Mapping[str, TypedInput] = field(default_factory=dict)

    @cached_property
    def value_types(self) -> Mapping[str, str]:
        return {name: kind for one in self.inputs.values() for name, kind in one.value_types.items()}

    @cached_property
    def key_types(self) -> tuple[str, ...]:
        return next(iter(self.inputs.values())).key_types

    def values_of(self, name: str, row: Row) -> Mapping[str, Any]:
        """What an element of that input gives the aggregates of all: null to those of the others."""
        return {**dict.fromkeys(self.stage.aggregates), **row.values}

    def shared(self, name: str, row: Row) -> Row:
        """The element of an input as one of all inputs together."""
        unknown = dict.fromkeys(looked_at(self.stage.trigger))
        return replace(row, values=self.values_of(name, row), facts={**unknown, **row.facts})


def looked_at(trigger: Trigger) -> list[Expression]:
    """The expressions over elements that the nodes of a trigger want to know."""
    return [e for node in nodes_of(trigger) for a in node.aggregates.values() for e in a.expressions]


def together(typed: TypedStage, readings: Mapping[str, Reading]) -> Reading:
    """The elements of all inputs in a tick as those of one."""
    rows: Sequence[Row] = [
        typed.shared(name, row) if isinstance(typed, TypedCoGroup) else row
        for name, reading in readings.items()
        for row in reading.rows
    ]
    filtered = [row for reading in readings.values() for row in reading.filtered]
    dead = [letter for reading in readings.values() for letter in reading.dead]
    return Reading(tuple(rows), tuple(filtered), tuple(dead))
