"""How a kind of field looks in YAML, as JSON Schema (draft 2020-12), so that editors can complete and check a file.

A form is less strict than the kind: it knows types, names and patterns, and no rule about several fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Json = dict[str, Any]


class Definitions:
    """The parts of a schema that are referred to by name, each once, however deep they stand in each other."""

    def __init__(self) -> None:
        self.found: dict[str, Json] = {}

    def ref(self, name: str, form: Form) -> Json:
        """A reference to the part of that name, which is made where it is not there yet."""
        if name not in self.found:
            self.found[name] = {}  # it may stand in itself
            self.found[name] = form(self)
        return {"$ref": f"#/$defs/{name}"}


Form = Callable[[Definitions], Json]
"""What a kind of field looks like; it may refer to definitions."""


def anything(definitions: Definitions) -> Json:
    """No restriction."""
    return {}


def fixed(**schema: Any) -> Form:
    """A schema that refers to nothing."""
    return lambda definitions: dict(schema)


def named(name: str, form: Form) -> Form:
    """A form that is a definition of its own."""
    return lambda definitions: definitions.ref(name, form)


def any_of(*forms: Form) -> Form:
    """One of several forms."""
    return lambda definitions: {"anyOf": [form(definitions) for form in forms]}


def items(form: Form) -> Form:
    """A list of such values."""
    return lambda definitions: {"type": "array", "items": form(definitions)}


def values(form: Form) -> Form:
    """A mapping from names to such values."""
    return lambda definitions: {"type": "object", "additionalProperties": form(definitions)}


def one_of(texts: Iterable[str]) -> Form:
    """One of these texts."""
    return fixed(enum=[str(text) for text in texts])


def single(name: str, form: Form) -> Form:
    """A mapping with one field."""
    return lambda definitions: {
        "type": "object",
        "properties": {name: form(definitions)},
        "required": [name],
        "additionalProperties": False,
    }


TEXT_FORM = fixed(type="string", minLength=1)
NAME_FORM = fixed(type="string", pattern="^[A-Za-z_][A-Za-z0-9_]*$")
FLAG_FORM = fixed(type="boolean")
POSITIVE_FORM = fixed(type="integer", minimum=1)
COUNT_FORM = fixed(type="integer", minimum=0)
SHARE_FORM = fixed(type="number", minimum=0, maximum=1)
NUMBER_FORM = fixed(type=["number", "string"])
SCALAR_FORM = fixed(type=["string", "number", "boolean"])
NULL_FORM = fixed(type="null")
EXPRESSION_FORM = named("Expression", fixed(type=["string", "integer", "boolean"], description="Spark SQL"))
TIME_FORM = fixed(type=["string", "number"], description="ISO 8601, for instance 2013-01-01T05:00:00Z")
DURATION_FORM = named(
    "Duration",
    fixed(
        anyOf=[
            {"type": "string", "pattern": r"^\s*[+-]?\d+(\.\d+)?\s*(us|ms|s|m|h|d|w)\s*$"},
            {"type": "string", "pattern": r"^\s*[+-]?P"},
            {"type": "integer"},
        ],
        description="A number and a unit, for instance 250ms, 10s, 1m, 2h, 1d, or ISO 8601 like PT10S",
    ),
)
