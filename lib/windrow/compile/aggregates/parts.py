"""What an aggregate is made of: parts, each a column of the cell's state, and the value that they make.

Rule: docs/semantics.md#aggregates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from windrow.compile.sql.columns import Column, added, call, lit, when
from windrow.spec.aggregates import Aggregate
from windrow.spec.errors import SpecError

if TYPE_CHECKING:  # extensions import this module, also where there is no Spark
    from pyspark.sql.types import DataType

Values = Callable[[str], Column]
"""Gives the column of a part by its name."""


@dataclass(frozen=True)
class Part:
    """One column of an aggregate's state.

    `prepare` aggregates elements, `merge` aggregates columns that hold this part, `combine` joins two such values
    (null is the part of nothing).
    """

    prepare: Column
    merge: Callable[[Column], Column]
    combine: Callable[[Column, Column], Column]
    uncombine: Callable[[Column, Column], Column] | None = None
    """Takes the second value back from the first, neither of them null; None where that cannot be done."""


class Function(Protocol):
    """A function that a session must know by its name before the value can be computed."""

    @property
    def name(self) -> str:
        """The name under which it is called."""

    def over(self, values: Column) -> Column:
        """The call on an extracted value; null on null."""

    def as_udf(self) -> Any:
        """The function for `spark.udf.register`."""


@dataclass(frozen=True)
class CompiledAggregate:
    """An aggregate over its argument column: its parts, and the value that they make."""

    parts: Mapping[str, Part]
    extract: Callable[[Values], Column]
    carry: Callable[[Values], Mapping[str, Column]] | None = None
    """The parts in their normal form, before they are written; None where they always are."""
    function: Function | None = None
    """What makes the value from what is extracted, outside of Spark's own code."""

    def value(self, of: Values, shown: Column | None = None) -> Column:
        """The value, null where it is not shown; a function is called only where it is."""
        extracted = self.extract(of) if shown is None else when(shown, self.extract(of))
        return extracted if self.function is None else self.function.over(extracted)


@dataclass(frozen=True)
class Argument:
    """What an aggregate is computed over: its name in the stage, the value of an element, its type, and its time."""

    name: str
    aggregate: Aggregate
    column: Column
    kind: DataType
    event_time: Column
    weight: Column | None = None
    """+1, or -1 for an element that takes one back; None where none does."""

    def signed(self, value: Column) -> Column:
        """A number of the element, as it is added up: negative for one that takes back."""
        return value if self.weight is None else when(self.weight < 0, call("negative", value), value)

    def counted(self, condition: Column) -> Column:
        """The number of elements on which the condition is true, less those that are taken back."""
        return call("count", when(condition, 1)) if self.weight is None else total(when(condition, self.weight))

    def where(self, condition: Column) -> Argument:
        """The same, null where the condition does not hold, and without weights."""
        return replace(self, column=when(condition, self.column), weight=None)

    @property
    def number(self) -> Part:
        """The number of values."""
        return Part(self.counted(self.column.is_not_null()), total, added)

    @property
    def function(self) -> str:
        return self.aggregate.NAME

    @property
    def plain(self) -> Column:
        """The value with one zero."""
        return plain(self.column, self.kind)

    def refused(self, rule: str, hint: str | None = None) -> SpecError:
        """The error that an argument of this type gives."""
        return SpecError(f"aggregates.{self.name}", f"{self.function} {rule}", self.kind.simpleString(), hint)

    def require_number(self, digits: int) -> None:
        """Refuse what is no number, and decimals of more digits. Errors: SpecError."""
        from pyspark.sql.types import DecimalType

        from windrow.compile.aggregates.kinds import FLOATS, INTEGERS

        if not isinstance(self.kind, INTEGERS | DecimalType | FLOATS):
            raise self.refused("takes numbers", "cast(... as decimal)")
        if isinstance(self.kind, DecimalType) and self.kind.precision > digits:
            hint = f"cast(... as decimal({digits}, {min(self.kind.scale, 10)}))"
            raise self.refused(f"takes decimals of at most {digits} digits, so that it is exact", hint)

    def require_ordered(self) -> None:
        """Refuse values that have no order. Errors: SpecError."""
        from windrow.compile.aggregates.kinds import has_order

        if not has_order(self.kind):
            raise self.refused("takes values with an order")


def plain(column: Column, kind: DataType) -> Column:
    """-0.0 as 0.0, so that equal values are the same bits."""
    from windrow.compile.aggregates.kinds import FLOATS

    return column + lit(0.0).cast(kind.simpleString()) if isinstance(kind, FLOATS) else column


def total(column: Column) -> Column:
    """The sum over rows."""
    return call("sum", column)


def least(column: Column) -> Column:
    """The smallest over rows."""
    return call("min", column)


def greatest(column: Column) -> Column:
    """The largest over rows."""
    return call("max", column)


def flattened(column: Column) -> Column:
    """The items of all lists over rows, in one list."""
    return call("flatten", call("collect_list", column))
