"""From when on a source that is read in place can be read again: what its table still keeps of what has landed."""

from __future__ import annotations

from windrow.compile.elements.envelope import STEP
from windrow.drivers.inspect.logs import RawRows
from windrow.spec.errors import SpecError
from windrow.spec.sources.source import resolve_environment
from windrow.store.delta.location import Location
from windrow.store.reading.tables import Condition, Tables
from windrow.store.upstream.places import IN_PLACE, KIND, PART, path_of
from windrow.view.status import KeptRows

_RETENTION = {"delta.logRetentionDuration": "30 days", "delta.deletedFileRetentionDuration": "7 days"}
"""The properties of a table that say how long it keeps commits, and files that are in no newer version; by default."""


def kept_of(tables: Tables, path: str, raw: RawRows) -> KeptRows | None:
    """What is kept of the rows of a raw log; None where nobody knows where the table is.

    Raises NotReadable where another reader is needed.
    """
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


def _parts(raw: RawRows) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """The steps that have landed files, by the paths of these, and those that have landed versions of a feed."""
    files: dict[str, int] = {}
    versions: list[tuple[int, int]] = []
    if raw.table is None:
        return files, versions
    until, is_part = Condition(STEP, "<=", raw.last), Condition(KIND, "=", PART)
    for batch in raw.table.rows((STEP, "version", IN_PLACE), until, is_part):
        for row in batch.to_pylist():
            path = path_of(row[IN_PLACE])
            if path is None:
                versions.append((row["version"], row[STEP]))
            else:
                files[path] = row[STEP]
    return files, versions
