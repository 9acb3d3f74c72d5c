"""What a stage means: the part of a specification whose change makes another result, and what a change was.

Names of files, limits, quality suites, freshness and a larger allowed lateness are not part of it: they carry on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windrow.spec.pipelines import source_changes
from windrow.spec.pipelines.used_columns import columns_used
from windrow.spec.sources.all import CONNECTORS
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import BOUND
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import parse_duration
from windrow.spec.triggers.all import counts_bytes
from windrow.spec.triggers.firings import keeps_slices

_NOT_IN_FINGERPRINT_OF_STAGE = ("max_versions_per_tick", "quality", "freshness")
_SOURCE, _READS = "source", "reads"
_BOUND = "max_future"
_NOT_IN_FINGERPRINT_OF_SOURCE = (*CONNECTORS, "quality", "size")


_UPSTREAM_GENERATION = "upstream.generation"
"""What changes where the stage that is read is rebuilt."""


def is_rebuild(change: str) -> bool:
    """Whether a line of `changes` says that a stage in front has been rebuilt."""
    return _without_input(change).startswith(_UPSTREAM_GENERATION)


def is_of_source(change: str) -> bool:
    """Whether a line of `changes` is about the fingerprint of a source."""
    return _without_input(change).startswith("source.")


def fix_of(change: str) -> str | None:
    """What to write so that a source goes on as it has landed, where that is known of such a line."""
    field, _, values = _without_input(change).partition(": ")
    if field != f"source.watermark.{_BOUND}":
        return None
    landed_under = values.partition(" -> ")[0]
    return f"write `watermark: {{{_BOUND}: {landed_under}}}` to go on under the bound of the rows that have landed"


def source_of(stage: Stage, change: str) -> str:
    """The source that such a line is about."""
    return reads_of(stage)[change.split(".", 2)[1] if change.startswith("inputs.") else ONLY]


def _without_input(change: str) -> str:
    """What a line says of an input, or as it is."""
    return change.split(".", 2)[-1] if change.startswith("inputs.") else change


def fingerprint_of(
    stage: Stage, upstreams: Mapping[str, Source | Stage], generations: Mapping[str, int | None]
) -> dict[str, Any]:
    """The fingerprint of a stage over its sources, and over generations of stages, as plain values that JSON can hold.

    The size of a row is looked at when a stage reads it, so it is part of what the stages that count bytes mean.
    """
    alone = by_input(stage)
    read = {
        name: _of_source(one, columns_used(stage, alone[name], one)) if isinstance(one, Source) else
        {"upstream": {"stage": one.name, "generation": generations.get(one.name)}}
        for name, one in upstreams.items()
    }  # fmt: skip
    sizes = {name: _size(stage, one) for name, one in upstreams.items()}
    if stage.inputs:
        inputs = {name: {**sizes[name], **one} for name, one in read.items()}
        return {"stage": _fields(stage), "order": list(inputs), "inputs": inputs}
    return {"stage": {**_fields(stage), **sizes[ONLY]}, **read[ONLY]}


def names_read(fingerprint: Mapping[str, Any]) -> set[str]:
    """The sources and stages that the stage of a fingerprint reads."""
    inputs = fingerprint["inputs"].values() if "inputs" in fingerprint else [fingerprint]
    return {one[_SOURCE]["name"] if _SOURCE in one else one["upstream"]["stage"] for one in inputs}


def _of_source(upstream: Source, uses: list[str]) -> dict[str, Any]:
    source = {name: value for name, value in upstream.to_mapping().items() if name not in _NOT_IN_FINGERPRINT_OF_SOURCE}
    own = {"watermark": _watermark(upstream), source_changes.USES: uses}
    return {_SOURCE: {**source, **own, **upstream.connector.fingerprint}}


def _watermark(source: Source) -> dict[str, Any]:
    """Its fields with the bound that holds, written or not; none is left out, as where no source had one by itself."""
    fields = {name: value for name, value in source.watermark.to_mapping().items() if name != _BOUND}
    return fields if source.max_future is None else {**fields, _BOUND: BOUND.write(source.max_future)}


def _size(stage: Stage, upstream: Source | Stage) -> dict[str, str]:
    """The size of a row, where the stage counts bytes."""
    size = upstream.size if isinstance(upstream, Source) else None
    return {} if size is None or not counts_bytes(stage.trigger) else {"size": size.text}


def _fields(stage: Stage) -> dict[str, Any]:
    fields = {name: value for name, value in stage.to_mapping().items() if name not in _NOT_IN_FINGERPRINT_OF_STAGE}
    return {**fields, "cells": "slices"} if keeps_slices(stage) else fields


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changed in the fingerprint, one line a field; a larger allowed lateness and a new column are no change."""
    return list(_changes("", before, after))


def gains(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The columns that the schemas of its sources have now and had not, with their types: they change no result."""
    gained = [source_changes.gained(*pair) for pair in _sources(before, after)]
    return [f"{name} {kind}" for one in gained for name, kind in one.items()]


def evolved(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """How else the schemas of its sources have changed, in words, whether or not the stage uses the columns."""
    return [*dict.fromkeys(line for pair in _sources(before, after) for line in source_changes.evolved(*pair))]


def _sources(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each source that was read and is read now by one input, as it was and as it is."""
    for name in after.get("inputs", {ONLY: after}):
        was, now = (one.get("inputs", {ONLY: one}).get(name, {}).get(_SOURCE) for one in (before, after))
        if was and now:
            yield was, now


def _changes(place: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        if place == _SOURCE or (place.startswith("inputs.") and place.split(".")[2:] == [_SOURCE]):
            yield from source_changes.changed_columns(place, place.removesuffix(_SOURCE) + _READS, before, after)
            before, after = (_compared(one) for one in (source_changes.with_new_names(before, after), after))
        for name in {**before, **after}:
            yield from _changes(f"{place}.{name}" if place else name, before.get(name), after.get(name))
    elif before != after and not _is_larger_lateness(place, before, after) and not _is_migrated(place, after):
        nothing = "none" if place.endswith(f".watermark.{_BOUND}") else "(default)"
        yield f"{place}: {_shown(before, nothing)} -> {_shown(after, nothing)}"


def _compared(source: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a source's fingerprint that are compared as they are."""
    apart = (source_changes.SCHEMA, source_changes.RENAME, source_changes.DEFAULTS, source_changes.USES)
    return {name: value for name, value in source.items() if name not in apart}


def _is_larger_lateness(place: str, before: Any, after: Any) -> bool:
    return place == "stage.allowed_lateness" and parse_duration(after or 0) >= parse_duration(before or 0)


def _is_migrated(place: str, after: Any) -> bool:
    """Whether a stage has kept slices and does not now: its windows are opened then, whatever else has changed."""
    return place == "stage.cells" and after is None


def _shown(value: Any, nothing: str) -> str:
    return nothing if value is None else str(value)
