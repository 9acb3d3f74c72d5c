"""Fields as a type checker sees them: what a user may give, and what is kept of it.

A value may be given in several forms (`"1h"`, a `timedelta`) and is kept in one (whole microseconds). The type of a
field says both, and the checker holds it against the field's kind:

    @specification
    class FixedWindows(WindowFunction):
        size: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
        merge: bool = plain(FLAG, default=False)

So `FixedWindows(size="1h")` is right, `FixedWindows(size=1.5)` is wrong, and `.size` is an `int`. When the program
runs, the class is a frozen dataclass like any other: `Converted` is a name in an annotation, and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar, dataclass_transform, overload

from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import AnyKind, Kind, of

T = TypeVar("T")
K = TypeVar("K")
G = TypeVar("G")

DurationLike = timedelta | str | int
"""How long: a `timedelta`, a text as in YAML (`"90m"`, `"PT90M"`), or whole microseconds."""
TimeLike = datetime | str | int
"""When: a `datetime`, a text in ISO 8601, or microseconds since 1970. Without a zone it is UTC."""
ExpressionLike = Expression | str | int
"""An expression of Spark SQL as text or as it was parsed; a number or a boolean is the constant."""


class Converted(Generic[K, G]):
    """The type of a field that is given as `G` and kept as `K`.

    Written as a descriptor, because that is how checkers know of a field that is read as one type and set as another.
    There is no value of it.
    """

    def __get__(self, instance: object, owner: object = None) -> K:
        raise NotImplementedError

    def __set__(self, instance: object, value: G) -> None:
        raise NotImplementedError


@overload
def converted(kind: Kind[K, G], *, default: None, kw_only: bool = ...) -> Converted[K | None, G | None]: ...
@overload
def converted(kind: Kind[K, G], *, default: G = ..., kw_only: bool = ...) -> Converted[K, G]: ...
def converted(kind: AnyKind, **options: Any) -> Any:
    """A field of a kind that keeps another type than it is given."""
    return field(metadata=of(kind), **options)


@overload
def plain(kind: Kind[K, K], *, default: None, kw_only: bool = ...) -> K | None: ...
@overload
def plain(kind: Kind[K, K], *, default: K = ..., kw_only: bool = ...) -> K: ...
def plain(kind: AnyKind, **options: Any) -> Any:
    """A field of a kind that keeps what it is given."""
    return field(metadata=of(kind), **options)


@dataclass_transform(frozen_default=True, field_specifiers=(converted, plain))
def specification(cls: type[T]) -> type[T]:
    """Make the class a frozen dataclass, whose constructor takes for each field what its kind accepts."""
    return dataclass(frozen=True)(cls)
