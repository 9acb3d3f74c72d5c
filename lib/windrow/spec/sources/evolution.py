"""A schema that has changed since rows have landed: where the values of each column are, and what may change.

Rule: docs/pipeline-files.md#a-schema-that-changes. Sources: schema resolution in Avro's specification (aliases,
defaults, promotions). A raw log never changes a column that it has: rows of a wider type, or under another name, land
in a column of their own, so that every reader of the table goes on. Its commits say which column has moved where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from windrow.spec.errors import SpecError
from windrow.spec.fields.widening import is_whole, plain_type, widens, wider_than
from windrow.spec.sources.source import Source


@dataclass(frozen=True)
class Landed:
    """The columns of rows that have landed, with their types, and which column has been moved to which other one."""

    types: Mapping[str, str]
    moved: Mapping[str, str] = field(default_factory=dict)

    def last(self, name: str) -> str:
        """Where a column has been moved to in the end."""
        while name in self.moved:
            name = self.moved[name]
        return name

    def called(self, name: str) -> str | None:
        """The column of a name, whatever its case; None where there is none."""
        return next((known for known in self.types if known.lower() == name.lower()), None)


@dataclass(frozen=True)
class Places:
    """Where the values of a column are: of rows that land now in `written`, of older ones in one of `before`."""

    kind: str
    written: str
    before: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the newest first."""
        return (self.written, *self.before)


@dataclass(frozen=True)
class Resolved:
    """The columns of a source by their places among those that have landed; `moved` is what has moved by now."""

    places: Mapping[str, Places]
    moved: Mapping[str, str]

    @property
    def types(self) -> dict[str, str]:
        """The columns in which the values of new rows are, with their types."""
        return {one.written: one.kind for one in self.places.values()}


def resolved(source: Source, landed: Landed) -> Resolved:
    """Where the columns of a source are among those that have landed.

    Errors: SpecError where a column has landed with a type from which there is no way to its own.
    """
    moved = dict(landed.moved)
    written: dict[str, str] = {}
    for name, kind in source.columns.items():
        written[name] = _written(source, name, kind, landed)
        moved.update(dict.fromkeys(_behind(source, name, kind, landed, written[name]), written[name]))
    _check_apart(source, written, landed)
    after = Landed(landed.types, moved)
    return Resolved(
        {name: Places(kind, written[name], _before(written[name], after)) for name, kind in source.columns.items()},
        moved,
    )


def _written(source: Source, name: str, kind: str, landed: Landed) -> str:
    """The column in which the values of new rows are: the one that is there, unless its type is another."""
    there = landed.last(landed.called(name) or name)
    if there not in landed.types:
        return name
    before = landed.types[there]
    if plain_type(before) == plain_type(kind):
        return there
    _check_widens(source, name, f"schema.{name}", before, kind)
    return _of_type(name, kind)


def _of_type(name: str, kind: str) -> str:
    """The column of rows in which a column has a wider type than in those before."""
    return f"{name}__{re.sub('[^a-z0-9]+', '_', plain_type(kind)).strip('_')}"


def _behind(source: Source, name: str, kind: str, landed: Landed, written: str) -> Iterator[str]:
    """The columns whose place that one takes: of a narrower type, and of other names. Errors: SpecError."""
    for other in source.fields.names_of(name):
        called = landed.called(other)
        there = None if called is None else landed.last(called)
        if there is None or there == written:
            continue
        before = landed.types[there]
        if plain_type(before) != plain_type(kind):
            _check_widens(source, name, f"rename.{other}", before, kind)
        yield there


def _check_widens(source: Source, name: str, place: str, before: str, kind: str) -> None:
    refusal = refusal_of(source, name, before, kind)
    if refusal is not None:
        rule, hint = refusal
        raise SpecError(f"sources.{source.name}.{place}", rule, kind, hint)


def refusal_of(source: Source, name: str, before: str, after: str) -> tuple[str, str] | None:
    """Why a column that has landed with one type may not have another one now, and the fix; None where it may."""
    wider = wider_than(before)
    widen = f", or widen it to {wider}" if wider else ""
    hint = f"keep its type{widen}, and cast it in an expression; or take a new lake path (--set lake=...)"
    if not widens(before, after):
        return f"has landed as {before}", hint
    if name == source.partition and not (is_whole(before) and is_whole(after)):
        return f"has landed as {before}, and gives the source partitions their names, which would be others", hint
    return None


def _check_apart(source: Source, written: Mapping[str, str], landed: Landed) -> None:
    """Refuse two columns that would be one in the raw log. Errors: SpecError."""
    for name, place in written.items():
        others = [other for other, its in written.items() if its == place and other != name]
        wider = [of for of in landed.moved if of not in written and name == _of_type(of, landed.types.get(name, ""))]
        if (others and place != name) or wider:
            rule = f"is in {place} in the rows that have landed, where {(others or wider)[0]} is too"
            raise SpecError(f"sources.{source.name}.schema.{name}", rule, None, f"name it {name}_value, for instance")


def _before(place: str, landed: Landed) -> tuple[str, ...]:
    """The columns that have been moved there, directly or by way of others, the newest first."""
    found: list[str] = []
    level = [place]
    while level:
        level = [name for name, to in landed.moved.items() if to in level and name in landed.types]
        found += level
    return tuple(found)
