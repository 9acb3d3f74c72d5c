"""Two drivers that commit to one table at once and are killed: what each was told, and what stands in the log."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deltalake import DeltaTable

NAMES = ("here", "there")


@dataclass(frozen=True)
class Drivers:
    """They commit to the table at a path, and write down in a folder what they know to be committed."""

    table: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def commit(self, count: int, kills: int = 0) -> None:
        """Both at once, until each has made its commits; so many times one of them is killed at some moment."""
        chance = random.Random(20)
        running = {name: self._started(name, count) for name in NAMES}
        for _ in range(kills):
            name = chance.choice(NAMES)
            before = len(self._acknowledged(name))
            while running[name].poll() is None and len(self._acknowledged(name)) < before + count // (2 * kills):
                time.sleep(0.05)
            time.sleep(chance.random() / 10)
            os.killpg(running[name].pid, signal.SIGKILL)
            running[name].wait()
            running[name] = self._started(name, count)
        for name, process in running.items():
            assert process.wait(timeout=900) == 0, (self.folder / f"{name}.log").read_text()[-2000:]

    def check(self, count: int) -> None:
        """Every commit stands in the log, once, as the version that its driver was told."""
        table = DeltaTable(self.table)
        history = [one for one in table.history() if one.get("userMetadata")]
        by_version = {one["version"]: json.loads(one["userMetadata"]) for one in history}
        found = Counter((one["name"], one["number"]) for one in by_version.values())
        assert found == Counter({(name, number): 1 for name in NAMES for number in range(count)})
        assert sorted(by_version) == [*range(1, 2 * count + 1)] and table.version() == 2 * count
        steps = [by_version[version]["step"] for version in sorted(by_version) if "step" in by_version[version]]
        assert steps == [*range(1, 2 * ((count + 1) // 2) + 1)]
        for name in NAMES:
            for number, version in self._acknowledged(name).items():
                assert (by_version[version]["name"], by_version[version]["number"]) == (name, number)

    def _started(self, name: str, count: int) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "tests.crash.committer", self.table, name, str(count), str(self.folder / name)]
        with (self.folder / f"{name}.log").open("ab") as log:
            environment = {**os.environ, **self.environment}
            return subprocess.Popen(words, env=environment, start_new_session=True, stdout=log, stderr=log)

    def _acknowledged(self, name: str) -> dict[int, int]:
        """The versions by numbers that a driver has been told are committed."""
        file = self.folder / name
        lines = file.read_text().splitlines() if file.exists() else []
        return {int(number): int(version) for number, version in map(str.split, lines)}
