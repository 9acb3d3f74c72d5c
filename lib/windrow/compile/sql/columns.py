"""Column expressions as Spark SQL text: built in Python, parsed once by Spark.

A `Column` of PySpark is a call to the JVM for every operator; a tick has some thousands of them, and building one took
longer than running it (measured: 0.85 s for a tree of seven nodes, 0.2 s as text). So the compile layer works on text,
which also makes it plain Python, and a projection is handed over as one expression per column. The functions carry the
names that they have in Spark SQL; operators are parenthesised always.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce

from windrow.spec.times import INFINITY


@dataclass(frozen=True, eq=False)
class Column:
    """One expression. Comparison and arithmetic operators give expressions; `cast` takes a Spark type name.

    `over` writes it over a frame of rows, where it is a `sum`, `min` or `max`, cast or not.
    """

    text: str
    over: Callable[[str], str] | None = field(default=None, repr=False)

    def __add__(self, other: Value) -> Column:
        return Column(f"({self.text} + {text(other)})")

    def __sub__(self, other: Value) -> Column:
        return Column(f"({self.text} - {text(other)})")

    def __mul__(self, other: Value) -> Column:
        return Column(f"({self.text} * {text(other)})")

    def __truediv__(self, other: Value) -> Column:
        return Column(f"({self.text} / {text(other)})")

    def __and__(self, other: Value) -> Column:
        return Column(f"({self.text} AND {text(other)})")

    def __or__(self, other: Value) -> Column:
        return Column(f"({self.text} OR {text(other)})")

    def __invert__(self) -> Column:
        return Column(f"(NOT {self.text})")

    def __eq__(self, other: Value) -> Column:  # type: ignore[override]
        return Column(f"({self.text} = {text(other)})")

    def __ne__(self, other: Value) -> Column:  # type: ignore[override]
        return Column(f"({self.text} <> {text(other)})")

    def __lt__(self, other: Value) -> Column:
        return Column(f"({self.text} < {text(other)})")

    def __le__(self, other: Value) -> Column:
        return Column(f"({self.text} <= {text(other)})")

    def __gt__(self, other: Value) -> Column:
        return Column(f"({self.text} > {text(other)})")

    def __ge__(self, other: Value) -> Column:
        return Column(f"({self.text} >= {text(other)})")

    def same(self, other: Column) -> Column:
        """Equal, where null is equal to null."""
        return Column(f"({self.text} <=> {other.text})")

    def between(self, low: Value, high: Value) -> Column:
        return (self >= low) & (self <= high)

    def cast(self, kind: str) -> Column:
        over = self.over
        framed = None if over is None else lambda frame: f"CAST({over(frame)} AS {kind})"
        return Column(f"CAST({self.text} AS {kind})", framed)

    def try_cast(self, kind: str) -> Column:
        return Column(f"TRY_CAST({self.text} AS {kind})")

    def field(self, name: str) -> Column:
        """A field of a struct."""
        return Column(f"{self.text}.{quoted(name)}")

    def is_null(self) -> Column:
        return Column(f"({self.text} IS NULL)")

    def is_not_null(self) -> Column:
        return Column(f"({self.text} IS NOT NULL)")

    def rlike(self, pattern: str) -> Column:
        return Column(f"({self.text} RLIKE {text(pattern)})")


Value = Column | bool | int | float | Decimal | str | None
"""What may stand beside an operator: an expression, or a literal of Python."""


def quoted(name: str) -> str:
    """An identifier in backticks."""
    return "`" + name.replace("`", "``") + "`"


def text(value: Value) -> str:
    """The text of an expression or literal. Whole numbers beyond 32 bits are bigint."""
    match value:
        case Column():
            return value.text
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() if -(2**31) <= value < 2**31:
            return str(value)
        case int():
            return bigint(value).text
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case Decimal() if value.is_finite():
            return f"{value:f}BD"
        case _:
            raise TypeError(f"not a literal of SQL: {value!r}")


def col(*path: str) -> Column:
    """A column, or a field of a struct column."""
    return Column(".".join(quoted(name) for name in path))


def lit(value: Value) -> Column:
    """A literal, or the column itself."""
    return Column(text(value))


def null(kind: str) -> Column:
    """Null of that type."""
    return Column(f"CAST(NULL AS {kind})")


def bigint(value: int) -> Column:
    """A literal of 64 bits, also for the smallest one."""
    return Column(f"CAST('{value}' AS BIGINT)" if value == -(2**63) else f"{value}L")


def changing(value: int, row: Column | None = None, or_null: bool = False) -> Column:
    """A literal of 64 bits that is another one in every tick.

    Spark writes a plain number into the code that it compiles for a plan, so that every tick would be compiled anew,
    and never be optimised by the JVM. An array is handed over by reference instead, and its item is picked by an index
    that Spark does not know to be 0: no bit of a column of 64 bits, `window_start` if no other is given. In a
    projection the number of the partition will do. Where it is of another type, it has to be one that may be null
    (`or_null`), and the index is whether it is.
    """
    known, item = Column("`window_start`") if row is None else row, bigint(value).text
    if or_null:
        return Column(f"array({item}, {item})[CAST({known.text} IS NULL AS INT)]")
    return Column(f"array({item})[coalesce({known.text} & 0L, 0L)]")


def call(function: str, *arguments: Value) -> Column:
    """A function of Spark SQL."""
    called = f"{function}({', '.join(text(argument) for argument in arguments)})"
    is_framed = function in _FRAMED and len(arguments) == 1
    return Column(called, (lambda frame: f"{called} OVER ({frame})") if is_framed else None)


def case(*branches: tuple[Column, Value], otherwise: Value = None) -> Column:
    """The value of the first condition that holds."""
    whens = " ".join(f"WHEN {condition.text} THEN {text(value)}" for condition, value in branches)
    return Column(f"CASE {whens} ELSE {text(otherwise)} END")


def when(condition: Column, value: Value, otherwise: Value = None) -> Column:
    """The value where the condition holds, else the other one."""
    return case((condition, value), otherwise=otherwise)


def coalesce(*columns: Value) -> Column:
    """The first that is not null."""
    return call("coalesce", *columns) if len(columns) > 1 else lit(columns[0])


def least(*columns: Value) -> Column:
    """The smallest that is not null."""
    return call("least", *columns) if len(columns) > 1 else lit(columns[0])


def greatest(*columns: Value) -> Column:
    """The largest that is not null."""
    return call("greatest", *columns) if len(columns) > 1 else lit(columns[0])


def struct(**fields: Value) -> Column:
    """A struct of named fields."""
    pairs = ", ".join(f"{text(name)}, {text(value)}" for name, value in fields.items())
    return Column(f"named_struct({pairs})")


def array(*items: Value) -> Column:
    """An array of these items."""
    return call("array", *items)


def empty_array(kind: str) -> Column:
    """An array of that type with nothing in it."""
    return call("array").cast(f"array<{kind}>")


def keep(items: Column, condition: Callable[[Column], Column]) -> Column:
    """The items of an array for which the condition holds."""
    return call("filter", items, _lambda(condition))


def some(items: Column, condition: Callable[[Column], Column]) -> Column:
    """Whether the condition holds for an item of an array; it must not be null for one."""
    return call("exists", items, _lambda(condition))


def each(items: Column, function: Callable[[Column], Column]) -> Column:
    """What the function gives for every item of an array."""
    return call("transform", items, _lambda(function))


def _lambda(body: Callable[[Column], Column]) -> Column:
    """A function of Spark SQL. The number of its variable is the depth of the functions within its body.

    So a text depends on nothing but what it says, and no variable hides that of a function further out.
    """
    within = (int(number) for number in _VARIABLE.findall(body(Column("item")).text))
    item = Column(f"item{max(within, default=-1) + 1}")
    return Column(f"{item.text} -> {body(item).text}")


_VARIABLE = re.compile(r"\bitem(\d+) ->")


def size(items: Column) -> Column:
    """The number of items of an array, as bigint."""
    return call("size", items).cast("bigint")


def any_of(conditions: Iterable[Column]) -> Column:
    """Whether one of the conditions holds; false for none."""
    several = list(conditions)
    return reduce(lambda left, right: left | right, several) if several else lit(False)


def all_of(conditions: Iterable[Column]) -> Column:
    """Whether every condition holds; true for none."""
    several = list(conditions)
    return reduce(lambda left, right: left & right, several) if several else lit(True)


def saturating_add(column: Column, length: int) -> Column:
    """column + length that stays at +infinity. `length` is not negative."""
    if length == 0:
        return column
    return when(column > bigint(INFINITY - length), bigint(INFINITY), column + bigint(length))


def floor_to(column: Column, period: int, offset: int) -> Column:
    """The largest `k * period + offset` at or before the column; floor division, also for negative times."""
    shifted = column if offset == 0 else column - bigint(offset)
    return column - call("pmod", shifted, bigint(period))


def div(left: Column, right: int) -> Column:
    """Whole division of bigints, towards zero."""
    return Column(f"({left.text} div {bigint(right).text})")


def added(left: Column, right: Column) -> Column:
    """left + right where null is nothing: null only when both are."""
    return coalesce(left + right, left, right)


def over_frame(aggregate: Column, frame: str) -> Column | None:
    """An aggregate over a frame of rows; None where it is not one `count`, `sum`, `min` or `max`."""
    return None if aggregate.over is None else Column(aggregate.over(frame))


_FRAMED = ("count", "sum", "min", "max")
"""The aggregates that grow along a frame at little cost."""


def named(name: str, column: Column) -> str:
    """The expression under a name, as `selectExpr` takes it."""
    return f"{column.text} AS {quoted(name)}"


def index_of(names: Sequence[str], name: Column) -> Column:
    """The index of a name in a list, from 1."""
    return call("array_position", array(*names), name).cast("int")


def name_at(names: Sequence[str], index: Column) -> Column:
    """The name at that index of a list, from 1; null where the list has no such index."""
    return call("element_at", array(*names), index)
