"""What the stream of the soak reads: a file of JSON lines now and then, whose rows are numbered without a gap."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SOURCE, STAGE = "clicks", "minutes"
KEYS = 50
KEPT_SECONDS = 900.0
"""A file that was written so long ago is deleted, as one does in such a folder: Spark lists all that are there."""


def pipeline(root: Path) -> dict[str, Any]:
    """The pipeline over `root/data`, with its lake in `root/lake`: windows of a minute with panes of all timings."""
    source = {
        "name": SOURCE, "schema": "id long, k long, v long, at string",
        "files": {"path": str(root / "data"), "format": "json", "max_files_per_batch": 20},
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "20s"},
    }  # fmt: skip
    stage = {
        "name": STAGE, "from": SOURCE, "keys": ["k"], "window": {"fixed": {"size": "1m"}},
        "trigger": {"after_watermark": {"early": {"after_count": 100}, "late": {"after_count": 1}}},
        "accumulation": "retracting", "allowed_lateness": "1m",
        "aggregates": {"n": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}},
    }  # fmt: skip
    return {"pipeline": "soak", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}


@dataclass(eq=False)
class Load(threading.Thread):
    """Writes a file of `rows` rows every `every` seconds, until it is stopped. Of a hundred rows one is late."""

    root: Path
    rows: int = 500
    every: float = 2.0
    written: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def run(self) -> None:
        folder = self.root / "data"
        folder.mkdir(parents=True, exist_ok=True)
        while not self.stopped.wait(self.every):
            self._write(folder)
            self._delete_old(folder)

    def _write(self, folder: Path) -> None:
        """A file appears whole: it is written under a name that nobody reads."""
        hidden = folder / f".{self.written}.part"
        hidden.write_text("".join(f"{json.dumps(self._row(self.written + index))}\n" for index in range(self.rows)))
        os.replace(hidden, folder / f"rows-{self.written:012}.json")
        self.written += self.rows

    def _row(self, number: int) -> dict[str, Any]:
        chance = random.Random(number)
        behind = chance.uniform(60, 300) if chance.random() < 0.01 else chance.uniform(0, 15)
        at = datetime.fromtimestamp(time.time() - behind, UTC)
        return {"id": number, "k": chance.randrange(KEYS), "v": chance.randrange(1000), "at": at.isoformat()}

    def _delete_old(self, folder: Path) -> None:
        for file in folder.glob("rows-*.json"):
            if time.time() - file.stat().st_mtime > KEPT_SECONDS:
                file.unlink()
