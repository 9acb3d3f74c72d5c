"""What a stage means: the part of a specification whose change makes another result, and what a change was.

Names of files, limits, quality suites and a larger allowed lateness are not part of it: they carry on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windrow.spec.schemas import Schema
from windrow.spec.sources import CONNECTORS, Source
from windrow.spec.stages import Stage
from windrow.spec.times import parse_duration
from windrow.spec.triggers import counts_bytes

_NOT_MEANING_OF_STAGE = ("max_versions_per_tick", "quality")
_SCHEMA = "source.schema"
_NOT_MEANING_OF_SOURCE = (*CONNECTORS, "quality", "size")


UPSTREAM_GENERATION = "upstream.generation"
"""What changes where the stage that is read is rebuilt."""


def meaning_of(stage: Stage, upstream: Source | Stage, generation: int | None = None) -> dict[str, Any]:
    """The meaning of a stage over its source, or over a generation of a stage, as plain values that JSON can hold.

    The size of a row is looked at when a stage reads it, so it is part of what the stages that count bytes mean.
    """
    if isinstance(upstream, Stage):
        return {"stage": _fields(stage), "upstream": {"stage": upstream.name, "generation": generation}}
    source = upstream
    size = {"size": source.size.text} if source.size is not None and counts_bytes(stage.trigger) else {}
    return {
        "stage": {**_fields(stage), **size},
        "source": {
            **{name: value for name, value in source.to_mapping().items() if name not in _NOT_MEANING_OF_SOURCE},
            **source.connector.meaning,
        },
    }


def _fields(stage: Stage) -> dict[str, Any]:
    return {name: value for name, value in stage.to_mapping().items() if name not in _NOT_MEANING_OF_STAGE}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changed in the meaning, one line a field; a larger allowed lateness and a new column are no change."""
    return list(_changes("", before, after))


def gains(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The columns that the schema of the source has now and had not, with their types: they change no result."""
    had, has = (_columns(meaning) for meaning in (before, after))
    return [f"{name} {kind}" for name, kind in has.items() if name.lower() not in {known.lower() for known in had}]


def _columns(meaning: Mapping[str, Any]) -> Schema:
    source = meaning.get("source")
    return Schema() if source is None else Schema.parse(source["schema"])


def _changes(place: str, before: Any, after: Any) -> Iterator[str]:
    if place == _SCHEMA and isinstance(before, str) and isinstance(after, str):
        yield from _changed_columns(Schema.parse(before), Schema.parse(after))
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            yield from _changes(f"{place}.{name}" if place else name, before.get(name), after.get(name))
    elif before != after and not _is_larger_lateness(place, before, after):
        yield f"{place}: {_shown(before)} -> {_shown(after)}"


def _changed_columns(before: Schema, after: Schema) -> Iterator[str]:
    """The columns that are gone or have another type."""
    for name, kind in before.items():
        if after.get(name) != kind:
            yield f"{_SCHEMA}.{name}: {kind} -> {after.get(name, '(gone)')}"


def _is_larger_lateness(place: str, before: Any, after: Any) -> bool:
    return place == "stage.allowed_lateness" and parse_duration(after or 0) >= parse_duration(before or 0)


def _shown(value: Any) -> str:
    return "(default)" if value is None else str(value)
