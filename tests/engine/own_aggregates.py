"""An extension module as a user writes it: an aggregate of columns, and two of Python over the values of panes.

`twin` is the rule once more in plain Python, over the values in order, for the reference model.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import windrow
from windrow.compile.sql.columns import Column, added, call, greatest, least


def minus(there: Column, gone: Column) -> Column:
    return there - gone


def total(column: Column) -> Column:
    return call("sum", column)


@windrow.register
@dataclass(frozen=True)
class Span(windrow.CustomAggregate):
    """The largest less the smallest value, in units."""

    NAME = "span"
    TWIN_TYPE = "bigint"
    unit: int = 1

    def parts(self, argument: windrow.Argument) -> Mapping[str, windrow.Part]:
        if argument.kind.simpleString() != "bigint":
            raise argument.refused("takes bigints")
        low, high = call("min", argument.column), call("max", argument.column)
        return {
            "low": windrow.Part(low, lambda column: call("min", column), least),
            "high": windrow.Part(high, lambda column: call("max", column), greatest),
        }

    def extract(self, of: Any) -> Column:
        return ((of("high") - of("low")) / self.unit).cast("bigint")

    def twin(self, values: list[Any]) -> Any:
        return (max(values) - min(values)) // self.unit if values else None


@windrow.register
@dataclass(frozen=True)
class Squares(windrow.CustomAggregate):
    """The sum of squares, which can be undone."""

    NAME = "squares"
    TWIN_TYPE = "bigint"
    CAN_BE_UNDONE = True

    def parts(self, argument: windrow.Argument) -> Mapping[str, windrow.Part]:
        return {"sum": windrow.Part(total(argument.column * argument.column), total, added, minus)}

    def extract(self, of: Any) -> Column:
        return of("sum")

    def twin(self, values: list[Any]) -> Any:
        return sum(value * value for value in values) if values else None


@windrow.register
class Median(windrow.PythonAggregate):
    """The value in the middle, as a double; null over nothing."""

    NAME = "median"
    RETURNS = TWIN_TYPE = "double"

    def compute(self, panes: Any) -> Any:
        return panes.map(lambda values: float(statistics.median(values)) if len(values) else None)

    def twin(self, values: list[Any]) -> Any:
        return float(statistics.median(values)) if values else None


@windrow.register
class Most(windrow.PythonAggregate):
    """The greatest value; fails where there is none, as no pane shows such a window."""

    NAME = "most_of"
    RETURNS = TWIN_TYPE = "bigint"

    def compute(self, panes: Any) -> Any:
        return panes.map(max)

    def twin(self, values: list[Any]) -> Any:
        return max(values)


@windrow.register
@dataclass(frozen=True)
class Joined(windrow.PythonAggregate):
    """The texts in a row; fails on one that is forbidden."""

    NAME = "joined"
    RETURNS = TWIN_TYPE = "string"
    forbidden: str = ""

    def compute(self, panes: Any) -> Any:
        for values in panes:
            if self.forbidden in list(values):
                raise ValueError(f"{self.forbidden} is forbidden")
        return panes.map("-".join)

    def twin(self, values: list[Any]) -> Any:
        return "-".join(values)
