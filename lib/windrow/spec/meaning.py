"""What a stage means: the part of a specification whose change makes another result, and what a change was.

Names of files, limits, quality suites and a larger allowed lateness are not part of it: they carry on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windrow.spec.sources import Source
from windrow.spec.stages import Stage
from windrow.spec.times import parse_duration

_NOT_MEANING_OF_STAGE = ("max_versions_per_tick", "quality")
_NOT_MEANING_OF_SOURCE = ("files", "quality")


def meaning_of(stage: Stage, source: Source) -> dict[str, Any]:
    """The meaning of a stage over its source, as plain values that JSON can hold."""
    return {
        "stage": {name: value for name, value in stage.to_mapping().items() if name not in _NOT_MEANING_OF_STAGE},
        "source": {name: value for name, value in source.to_mapping().items() if name not in _NOT_MEANING_OF_SOURCE},
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changed in the meaning, one line a field; a larger allowed lateness is no change."""
    return [line for line in _changes("", before, after) if line is not None]


def _changes(place: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            yield from _changes(f"{place}.{name}" if place else name, before.get(name), after.get(name))
    elif before != after and not _is_larger_lateness(place, before, after):
        yield f"{place}: {_shown(before)} -> {_shown(after)}"


def _is_larger_lateness(place: str, before: Any, after: Any) -> bool:
    return place == "stage.allowed_lateness" and parse_duration(after or 0) >= parse_duration(before or 0)


def _shown(value: Any) -> str:
    return "(default)" if value is None else str(value)
