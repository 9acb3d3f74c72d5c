"""Rows that have landed under other schemas, with the columns that their source has now.

Rule: docs/pipeline-files.md#a-schema-that-changes. What has landed stays as it was: it is read in another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from windrow.compile.sql.columns import Column, coalesce, col, lit, null
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.values import read_value
from windrow.spec.fields.widening import plain_type
from windrow.spec.sources.evolution import Places
from windrow.spec.sources.fields import Fields


def as_now(places: Mapping[str, Places], landed: Mapping[str, str]) -> dict[str, Column]:
    """The columns of a source, by their places among the columns that rows have, with these columns' types."""
    return {name: value_of(one.kind, one.names, landed) for name, one in places.items()}


def value_of(kind: str, names: Iterable[str], have: Mapping[str, str]) -> Column:
    """The first value in the columns of these names that are there, as a value of a type; null without any.

    `have` are the columns that are there, with their types.
    """
    types = {name.lower(): (name, its) for name, its in have.items()}
    found = [types[name.lower()] for name in names if name.lower() in types]
    values = [col(name) if plain_type(its) == plain_type(kind) else col(name).cast(kind) for name, its in found]
    return coalesce(*values) if values else null(kind)


def of_fields(fields: Fields, have: Mapping[str, str]) -> dict[str, Column]:
    """The columns of a schema, from rows that have these fields, with their types."""
    return {name: value_of(kind, fields.names_of(name), have) for name, kind in fields.schema.items()}


def with_defaults(schema: Schema, defaults: Mapping[str, Any], names: Iterable[str]) -> dict[str, Column]:
    """The columns of these names, each with its default where it has no value."""
    known = {name: value for name, value in defaults.items() if value is not None}
    return {
        name: coalesce(col(name), _constant(schema[name], known[name])) if name in known else col(name)
        for name in names
    }  # fmt: skip


def _constant(kind: str, value: Any) -> Column:
    read = read_value(kind, value)
    return lit(read.isoformat() if isinstance(read, date) else read).cast(kind)
