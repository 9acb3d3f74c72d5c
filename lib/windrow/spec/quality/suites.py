"""Quality suites: the expectations on the rows of a source, or on the results of a stage, and what they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import located
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.documents import load_yaml, read_document
from windrow.spec.quality.expectations import BOUNDS, Expectation
from windrow.spec.times import parse_time


@dataclass(frozen=True)
class Suite:
    """The expectations of one table, in order; `mask` are the columns whose values nobody is shown, in lower case.

    Errors: SpecError.
    """

    expectations: tuple[Expectation, ...]
    mask: frozenset[str] = frozenset()

    @classmethod
    def from_yaml(cls, path: str | Path) -> Suite:
        """The suite of a YAML file, a list of expectations. Errors: SpecError with file and place."""
        return read_document(path, lambda text: cls.from_list(load_yaml(text)))

    @classmethod
    def from_list(cls, items: Any) -> Suite:
        """The suite of a list of mappings."""
        if not isinstance(items, Iterable) or isinstance(items, str | Mapping):
            raise SpecError("", "must be a list of expectations", items)
        return cls(tuple(located(f"[{i}]", Expectation.from_mapping, item) for i, item in enumerate(items)))

    def to_list(self) -> list[Any]:
        """The YAML form."""
        return [expectation.to_mapping() for expectation in self.expectations]

    @property
    def row_rules(self) -> tuple[Expectation, ...]:
        """The expectations that are also rules of landing."""
        return tuple(expectation for expectation in self.expectations if expectation.row)

    @property
    def constraints(self) -> tuple[Expectation, ...]:
        """The expectations that no result which is written may break."""
        return tuple(expectation for expectation in self.expectations if expectation.constraint)

    def masks(self, expectation: Expectation) -> bool:
        """Whether it is about a column whose values nobody is shown."""
        return any(column.lower() in self.mask for column in expectation.columns_shown)

    def check_source(self, schema: Schema) -> None:
        """Refuse an expectation over a column that the source has not, or a rule that its type does not allow."""
        self._each(lambda expectation: _check_source(expectation, schema))

    def check_stage(self, columns: Iterable[str], is_join: bool = False) -> None:
        """Refuse an expectation over a column that the results have not, and rules of rows, which are for sources.

        A pane of a join holds many rows, and so has no constraint.
        """
        known = Schema({name: "" for name in columns})
        self._each(lambda expectation: _check_stage(expectation, known, is_join))

    def _each(self, check: Callable[[Expectation], None]) -> None:
        for index, expectation in enumerate(self.expectations):
            located(f"[{index}]", check, expectation)


def _check_source(expectation: Expectation, schema: Schema) -> None:
    if expectation.constraint:
        raise SpecError("constraint", "is for the results of a stage", True, "row: true, for a source")
    _check_names(expectation, schema)
    for argument, column in expectation.columns:
        _check_type(expectation, argument, schema[column])
    if "column_B" in expectation.arguments:
        left, right = (schema[expectation.arguments[name]] for name in ("column_A", "column_B"))
        if _family(left) != _family(right):
            raise SpecError("column_B", f"is of the type {right}, and cannot be compared with column_A", left)


def _check_names(expectation: Expectation, schema: Schema) -> None:
    """Refuse an expectation over what is no column."""
    for argument, column in expectation.columns:
        schema.require(column, argument)
    for argument, condition in expectation.conditions.items():
        schema.require_all(condition.columns, argument)


def _family(kind: str) -> str:
    """Types of one family can be compared."""
    if kind.startswith(_NUMBERS):
        return "number"
    return "time" if kind in _TIMES else kind


_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")


def _check_type(expectation: Expectation, argument: str, kind: str) -> None:
    """Values are compared with the column as they are: nothing is cast into what it is not."""
    if "regex" in expectation.arguments or "lengths" in expectation.expect:
        if kind != "string":
            raise SpecError(argument, f"must be a string for {expectation.expect}", kind)
        return
    aggregated = expectation.expect.startswith(("column_mean", "column_sum", "column_median", "column_stdev"))
    if aggregated and not kind.startswith(_NUMBERS):
        raise SpecError(argument, f"must be a number for {expectation.expect}", kind)
    if _is_counted(expectation):
        return
    bounds = [expectation.arguments[name] for name in BOUNDS if name in expectation.arguments]
    values = [value for value in expectation.arguments.get("value_set", ()) if kind != "string" or not _is_text(value)]
    for value in [*bounds, *values]:
        if not _fits(value, kind):
            raise SpecError(argument, f"is of the type {kind}, and cannot be compared with", value)


def _is_counted(expectation: Expectation) -> bool:
    """Whether its bounds are of a number that it counts, and not of the column's values."""
    return any(word in expectation.expect for word in ("count", "proportion"))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int | float):
        return kind.startswith(_NUMBERS)
    return kind in _TIMES and _is_time(value)


def _is_time(text: str) -> bool:
    try:
        return parse_time(text) is not None
    except SpecError:
        return False


def _check_stage(expectation: Expectation, known: Schema, is_join: bool) -> None:
    if expectation.constraint and is_join:
        raise SpecError("constraint", "is not for a join", True, "leave it out, or constrain a stage behind")
    if expectation.row:
        raise SpecError("row", "is for the rows of a source, where they land", True, "leave it out for a stage")
    _check_names(expectation, known)
