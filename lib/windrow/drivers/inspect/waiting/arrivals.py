"""Whether something new has come for a source, by a look at what it reads that needs no Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from windrow.spec.errors import SpecError
from windrow.spec.sources.connector import is_glob
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.location import Location
from windrow.store.reading.arrow import ArrowTables, folder_of


@dataclass(frozen=True)
class Arrivals:
    """What a source reads, and what stood there at a look; of some sources only landing tells.

    `connector` names the field of the source, or is empty where time alone moves its watermark, so that landing
    nothing counts too. `path` is what the connector reads, where it reads a path. `seen` is None before the first look,
    and where a look tells nothing.
    """

    source: str
    connector: str
    path: str | None
    seen: str | None = None

    @classmethod
    def of(cls, source: Source) -> Arrivals:
        is_by_clock = source.watermark.follows_clock or source.watermark.idle_timeout is not None
        return cls(source.name, "" if is_by_clock else source.connector.NAME, source.connector.location)

    def looked_at(self) -> Arrivals:
        """With what stands there now."""
        return replace(self, seen=self._now())

    @property
    def has_new(self) -> bool:
        """Whether something has changed since that look; true where nobody can tell."""
        return self.seen is None or self._now() != self.seen

    def _now(self) -> str | None:
        look = _LOOKS.get(self.connector)
        if look is None or self.path is None:
            return None
        try:
            return look(resolve_environment(self.path))
        except (OSError, SpecError):
            return None


def _files(path: str) -> str | None:
    """The names, sizes and times of the files of a folder of this machine, as one text; hidden files do not count.

    None of another place, of a pattern, and where a link leads to another folder.
    """
    folder = folder_of(path)
    if folder is None or is_glob(path) or not folder.is_dir():
        return None
    found = sha256()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_shown(name))
        if any(Path(place, name).is_symlink() for name in folders):
            return None
        for name in sorted(filter(_is_shown, names)):
            file = os.stat(Path(place, name))
            found.update(f"{place}/{name} {file.st_size} {file.st_mtime_ns}\n".encode())
    return found.hexdigest()


def _is_shown(name: str) -> bool:
    """As Spark has it: `_temporary` is hidden, and `_day=1` is a partition."""
    return not name.startswith(".") and (not name.startswith("_") or "=" in name)


def _version(path: str) -> str | None:
    """Which Delta table is there, and its version."""
    table = ArrowTables().open(Location(path))
    return None if table is None else f"{path} {table.table.metadata().id} {table.table.version()}"


_LOOKS: Mapping[str, Callable[[str], str | None]] = {Files.NAME: _files, DeltaSource.NAME: _version}
