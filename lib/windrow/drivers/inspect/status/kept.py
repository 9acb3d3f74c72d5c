"""From when on a source that is read in place can be read again: what is still there of what has landed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from windrow.compile.elements.envelope import OFFSET, STEP
from windrow.drivers.inspect.status.logs import RawRows
from windrow.spec.errors import SpecError
from windrow.spec.sources.source import resolve_environment
from windrow.store.delta.file_system import FileState
from windrow.store.delta.location import Location
from windrow.store.reading.tables import Condition, Tables
from windrow.store.upstream.places import IN_PLACE, KIND, PART, LandedFile, path_of
from windrow.view.status import KeptRows

_RETENTION = {"delta.logRetentionDuration": "30 days", "delta.deletedFileRetentionDuration": "7 days"}
"""The properties of a table that say how long it keeps commits, and files that are in no newer version; by default."""


def kept_of(tables: Tables, path: str, raw: RawRows) -> KeptRows | None:
    """What is kept of the rows of a raw log; None where nobody knows where the table is.

    Raises NotReadable where another reader is needed.
    """
    if raw.are_of_files:
        return KeptRows(path, True, _step_behind(tables, raw), has_files=True)
    try:
        location = Location(resolve_environment(path))
    except SpecError:  # a variable that is not set where somebody only looks
        return None
    table = tables.open(location)
    if table is None:
        return KeptRows(path, is_there=False, from_batch=raw.last + 1)
    files, versions = _parts(raw)
    oldest = table.oldest_commit()
    lost = [step for version, step in versions if version < oldest]
    lost += [files[path] for path in table.gone([*files])]
    commits, data = (table.properties().get(name, text).removeprefix("interval ") for name, text in _RETENTION.items())
    return KeptRows(path, True, max(lost, default=0) + 1, oldest, commits, data, bool(versions))


def _step_behind(tables: Tables, raw: RawRows) -> int:
    """The step from which on all files are there as they landed."""
    landed: dict[str, tuple[int, FileState]] = {}
    for row in _rows(raw, (STEP, OFFSET, IN_PLACE)):
        file = LandedFile.of(row[IN_PLACE])
        if file is not None and file.why is None:
            landed[row[OFFSET]] = row[STEP], FileState(file.size, file.modified)
    found = tables.files([*landed])
    lost = [step for (step, before), now in zip(landed.values(), found, strict=True) if now != before]
    return max(lost, default=0) + 1


def _rows(raw: RawRows, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    assert raw.table is not None
    until, is_part = Condition(STEP, "<=", raw.last), Condition(KIND, "=", PART)
    for batch in raw.table.rows(columns, until, is_part):
        yield from batch.to_pylist()


def _parts(raw: RawRows) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """The steps that have landed files, by the paths of these, and those that have landed versions of a feed."""
    files: dict[str, int] = {}
    versions: list[tuple[int, int]] = []
    if raw.table is None:
        return files, versions
    for row in _rows(raw, (STEP, "version", IN_PLACE)):
        path = path_of(row[IN_PLACE])
        if path is None:
            versions.append((row["version"], row[STEP]))
        else:
            files[path] = row[STEP]
    return files, versions
