"""A stage over elements of a known schema: the types of everything that it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.model.aggregates import result_type
from tests.model.expressions import type_of
from windrow.spec.stages import Stage
from windrow.spec.watermarks import Watermark


@dataclass(frozen=True)
class TypedStage:
    """A stage, the SQL types of its elements' columns, and the watermark rule of its source, where there is one."""

    stage: Stage
    schema: Mapping[str, str]
    watermark: Watermark | None = None

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
    def result_types(self) -> Mapping[str, str]:
        """Of the keys and aggregates, which `derive` reads."""
        keys = {name: type_of(expression, self.column_types) for name, expression in self.stage.keys.items()}
        results = {name: result_type(a, self.value_types[name]) for name, a in self.stage.aggregates.items()}
        return {**keys, **results}

    @cached_property
    def pane_types(self) -> Mapping[str, str]:
        """Of the keys, aggregates and derived columns, which `having` reads."""
        derived = {name: type_of(expression, self.result_types) for name, expression in self.stage.derive.items()}
        return {**self.result_types, **derived}
