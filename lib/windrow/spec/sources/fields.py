"""The fields of a source's rows: the columns of its schema, the other names that rows give these, and their defaults.

Rule: docs/pipeline-files.md#a-schema-that-changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import TEXT
from windrow.spec.fields.reading import Kind, Named, located
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.values import read_value

DefaultLike = str | int | float | bool | None
"""What stands where a row has no value: a text, a number, true or false, or null."""
_WITHOUT_DEFAULT = ("array", "map", "struct", "binary")


@dataclass(frozen=True)
class Fields:
    """What rows may say: the columns of a schema, and under `rename` other names that fields of these columns have."""

    schema: Schema
    rename: Mapping[str, str]

    def names_of(self, column: str) -> tuple[str, ...]:
        """The names under which a row may have a column: its own, and then the others."""
        return (column, *(name for name, of in self.rename.items() if of == column))

    @property
    def every(self) -> Schema:
        """All of these names with the types of their columns, those of the schema first."""
        return Schema([*self.schema.items(), *((name, self.schema[of]) for name, of in self.rename.items())])


def _rename(value: Any) -> Named[str]:
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a mapping from names of fields to columns", value, "{departure_delay: dep_delay}")
    return Named([(_field(name), located(str(name), TEXT.read, of)) for name, of in value.items()])


def _field(name: Any) -> str:
    return located(str(name), TEXT.read, name)


def _defaults(value: Any) -> Named[Any]:
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a mapping from columns to values", value, "{gate: unknown, distance: null}")
    return Named([(_field(name), located(str(name), _default, one)) for name, one in value.items()])


def _default(value: Any) -> DefaultLike:
    if value is not None and not isinstance(value, str | int | float | bool):
        raise SpecError("", "must be a text, a number, true, false or null", value)
    return value


RENAME: Kind[Named[str], Mapping[str, str]] = Kind(_rename, _rename, dict)
DEFAULTS: Kind[Named[Any], Mapping[str, DefaultLike]] = Kind(_defaults, _defaults, dict)


def check_rename(rename: Mapping[str, str], schema: Schema, taken: frozenset[str]) -> None:
    """Refuse another name of what is no column, and one that is a column itself or, in lower case, `taken`.

    Errors: SpecError.
    """
    columns = {name.lower() for name in schema}
    seen: set[str] = set()
    for name, of in rename.items():
        place = f"rename.{name}"
        schema.require(of, place)
        if name.lower() in columns:
            hint = f"leave it out of the schema: its values are those of {of} from then on"
            raise SpecError(place, "is a column of the schema itself", None, hint)
        if name.lower() in taken:
            raise SpecError(place, "is a column that every row has beside those of the schema")
        if name.lower() in seen:
            raise SpecError(place, "is there twice, but for its case")
        seen.add(name.lower())


def check_defaults(defaults: Mapping[str, DefaultLike], schema: Schema, without: Mapping[str, str]) -> None:
    """Refuse a default of what is no column, one that does not fit the type, and those of columns that can have none.

    `without` are such columns, with what they are. Errors: SpecError.
    """
    for name, value in defaults.items():
        place = f"defaults.{name}"
        schema.require(name, place)
        if name in without:
            hint = "leave it out: a row without it is a dead letter, or counts as it is"
            raise SpecError(place, f"cannot be: {name} is {without[name]} of the source", value, hint)
        kind = schema[name]
        if kind.startswith(_WITHOUT_DEFAULT) and value is not None:
            raise SpecError(place, f"must be null for the type {kind}", value)
        located(place, lambda one, kind=kind: read_value(kind, one), value)  # type: ignore[misc]
