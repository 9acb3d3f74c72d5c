"""A stage over elements of a known schema: the types of everything that it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.model.aggregates import result_type
from tests.model.expressions import type_of
from windrow.spec.expressions import Expression
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import AfterBytes, nodes_of


@dataclass(frozen=True)
class TypedStage:
    """A stage, the SQL types of its elements' columns, and the watermark rule and the size of its source, if any."""

    stage: Stage
    schema: Mapping[str, str]
    watermark: Watermark | None = None
    size: Expression | None = None
    weight: str | None = None
    """The column of +1 and -1, where elements can be taken back."""

    @cached_property
    def trigger_expressions(self) -> tuple[Expression, ...]:
        """What the nodes of the trigger want to know of each element."""
        aggregates = [a for node in nodes_of(self.stage.trigger) for a in node.aggregates.values()]
        return tuple(expression for aggregate in aggregates for expression in aggregate.expressions)

    @cached_property
    def counts_bytes(self) -> bool:
        """Whether the size of an element is looked at."""
        return any(isinstance(node, AfterBytes) for node in nodes_of(self.stage.trigger))

    @cached_property
    def column_types(self) -> Mapping[str, str]:
        """Of the columns of an element, those of `select` included."""
        types = dict(self.schema)
        for name, expression in self.stage.select.items():
            types[name] = type_of(expression, types)
        for name, expression in self.stage.explode.items():
            types[name] = type_of(expression, types).removeprefix("array<").removesuffix(">")
        return types

    @cached_property
    def value_types(self) -> Mapping[str, str]:
        """Of the expression of each aggregate; `count(*)` has none and counts true."""
        return {
            name: type_of(aggregate.expressions[0], self.column_types) if aggregate.expressions else "boolean"
            for name, aggregate in self.stage.aggregates.items()
        }

    @cached_property
    def key_types(self) -> tuple[str, ...]:
        """Of the keys, in order."""
        return tuple(type_of(expression, self.column_types) for expression in self.stage.keys.values())

    @cached_property
    def result_types(self) -> Mapping[str, str]:
        """Of the keys and aggregates, which `derive` reads."""
        keys = dict(zip(self.stage.keys, self.key_types, strict=True))
        results = {name: result_type(a, self.value_types[name]) for name, a in self.stage.aggregates.items()}
        return {**keys, **results}

    @cached_property
    def pane_types(self) -> Mapping[str, str]:
        """Of the keys, aggregates and derived columns, which `having` reads."""
        derived = {name: type_of(expression, self.result_types) for name, expression in self.stage.derive.items()}
        return {**self.result_types, **derived}
