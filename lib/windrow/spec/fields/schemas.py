"""The schema of a source's rows: column names and Spark types, from a DDL text, without a JVM."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.reading import Kind, Named

_SIMPLE = {
    "string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "timestamp",
    "timestamp_ntz", "binary",
}  # fmt: skip
_SAME = {"long": "bigint", "integer": "int", "byte": "tinyint", "short": "smallint", "real": "float",
         "varchar": "string"}  # fmt: skip
_NESTED = ("array", "map", "struct", "decimal")


class Schema(Named[str]):
    """Column names and their types in Spark's spelling, in order. Names are unlike each other whatever their case."""

    @classmethod
    def parse(cls, text: str) -> Schema:
        """The schema of a DDL text such as `carrier string, dep_delay int`. Errors: SpecError."""
        return _parsed(text)

    @classmethod
    def of_columns(cls, columns: list[tuple[str, str]]) -> Schema:
        """A schema of (name, type) pairs; two names that differ in case only are an error."""
        seen: set[str] = set()
        for name, _ in columns:
            if name.lower() in seen:
                raise SpecError("", f"has the column {name} twice", name)
            seen.add(name.lower())
        return cls(columns)

    def require(self, column: str, place: str) -> None:
        """Raise SpecError unless the column is there."""
        if column not in self:
            near = difflib.get_close_matches(column, self, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the columns are {', '.join(self)}"
            raise SpecError(place, "is not a column here", column, hint)

    def require_all(self, columns: Iterable[str], place: str) -> None:
        """Raise SpecError unless the columns of an expression are there; their case does not matter."""
        known = {name.lower() for name in self}
        for column in columns:
            if column.lower() not in known:
                self.require(column, place)

    @property
    def ddl(self) -> str:
        """The schema as a DDL text that Spark reads."""
        return ", ".join(f"`{name}` {kind}" for name, kind in self.items())


@lru_cache(256)
def _parsed(text: str) -> Schema:
    """A schema never changes, and that of a table of windrow is read for each stage."""
    try:
        table = sqlglot.parse_one(f"CREATE TABLE t ({text})", dialect="spark")
    except SqlglotError as error:
        raise SpecError("", "must be a list of columns and types", text, "a string, b long") from error
    definition = table.this
    has_more = {name for name, value in table.args.items() if value} - {"this", "kind"}
    if not isinstance(definition, exp.Schema) or not definition.expressions or has_more:
        raise SpecError("", "must be a list of columns and types", text, "a string, b long")
    return Schema.of_columns([_column(node, text) for node in definition.expressions])


def _column(node: exp.Expression, text: str) -> tuple[str, str]:
    kind = node.args.get("kind") if isinstance(node, exp.ColumnDef) else None
    if kind is None or node.args.get("constraints"):
        raise SpecError("", "must be a list of columns and types", text, "a string, b long")
    return node.name, column_type(kind.sql(dialect="spark"))


def column_type(text: Any) -> str:
    """The type of one column in Spark's spelling (`long` is `bigint`). Errors: SpecError."""
    if not isinstance(text, str):
        raise SpecError("", "must be a type", text, "for instance string, long, double, timestamp")
    plain = _SAME.get(text.strip().lower(), text.strip().lower())
    if plain in _SIMPLE or plain.startswith(_NESTED):
        return plain
    known = f"{', '.join(sorted(_SIMPLE))}, decimal(p, s), array, map, struct"
    raise SpecError("", "is not a type", text, f"one of {known}")


def _accept(value: Any) -> Schema:
    if isinstance(value, Schema):
        return value
    if isinstance(value, Mapping):
        return Schema.of_columns([(name, column_type(kind)) for name, kind in value.items()])
    if isinstance(value, str):
        return Schema.parse(value)
    raise SpecError("", "must be a list of columns and types", value, "a string, b long")


SchemaLike = Schema | Mapping[str, str] | str
"""Columns and their types: a DDL text, or a mapping from names to types."""
SCHEMA: Kind[Schema, SchemaLike] = Kind(
    _accept,
    _accept,
    lambda schema: ", ".join(f"{name} {kind}" for name, kind in schema.items()),
    forms.any_of(forms.TEXT_FORM, forms.values(forms.TEXT_FORM)),
)
