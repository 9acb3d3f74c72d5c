"""Co-groups: several inputs, each with its own keys and aggregates, in the cells of one stage. SEMANTICS section 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tests.model.elements import Reading, Row
from tests.model.typed_stage import TypedStage
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import Named, located, read_fields
from windrow.spec.inherited_windows import InheritedWindows
from windrow.spec.inputs import INPUTS, JOIN, Input, JoinKind, check_inputs
from windrow.spec.stages import Stage
from windrow.spec.triggers import DEFAULT_TRIGGER, AfterBytes, Trigger, nodes_of

OF_INPUTS = ("from", "select", "explode", "element_time", "where", "keys", "aggregates")
"""The fields of a stage that stand in its inputs, where it has several."""


@dataclass(frozen=True)
class CoGroup:
    """A stage over several inputs. `stage` is what they share; its keys and results are those of the panes."""

    stage: Stage
    inputs: Named[Input]
    join: JoinKind | None = None

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> CoGroup:
        """Of a stage's YAML with `inputs`. Errors: SpecError."""
        join = None if mapping.get("join") is None else located("join", JOIN.read, mapping["join"])
        inputs = located("inputs", INPUTS.read, mapping.get("inputs", {}))
        check_inputs(inputs, join)
        for name in OF_INPUTS if join is None else (*OF_INPUTS, "derive", "having"):
            if name in mapping:
                raise SpecError(name, "does not go with inputs", mapping[name], "in each input, or in a stage behind")
        rest = {name: value for name, value in mapping.items() if name not in ("inputs", "join")}
        return cls.of(inputs, join, **stage_fields({**rest, "aggregates": {}}))

    @classmethod
    def of(cls, inputs: Mapping[str, Input], join: JoinKind | None = None, **shared: Any) -> CoGroup:
        """Of its inputs and of what they share: window, trigger, accumulation and so on."""
        results = {name: aggregate for one in inputs.values() for name, aggregate in one.gathered.items()}
        keys = list(next(iter(inputs.values())).keys)
        return cls(Stage(**{**shared, "keys": keys, "aggregates": results}), Named(inputs), join)


def stage_fields(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stage in YAML, also with inherited windows, which the grammar refuses as yet."""
    if mapping.get("window") != {"inherited": {}}:
        return read_fields(Stage, mapping)
    return {**read_fields(Stage, {**mapping, "window": {"global": {}}}), "window": InheritedWindows()}


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
