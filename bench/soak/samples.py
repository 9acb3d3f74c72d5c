"""What is measured while the soak runs: memory of the stream, files and log entries of the lake, and ticks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from bench.soak.load import SOURCE, STAGE
from windrow.store.journal.totals import TOTALS

LOG = "_delta_log"
TABLES = tuple(f"{STAGE}/{name}" for name in ("journal/1", "cells/1", "panes", "current", "dead_letters", "ticks"))
TABLES += tuple(f"{SOURCE}/{name}" for name in ("raw", "landings", "dead_letters"))


SERIES = ("memory", "live", "threads", "files", "stored", "entries", "tick", "refresh")
LIVE = 60.0
"""Seconds between two counts of what is in use: each is a full collection."""
FILES = 20.0
"""Seconds between two counts of files, which take a second or two."""


class Measured(Protocol):
    """What is asked of the stream; None while it is not at work."""

    def memory(self) -> int | None: ...
    def threads(self) -> int | None: ...
    def live(self) -> int | None: ...


@dataclass
class Samples:
    """Series of points: seconds since the soak began, and a value.

    `memory` in bytes, and every LIVE seconds `live`, those of objects in use; `threads` of all of its processes. Every
    FILES seconds: `files`, those that are live in all tables, `stored`, all data files that are there, and `entries`,
    those of their logs. `tick` and `refresh` in seconds: from the landing of a batch to the panes of its tick, and on
    to `current`.
    """

    lake: Path
    began: float = field(default_factory=time.time)
    series: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {name: [] for name in SERIES})
    _journal: int = 0
    _current: int = 0
    _committed: dict[int, float] = field(default_factory=dict)
    _read: int = 0
    _counted: dict[str, float] = field(default_factory=dict)

    def take(self, of: Measured) -> None:
        """One point of each, and of ticks all that were committed since the last time."""
        self._add_known("memory", of.memory())
        self._add_known("threads", of.threads())
        if self._is_due("live", LIVE):
            self._add_known("live", of.live())
        if (self.lake / STAGE / "ticks" / LOG).exists() and self._is_due("files", FILES):
            self._add("files", sum(self._live(name) for name in TABLES))
            self._add("stored", sum(self._stored(name) for name in TABLES))
            self._add("entries", sum(1 for name in TABLES for _ in self._entries(name)))
        self._take_ticks()
        self._take_refreshes()

    def _is_due(self, name: str, every: float) -> bool:
        """Whether so many seconds have gone by since this was last true."""
        if time.time() - self._counted.get(name, 0.0) <= every:
            return False
        self._counted[name] = time.time()
        return True

    def _add(self, name: str, value: float, at: float | None = None) -> None:
        self.series[name].append(((time.time() if at is None else at) - self.began, value))

    def _add_known(self, name: str, value: float | None) -> None:
        if value is not None:
            self._add(name, value)

    def _stored(self, name: str) -> int:
        """The data files of a table, those of old versions too."""
        return sum(LOG not in file.parts for file in (self.lake / name).rglob("*.parquet"))

    def _live(self, name: str) -> int:
        try:
            return len(DeltaTable(str(self.lake / name)).file_uris())
        except TableNotFoundError:  # there is none yet
            return 0

    def _entries(self, name: str) -> Iterator[Path]:
        path = self.lake / name / LOG
        if path.exists():
            yield from path.iterdir()

    def _take_ticks(self) -> None:
        """The ticks that have read rows: from the arrival of these until the commit."""
        for version, info, notes in self._commits("journal/1", self._journal):
            self._journal = version
            if "step" not in notes:
                continue
            at, read = info["timestamp"] / 1000, notes[TOTALS]["read"]
            self._committed[notes["step"]] = at
            if read > self._read and notes["kind"] == "stream":
                self._add("tick", at - notes["now"] / 1e6, at)
            self._read = read

    def _take_refreshes(self) -> None:
        """The commits of `current`, each behind that of the tick up to which it is made."""
        for version, info, notes in self._commits("current", self._current):
            self._current = version
            ticked = self._committed.get(notes.get("journal_step", -1))
            if ticked is not None:
                self._add("refresh", info["timestamp"] / 1000 - ticked, info["timestamp"] / 1000)

    def _commits(self, name: str, after: int) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
        """The commits of a table of the stage behind a version, as they say of themselves."""
        log = self.lake / STAGE / name / LOG
        versions = sorted(int(file.stem) for file in log.glob("0*.json")) if log.exists() else []
        for version in versions:
            if version <= after:
                continue
            with suppress(FileNotFoundError):  # maintenance has removed it meanwhile
                for line in (log / f"{version:020d}.json").read_text().splitlines():
                    info = json.loads(line).get("commitInfo")
                    if info is not None:
                        yield version, info, json.loads(info.get("userMetadata") or "{}")
