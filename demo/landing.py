"""Landing files: JSON lines that a file source reads in order of modification time, one batch after the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path


@dataclass(frozen=True)
class LandingFiles:
    """How the files of one kind are named and dated: one file for each period of arrival.

    `name` is a strftime pattern of the period's start, whose names sort by time ("arrivals-%Y-%m-%dT%H.json"). The
    file of the period that starts at `first` has the modification time `modified`, and every `step` after it is a
    second more. So the time depends on the name alone, a later file is at least a second younger, and the oldest and
    the youngest are close (Spark's file source forgets files that are a week older than the youngest).
    """

    name: str
    first: datetime
    modified: datetime
    step: timedelta

    def write(self, folder: Path, texts: Mapping[datetime, str]) -> list[Path]:
        """Write each period's text, by its start; return the paths in order of arrival.

        The same input gives the same bytes, names and times. A file appears whole, with its final name and time. Files
        of another split that lie in the folder (this pattern, not in `texts`) are removed, as their rows would be there
        twice.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = {start: folder / start.strftime(self.name) for start in sorted(texts)}
        self._remove_others(folder, set(paths.values()))
        for start, path in paths.items():
            _write_whole(path, texts[start], self.modified + timedelta(seconds=(start - self.first) // self.step))
        return list(paths.values())

    def _remove_others(self, folder: Path, keep: set[Path]) -> None:
        for path in set(folder.iterdir()) - keep:
            if self._has_name(path.name):
                path.unlink()

    def _has_name(self, text: str) -> bool:
        try:
            return datetime.strptime(text, self.name).strftime(self.name) == text
        except ValueError:
            return False


def _write_whole(path: Path, text: str, modified: datetime) -> None:
    """Write under a hidden name, which file sources skip, and rename."""
    unfinished = path.with_name(f".{path.name}.tmp")
    unfinished.write_bytes(text.encode())
    os.utime(unfinished, (modified.timestamp(), modified.timestamp()))
    unfinished.replace(path)
