"""What has changed in a source that a stage reads, by two of its fingerprints.

Rule: docs/pipeline-files.md#a-schema-that-changes. A line that begins with `source` is about rows that have landed,
which nothing changes any more. One that begins with `reads` is about a column that the stage uses: a new generation
reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.widening import is_whole, plain_type, widens

SCHEMA, RENAME, DEFAULTS, USES = "schema", "rename", "defaults", "uses"
"""Fields of the fingerprint of a source that are compared column by column, or not at all."""
_OF_COLUMNS = ("event_time", "arrival_time")
_COLUMNS = ("partition", "weight")

Source = Mapping[str, Any]
"""The fingerprint of a source."""


def with_new_names(before: Source, after: Source) -> dict[str, Any]:
    """A fingerprint whose columns of times, partition and weight have the names that they have now."""
    names = _renamed(before, after)
    found = dict(before)
    for field in _OF_COLUMNS:
        time = found.get(field)
        if isinstance(time, Mapping) and time["column"] in names:
            found[field] = {**time, "column": names[time["column"]]}
    return {**found, **{field: names[found[field]] for field in _COLUMNS if found.get(field) in names}}


def changed_columns(source: str, reads: str, before: Source, after: Source) -> Iterator[str]:
    """The columns whose type is another one that does not hold their values, at the place of the source.

    And those that the stage uses of which another type, name or default is read now, at that of what it reads.
    """
    had, has, names = _schema(before), _schema(after), _renamed(before, after)
    uses = {name.lower() for name in after.get(USES, has)}
    former = {new.lower(): old for old, new in names.items()}
    for name, kind in has.items():
        old = _called(had, name) or former.get(name.lower())
        if old is None:
            continue
        is_other = plain_type(had[old]) != plain_type(kind)
        if is_other and not _may_be(after, name, had[old], kind):
            yield f"{source}.{SCHEMA}.{name}: {had[old]} -> {kind}"
        elif name.lower() in uses:
            yield from _read_otherwise(f"{reads}.{name}", old, former.get(name.lower()), is_other, before, after, name)


def _read_otherwise(
    place: str, old: str, former: str | None, is_other: bool, before: Source, after: Source, name: str
) -> Iterator[str]:
    if former is not None:
        yield f"{place}: {former} -> {name}"
    if is_other:
        yield f"{place}: {_schema(before)[old]} -> {_schema(after)[name]}"
    was, now = (_default(of, column) for of, column in ((before, old), (after, name)))
    if was != now:
        yield f"{place}: default {_shown(was)} -> {_shown(now)}"


def _shown(default: Any) -> str:
    return "null" if default is None else str(default)


def _may_be(after: Source, name: str, had: str, kind: str) -> bool:
    """Whether rows that have landed with the one type may be read with the other one."""
    return widens(had, kind) and (name != after.get("partition") or (is_whole(had) and is_whole(kind)))


def evolved(before: Source, after: Source) -> list[str]:
    """How the schema has changed, in words, a line for each column: whatever the stage uses of it."""
    had, has, names = _schema(before), _schema(after), _renamed(before, after)
    lines = [f"renames {old} {had[old]} to {new}" for old, new in names.items()]
    lines += [f"widens {name} from {had[old]} to {kind}" for name, kind in has.items()
              if (old := _called(had, name)) is not None and widens(had[old], kind)]  # fmt: skip
    gone = [name for name in had if _called(has, name) is None and name not in names]
    return [*lines, *(f"loses {name}: the rows that have landed keep it" for name in gone)]


def gained(before: Source, after: Source) -> dict[str, str]:
    """The columns that it has now and had not, under no name, with their types."""
    had, former = _schema(before), {new.lower() for new in _renamed(before, after).values()}
    return {n: kind for n, kind in _schema(after).items() if _called(had, n) is None and n.lower() not in former}


def _renamed(before: Source, after: Source) -> dict[str, str]:
    """The columns that had another name, by it: now that is another name of a field of theirs."""
    had = _schema(before)
    found = ((_called(had, old), new) for old, new in after.get(RENAME, {}).items())
    return {old: new for old, new in found if old is not None}


def _called(schema: Schema, name: str) -> str | None:
    return next((known for known in schema if known.lower() == name.lower()), None)


def _default(source: Source, column: str) -> Any:
    return source.get(DEFAULTS, {}).get(column)


def _schema(source: Source) -> Schema:
    return Schema.parse(source[SCHEMA]) if source.get(SCHEMA) else Schema()
