"""Expectations: what must be true of rows, and how much it matters.

An expectation is one of Great Expectations, by its name without `expect_`, with that library's own arguments, but for
conditions, which are expressions of windrow, and types, which are written as in a schema. Checked here is all that can
be known without data: names, arguments and their types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.expressions.plain import plain
from windrow.spec.fields.kinds import COUNT, EXPRESSION, FLAG, NAME, TEXT, choice, list_of, simple
from windrow.spec.fields.reading import AnyKind, Kind, Named, located, unknown_name
from windrow.spec.fields.schemas import column_type
from windrow.spec.times import in_64_bits


class Severity(StrEnum):
    """What a broken expectation does: `critical` stops at the gate, the others are reported."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


SEVERITY = choice(Severity, {"error": "critical", "warn": "warning"})


def _bound(value: Any) -> Any:
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        raise SpecError("", "must be a number, or a text for a time", value)
    return in_64_bits(value) if isinstance(value, int) else value


def _scalar(value: Any) -> Any:
    if not isinstance(value, int | float | str | bool):
        raise SpecError("", "must be a number, a text or true or false", value)
    return in_64_bits(value) if isinstance(value, int) else value


def _several(value: Any) -> Any:
    values = list_of(simple(_scalar)).accept(value)
    if not values:
        raise SpecError("", "must not be empty", value)
    return values


def _regex(value: Any) -> str:
    text: str = TEXT.accept(value)
    try:
        re.compile(text)
    except re.error as error:
        raise SpecError("", f"must be a regular expression ({error})", value) from error
    return text


def _share(value: Any) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise SpecError("", "must be a share above 0, at most 1", value, "0.99: at most one row in a hundred is broken")
    return value


BOUND, SHARE = simple(_bound), simple(_share)
SCALARS: AnyKind = Kind(_several, _several, list)
COLUMNS, REGEX = list_of(NAME), simple(_regex)
TYPE = simple(column_type)
_BETWEEN = {"min_value": BOUND, "max_value": BOUND, "strict_min": FLAG, "strict_max": FLAG}
_LENGTHS = {"min_value": COUNT, "max_value": COUNT}
_PAIR = {"column_A": NAME, "column_B": NAME}


@dataclass(frozen=True)
class Shape:
    """The arguments of an expectation. `by_row`: each row keeps or breaks it, so that it may be a rule of landing.

    `by_schema`: it is about columns and their types, and not about rows, so that it has no condition.
    """

    required: Mapping[str, AnyKind] = field(default_factory=dict)
    optional: Mapping[str, AnyKind] = field(default_factory=dict)
    by_row: bool = False
    by_schema: bool = False

    @property
    def arguments(self) -> dict[str, AnyKind]:
        return {**self.required, **self.optional}


def _of_rows(optional: Mapping[str, AnyKind] | None = None, **required: AnyKind) -> Shape:
    return Shape({"column": NAME, **required}, {**(optional or {}), "mostly": SHARE}, by_row=True)


def _of_column(optional: Mapping[str, AnyKind] | None = None, **required: AnyKind) -> Shape:
    return Shape({"column": NAME, **required}, optional or {})


SHAPES: Mapping[str, Shape] = {
    "column_values_to_not_be_null": _of_rows(),
    "column_values_to_be_null": _of_rows(),
    "column_values_to_be_between": _of_rows(_BETWEEN),
    "column_values_to_be_in_set": _of_rows(value_set=SCALARS),
    "column_values_to_not_be_in_set": _of_rows(value_set=SCALARS),
    "column_values_to_match_regex": _of_rows(regex=REGEX),
    "column_values_to_not_match_regex": _of_rows(regex=REGEX),
    "column_value_lengths_to_be_between": _of_rows(_LENGTHS),
    "column_pair_values_a_to_be_greater_than_b": Shape(_PAIR, {"or_equal": FLAG, "mostly": SHARE}, by_row=True),
    "column_pair_values_to_be_equal": Shape(_PAIR, {"mostly": SHARE}, by_row=True),
    "column_values_to_be_unique": _of_column({"mostly": SHARE}),
    "compound_columns_to_be_unique": Shape({"column_list": COLUMNS}, {"mostly": SHARE}),
    "column_min_to_be_between": _of_column(_BETWEEN),
    "column_max_to_be_between": _of_column(_BETWEEN),
    "column_mean_to_be_between": _of_column(_BETWEEN),
    "column_median_to_be_between": _of_column(_BETWEEN),
    "column_stdev_to_be_between": _of_column(_BETWEEN),
    "column_sum_to_be_between": _of_column(_BETWEEN),
    "column_unique_value_count_to_be_between": _of_column(_LENGTHS),
    "column_proportion_of_unique_values_to_be_between": _of_column(_BETWEEN),
    "column_distinct_values_to_be_in_set": _of_column(value_set=SCALARS),
    "column_distinct_values_to_contain_set": _of_column(value_set=SCALARS),
    "column_distinct_values_to_equal_set": _of_column(value_set=SCALARS),
    "table_row_count_to_be_between": Shape({}, _LENGTHS),
    "table_row_count_to_equal": Shape({"value": COUNT}),
    "unexpected_rows": Shape({"condition": EXPRESSION}, {"mostly": SHARE}, by_row=True),
    "column_values_to_be_of_type": Shape({"column": NAME, "type_": TYPE}, by_schema=True),
    "column_values_to_be_in_type_list": Shape({"column": NAME, "type_list": list_of(TYPE)}, by_schema=True),
    "table_columns_to_match_set": Shape({"column_set": COLUMNS}, {"exact_match": FLAG}, by_schema=True),
}  # fmt: skip
"""Every expectation that a suite may name."""

_HINTS = {
    "not_null": "column_values_to_not_be_null", "between": "column_values_to_be_between",
    "unique": "column_values_to_be_unique", "in_set": "column_values_to_be_in_set",
    "in": "column_values_to_be_in_set", "type": "column_values_to_be_of_type",
}  # fmt: skip
BOUNDS = ("min_value", "max_value")


@dataclass(frozen=True)
class Expectation:
    """One expectation, its arguments in their order, and what happens when it is broken.

    `row`: each row is also judged when it lands, and one that breaks it becomes a dead letter `rejected`.
    `row_condition`: only rows for which it is true are judged. `constraint`: no result of a stage that breaks it
    is ever written. Errors: SpecError.
    """

    expect: str
    arguments: Named[Any]
    severity: Severity = Severity.CRITICAL
    row: bool = False
    row_condition: Expression | None = None
    constraint: bool = False

    def __post_init__(self) -> None:
        name = self.expect.removeprefix("expect_")
        if name not in SHAPES:
            raise unknown_name(name, SHAPES, (), _HINTS, "known expectation").within("expect")
        shape = SHAPES[name]
        for argument in self.arguments:
            if argument not in shape.arguments:
                known = [*shape.arguments, *(name for name in _OWN[1:] if not shape.by_schema or name == "severity")]
                raise unknown_name(str(argument), known, (), {}, f"argument of {name}")
        for argument in shape.required:
            if argument not in self.arguments:
                raise SpecError(argument, f"is missing: {name} needs it", None)
        read = {n: located(n, shape.arguments[n].accept, value) for n, value in self.arguments.items()}
        object.__setattr__(self, "expect", name)
        object.__setattr__(self, "arguments", Named(read))
        object.__setattr__(self, "severity", located("severity", SEVERITY.accept, self.severity))
        if "min_value" in shape.optional and not any(bound in read for bound in BOUNDS):
            raise SpecError("min_value", "is missing, and so is max_value: one of them must be there")
        low, high = (read.get(name) for name in BOUNDS)
        if type(low) is type(high) and low is not None and low > high:
            raise SpecError("max_value", "must not be below min_value", high)
        if self.row_condition is not None:
            if shape.by_schema:
                raise SpecError("row_condition", "is for expectations that are about rows", name, "leave it out")
            condition = located("row_condition", EXPRESSION.accept, self.row_condition)
            object.__setattr__(self, "row_condition", condition)
        for field_name in ("row", "constraint"):
            if located(field_name, FLAG.accept, getattr(self, field_name)) and not shape.by_row:
                by_row = ", ".join(name for name, other in SHAPES.items() if other.by_row)
                rule = "is for expectations that are about single rows"
                raise SpecError(field_name, rule, name, f"these are {by_row}")
        if self.constraint and self.severity is not Severity.CRITICAL:
            raise SpecError("constraint", "is for critical expectations", str(self.severity))

    @classmethod
    def from_mapping(cls, mapping: Any) -> Expectation:
        """The expectation of a YAML mapping. Errors: SpecError."""
        if not isinstance(mapping, Mapping) or not isinstance(mapping.get("expect"), str):
            raise SpecError(
                "", "must be a mapping with `expect`", mapping, "{expect: column_values_to_not_be_null, column: c}"
            )
        given = dict(mapping)
        own = {name: given.pop(name) for name in _OWN if name in given}
        return cls(arguments=Named(given), **own)

    def to_mapping(self) -> dict[str, Any]:
        """The YAML form."""
        shape = SHAPES[self.expect].arguments
        written = {name: shape[name].write(value) for name, value in self.arguments.items()}
        own: dict[str, Any] = {name: True for name in ("row", "constraint") if getattr(self, name)}
        own |= {} if self.row_condition is None else {"row_condition": self.row_condition.text}
        return {"expect": self.expect, **written, "severity": str(self.severity), **own}

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Argument and column, for every column that it is about."""
        one = [(n, self.arguments[n]) for n in ("column", "column_A", "column_B") if n in self.arguments]
        return one + [("column_list", name) for name in self.arguments.get("column_list", ())]

    @property
    def conditions(self) -> dict[str, Expression]:
        """The expressions over a row that it has, by their arguments."""
        own = {"condition": self.arguments.get("condition"), "row_condition": self.row_condition}
        return {name: expression for name, expression in own.items() if expression is not None}

    @property
    def columns_shown(self) -> list[str]:
        """Every column that it reads, each once."""
        read = [name for condition in self.conditions.values() for name in condition.columns]
        return list(dict.fromkeys([*(name for _, name in self.columns), *read]))

    def __str__(self) -> str:
        """Its name and arguments, as reports and dead letters show it."""
        given = {**self.arguments, **({} if self.row_condition is None else {"row_condition": self.row_condition})}
        shown = [_shown(value) if name in _PLAIN else f"{name}={_shown(value)}" for name, value in given.items()]
        return f"{self.expect}({', '.join(shown)})"


_OWN = ("expect", "severity", "row", "row_condition", "constraint")
"""The fields that every expectation has beside its arguments."""
_PLAIN = ("column", "condition")
"""The arguments that are shown without their names."""


def _shown(value: Any) -> str:
    if isinstance(value, Expression):
        return plain(value)
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
