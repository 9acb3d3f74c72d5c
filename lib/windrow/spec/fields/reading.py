"""How a field of a specification is read, checked and written: a `Kind` for each type that users write.

A specification is a frozen dataclass that derives from `Spec`. Each of its fields names its kind:

    size: int = field(metadata=of(POSITIVE_DURATION))

windrow's own write that in another way, by which a type checker knows both what is passed and what is kept: `typed.py`.

`accept` takes what Python code passes (and the stored value itself), `read` what stands in YAML, `write` gives the
YAML form back. All three raise `SpecError` with an empty place; the caller puts the name of the field in front.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields.forms import Definitions, Form, Json, anything

T = TypeVar("T")
V = TypeVar("V")
K = TypeVar("K")
G = TypeVar("G")


@dataclass(frozen=True)
class Kind(Generic[K, G]):
    """One type of field: what Python passes, what YAML says, and the YAML form.

    `K` is the type of what is kept, `G` that of what Python may give.
    """

    accept: Callable[[Any], K]
    read: Callable[[Any], K]
    write: Callable[[Any], Any]
    form: Form = anything
    """What the YAML form looks like, for editors."""


AnyKind = Kind[Any, Any]


def of(kind: AnyKind) -> Mapping[str, AnyKind]:
    """The metadata of a dataclass field of this kind."""
    return {"kind": kind}


def kind_of(spec_field: Field[Any]) -> AnyKind:
    """The kind that a field of a specification names; one that names none (of a user's own class) is taken as it is."""
    kind: AnyKind = spec_field.metadata.get("kind", _AS_IT_IS)
    return kind


_AS_IT_IS: AnyKind = Kind(lambda value: value, lambda value: value, lambda value: value)


class Spec:
    """The base of all specifications: every field goes through its kind, then `validate` checks the whole.

    `YAML_LATER` names fields that the documentation has and this version has not, `YAML_HINTS` what people from
    elsewhere call a field.
    """

    YAML_LATER: ClassVar[frozenset[str]] = frozenset()
    YAML_HINTS: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for spec_field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, spec_field.name)
            if value is None and spec_field.default is None:
                continue
            object.__setattr__(self, spec_field.name, located(spec_field.name, kind_of(spec_field).accept, value))
        try:
            self.validate()
        except SpecError as error:
            error.is_refusal = True
            raise

    def validate(self) -> None:
        """Check what concerns more than one field; raise SpecError."""

    @classmethod
    def from_mapping(cls, mapping: Any) -> Self:
        """The value of a YAML mapping. Strict: an unknown, missing or ill-typed field is a SpecError."""
        return cls(**read_fields(cls, mapping))

    def to_mapping(self) -> dict[str, Any]:
        """The YAML form: every field that is not at its default."""
        return write_fields(self)


def yaml_name(spec_field: Field[Any]) -> str:
    """The name of a field in YAML: `from` for `from_`, which Python keeps to itself."""
    return spec_field.name.rstrip("_")


def read_fields(cls: type[Spec], mapping: Any) -> dict[str, Any]:
    """The constructor arguments that a YAML mapping gives, each read by its kind."""
    if not isinstance(mapping, Mapping):
        raise SpecError("", "must be a mapping", mapping, f"its fields are {_listed(_names(cls))}")
    known = {yaml_name(spec_field): spec_field for spec_field in fields(cls)}  # type: ignore[arg-type]
    for name in mapping:
        if name not in known:
            raise unknown_name(str(name), known, cls.YAML_LATER, cls.YAML_HINTS, "field")
    arguments = {}
    for name, spec_field in known.items():
        if name in mapping and not (mapping[name] is None and spec_field.default is None):
            read = kind_of(spec_field).read
            arguments[spec_field.name] = located(name, read, mapping[name])
        elif name not in mapping and spec_field.default is MISSING and spec_field.default_factory is MISSING:
            raise SpecError(name, "is missing", None, f"the fields are {_listed(known)}")
    return arguments


def write_fields(spec: Spec) -> dict[str, Any]:
    """The YAML form of the fields that are not at their defaults."""
    written = {}
    for spec_field in fields(spec):  # type: ignore[arg-type]
        value, kind = getattr(spec, spec_field.name), kind_of(spec_field)
        if not _is_default(spec_field, kind, value):
            written[yaml_name(spec_field)] = kind.write(value)
    return written


def form_of(cls: type[Spec], but: Iterable[str] = ()) -> Form:
    """What a specification looks like in YAML: a definition by the name of its class, without the fields `but`."""

    def form(definitions: Definitions) -> Json:
        own = [one for one in fields(cls) if yaml_name(one) not in but]  # type: ignore[arg-type]
        required = [yaml_name(one) for one in own if one.default is MISSING and one.default_factory is MISSING]
        return {
            "type": "object",
            "description": (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " "),
            "properties": {yaml_name(one): kind_of(one).form(definitions) for one in own},
            "required": required,
            "additionalProperties": False,
        }

    return lambda definitions: definitions.ref(cls.__name__, form)


def _is_default(spec_field: Field[Any], kind: AnyKind, value: Any) -> bool:
    default = spec_field.default if spec_field.default_factory is MISSING else spec_field.default_factory()
    if default is MISSING:
        return False
    return bool(value is None if default is None else value == kind.accept(default))


def unknown_name(
    name: str, known: Iterable[str], later: Iterable[str], hints: Mapping[str, str], what: str
) -> SpecError:
    """The error for a name that is not known: not in this version, translated, or the nearest one that exists."""
    known = list(known)
    rule = f"is not {'an' if what[0] in 'aeiou' else 'a'} {what}"
    if name in later:
        return NotInThisVersion.named(name)
    if name in hints:
        return SpecError(name, rule, None, f"here it is called {hints[name]}")
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"one of {_listed(known)}" if known else "there is none"
    return SpecError(name, rule, None, hint)


def _names(cls: type[Spec]) -> list[str]:
    return [yaml_name(spec_field) for spec_field in fields(cls)]  # type: ignore[arg-type]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def located(place: str, function: Callable[[Any], T], value: Any) -> T:
    """function(value), with `place` in front of the place of an error, and a plain value as what was got."""
    try:
        return function(value)
    except SpecError as error:
        got = value if error.got is not None and isinstance(value, str | int | float | bool) else None
        raise error.within(place, got) from error


class Named(Mapping[str, V]):
    """An ordered, immutable, hashable mapping from names to values; equal only with the same order."""

    def __init__(self, items: Mapping[str, V] | Iterable[tuple[str, V]] = ()) -> None:
        self._items: dict[str, V] = dict(items)

    def __getitem__(self, name: str) -> V:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and list(self._items.items()) == list(other._items.items())

    def __repr__(self) -> str:
        return repr(self._items)
