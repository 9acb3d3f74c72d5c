"""The log of a Delta table, written without Delta: commits, one checkpoint by `deltalake`, and checksums."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from deltalake import DeltaTable

from bench.scale.tables import LOG, Action, commit_name

CHECKPOINT_EVERY = 50
"""As the tables of a lake say."""
_KEPT = ("numMetadata", "numProtocol", "metadata", "protocol", "domainMetadata", "setTransactions")
"""What a commit without new metadata leaves as it was. Delta may say more, which may be left away."""
_LINKS = 30_000
"""So many names may a file have; some file systems allow no more than 65,000."""


@dataclass(frozen=True)
class State:
    """A table at a version: the step of its commit, its files, and those that were removed not long ago."""

    version: int
    step: int
    files: Sequence[Action]
    removed: Sequence[Action]


class DeltaLog:
    """The log of the table in a folder. `head` are protocol and metadata, `app_id` is the name of its steps."""

    def __init__(self, folder: Path, head: Sequence[Action], app_id: str) -> None:
        self.folder, self._head, self._app_id = folder / LOG, head, app_id
        newest = max(self.folder.glob("0*.crc"))
        self._sums = json.loads(newest.read_text())
        self._link, self._links = newest.read_bytes(), 0
        self._linked: Path | None = None

    def forget_before(self, version: int, at: int) -> None:
        """Remove what is older than a version, as Delta does; what stays was written at that time (in ms)."""
        for file in [*self.folder.glob("0*")]:
            if int(file.name.split(".")[0]) < version:
                file.unlink()
            else:
                os.utime(file, (at / 1000, at / 1000))

    def put(self, version: int, at: int, actions: Sequence[Action]) -> None:
        """Write a commit, made at that time (in ms), with its checksums beside it."""
        file = self.folder / commit_name(version)
        file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
        os.utime(file, (at / 1000, at / 1000))
        self._put_checksums(self.folder / commit_name(version, "crc"))

    def _put_checksums(self, file: Path) -> None:
        """Of a version that is not the newest: nobody opens them, so they are names of one file."""
        if self._linked is None or self._links >= _LINKS:
            file.write_bytes(self._link)
            self._linked, self._links = file, 0
        else:
            os.link(self._linked, file)
            self._links += 1

    def checksums(self, state: State) -> None:
        """Write those of the newest version, which Delta looks at."""
        sums = {
            **{name: self._sums[name] for name in _KEPT if name in self._sums},
            "txnId": str(uuid4()),
            "tableSizeBytes": sum(file["size"] for file in state.files),
            "numFiles": len(state.files),
        }
        for stamp in sums.get("setTransactions", []):
            stamp["version"] = state.step if stamp["appId"] == self._app_id else stamp["version"]
        file = self.folder / commit_name(state.version, "crc")
        file.unlink(missing_ok=True)
        file.write_text(json.dumps(sums))

    def checkpoint(self, state: State) -> None:
        """Write the checkpoint of a version: that of a table with nothing but one commit that makes the same of it."""
        stamp = {"txn": {"appId": self._app_id, "version": state.step, "lastUpdated": 0}}
        files = [*({"add": {**file, "dataChange": False}} for file in state.files)]
        actions = [*self._head, stamp, *files, *({"remove": one} for one in state.removed)]
        with tempfile.TemporaryDirectory() as root:
            log = Path(root) / LOG
            log.mkdir()
            (log / commit_name(0)).write_text("".join(f"{json.dumps(action)}\n" for action in actions))
            DeltaTable(Path(root).as_uri()).create_checkpoint()
            name = commit_name(state.version, "checkpoint.parquet")
            shutil.copy(log / commit_name(0, "checkpoint.parquet"), self.folder / name)
        last = {"version": state.version, "size": len(actions), "numOfAddFiles": len(files)}
        (self.folder / "_last_checkpoint").write_text(json.dumps(last))
        (self.folder / "._last_checkpoint.crc").unlink(missing_ok=True)
