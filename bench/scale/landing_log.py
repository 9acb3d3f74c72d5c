"""The checkpoint of a landing's query, as it is when so many batches of a file each have landed.

Spark keeps the offsets and commits of the last hundred batches, and the name of every file that has ever landed: each
tenth file of its log of files holds all of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

KEPT = 100
COMPACTED_EVERY = 10


def lengthen(checkpoint: Path, batches: int, file_of: Callable[[int], str]) -> None:
    """Make the checkpoint that of a query which has landed so many batches; `file_of` gives the path of a file.

    The newest batch that is there is the pattern of the others.
    """
    newest = max(int(file.name) for file in (checkpoint / "offsets").iterdir() if file.name.isdigit())
    offsets, commit = ((checkpoint / name / str(newest)).read_text() for name in ("offsets", "commits"))
    head = offsets.rstrip().rpartition("\n")[0]
    for name in ("offsets", "commits", "sources/0"):
        for file in (checkpoint / name).iterdir():
            file.unlink()
    for batch in range(max(batches - KEPT, 0), batches):
        (checkpoint / "offsets" / str(batch)).write_text(f"{head}\n{json.dumps({'logOffset': batch})}")
        (checkpoint / "commits" / str(batch)).write_text(commit)
    files, compacted = checkpoint / "sources" / "0", batches // COMPACTED_EVERY * COMPACTED_EVERY
    if compacted:
        _put(files / f"{compacted - 1}.compact", [_entry(batch, file_of(batch)) for batch in range(compacted)])
    for batch in range(compacted, batches):
        _put(files / str(batch), [_entry(batch, file_of(batch))])


def _entry(batch: int, path: str) -> str:
    return json.dumps({"path": f"file://{path}", "timestamp": written_at(batch) * 1000, "batchId": batch})


def written_at(batch: int) -> int:
    """When the file of a batch was written, in seconds: files land in this order."""
    return 1_700_000_000 + batch


def touch(file: Path, batch: int) -> None:
    """Give a file the time of its batch."""
    os.utime(file, (written_at(batch), written_at(batch)))


def _put(file: Path, lines: list[str]) -> None:
    file.write_text("\n".join(["v1", *lines]))
