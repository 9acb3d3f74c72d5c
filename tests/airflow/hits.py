"""A small pipeline for tests that start processes: hits by page and hour, in files by arrival, and a plain count."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables

STAGE = "hourly"
BACKFILL = "hits_backfill"
START = datetime(2024, 1, 1, tzinfo=UTC)
PAGES = "abcdefgh"
Window = tuple[str, datetime]

PIPELINE: dict[str, Any] = {
    "pipeline": "hits", "lake": "lake",
    "sources": [{
        "name": "hits", "files": {"path": "data", "format": "json"}, "schema": "page string, at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "1h"},
    }],
    "stages": [{
        "name": STAGE, "from": "hits", "keys": ["page"], "window": {"fixed": {"size": "1h"}},
        "trigger": {"after_watermark": {"early": {"after_count": 5}, "late": {"after_count": 1}}},
        "accumulation": "retracting", "aggregates": {"hits": {"count": "*"}},
    }],
}  # fmt: skip


@dataclass
class Hits:
    """A project with the pipeline, and the rows that have been written so far."""

    project: Path
    rows: list[Window] = field(default_factory=list)

    @classmethod
    def made(cls, project: Path, **schedule: Any) -> Hits:
        """A project in a folder, with this schedule."""
        (project / "data").mkdir(parents=True)
        made = cls(project)
        made.file.write_text(yaml.safe_dump({**PIPELINE, "schedule": schedule}, sort_keys=False))
        return made

    @property
    def file(self) -> Path:
        return self.project / "pipelines" / "hits.yaml"

    @property
    def lake(self) -> Path:
        return self.project / "lake"

    def arrive(self, minutes: Iterable[int]) -> None:
        """A file appears whole, with a hit of every page in each of these minutes from the start."""
        rows = [(page, START + timedelta(minutes=minute)) for minute in minutes for page in PAGES]
        number = len(list((self.project / "data").iterdir()))
        hidden = self.project / "data" / f".{number:04}.json"
        hidden.write_text("".join(json.dumps({"page": page, "at": at.isoformat()}) + "\n" for page, at in rows))
        os.utime(hidden, (1_700_000_000 + number, 1_700_000_000 + number))
        hidden.rename(hidden.with_name(hidden.name[1:]))
        self.rows += rows

    def right(self, start: datetime, end: datetime) -> Counter[Window]:
        """The hits of every window in [start, end), by a plain count."""
        return Counter((page, at.replace(minute=0)) for page, at in self.rows if start <= at < end)

    def shown(self, name: str = "current") -> Counter[Window]:
        """The hits of every window that a table shows; of `panes` what is left when retractions are taken off."""
        found: Counter[Window] = Counter()
        for row in self.read(STAGE, name):
            found[row["page"], row["window_start"]] += row["hits"] * row.get("weight", 1)
        return +found

    def read(self, owner: str, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        return list(DeltaTable(str(self.lake / owner / name)).to_pyarrow_table().to_pylist())

    def step(self) -> int:
        """The newest step of the journal; 0 before the first."""
        place = Lake.of(str(self.lake)).journal(STAGE, 1)
        journal = ArrowTables().open(place.location)
        return 0 if journal is None else journal.last_step(place.app_id)

    def version(self, owner: str, name: str) -> int:
        """How often a table has been written; -1 where it is not there."""
        try:
            return DeltaTable(str(self.lake / owner / name)).version()
        except TableNotFoundError:
            return -1
