"""The files of a raw log: how they are written, and what their commits say of the rows in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.compile.elements.envelope import ARRIVAL_TIME, ENVELOPE, EVENT_TIME, OFFSET, PARTITION, REASON, ROW
from windrow.engine.tick.statistics import LandedRows
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.log.commit_files import AddedFile, FileStatistics

COUNTED = ENVELOPE[: ENVELOPE.index(REASON) + 1]
"""The first columns, of which Delta keeps for each file the least and greatest values, and how many are null."""

PARQUET = {
    "parquet.writer.version": "PARQUET_2_0",
    **{f"parquet.enable.dictionary#{name}": "false" for name in (ROW, EVENT_TIME, OFFSET)},
}
"""What differs little from one row to the next takes, as differences, half the bytes and less time.

A dictionary of numbers of rows, or of times, would be begun and thrown away; in that of the paths of files each row
would look for a long text.
"""


@dataclass(frozen=True)
class LandingRows:
    """How many rows a landing step has, how many of them are dead, and the last arrival in microseconds."""

    rows: int
    dead: int
    arrival: int


def landing_in(files: Sequence[AddedFile] | None) -> LandingRows | None:
    """What the files of a step hold; None where they may be gone, or one does not say enough."""
    if files is None or any(file.stats is None for file in files):
        return None
    found = [file.statistics for file in files if file.rows]
    if any(REASON not in file.nulls or ARRIVAL_TIME not in file.greatest for file in found):
        return None
    dead = sum(file.rows - file.nulls[REASON] for file in found)
    arrival = max((file.greatest[ARRIVAL_TIME] for file in found), default=MINUS_INFINITY)
    return LandingRows(sum(file.rows for file in found), dead, arrival)


def landed_in(files: Sequence[AddedFile]) -> LandedRows | None:
    """What is known of the rows of all these files; None where one does not say enough, or all rows are dead."""
    found: list[tuple[FileStatistics, int]] = []
    greatest: dict[str | None, int] = {}
    arrivals: dict[str | None, int] = {}
    for file in (file.statistics for file in files):
        if not file.rows:
            continue
        partition, dead = _only_partition(file), _dead_in(file)
        if partition is _SEVERAL or dead is None:
            return None
        found.append((file, dead))
        if dead < file.rows:
            for known, column in ((greatest, EVENT_TIME), (arrivals, ARRIVAL_TIME)):
                known[partition] = max(known.get(partition, MINUS_INFINITY), file.greatest[column])
    if not greatest:
        return None
    dead = sum(dead for _, dead in found)
    return LandedRows(
        rows=sum(file.rows for file, _ in found) - dead,
        dead=dead,
        earliest=min(file.least[EVENT_TIME] for file, dead in found if dead < file.rows),
        greatest=greatest,
        greatest_arrival=max(file.greatest[ARRIVAL_TIME] for file, _ in found),
        arrivals=None if dead else arrivals,
    )


def is_counted_alive(file: AddedFile) -> bool:
    """Whether it is known of all rows of a file that none says why it is dead."""
    return file.stats is not None and file.statistics.nulls.get(REASON) == file.statistics.rows


_SEVERAL: Any = object()


def _only_partition(file: FileStatistics) -> Any:
    """The source partition of all rows of a file: null, or a text that is short enough to be kept whole."""
    if not file.nulls.get(PARTITION, 0):
        least, greatest = file.least.get(PARTITION), file.greatest.get(PARTITION)
        return least if least is not None and least == greatest else _SEVERAL
    return None if file.nulls[PARTITION] == file.rows else _SEVERAL


def _dead_in(file: FileStatistics) -> int | None:
    """How many rows of a file are dead, where only those lack an event time and its times are known; None elsewhere."""
    if REASON not in file.nulls or ARRIVAL_TIME not in file.greatest:
        return None
    dead = file.rows - file.nulls[REASON]
    has_times = dead == file.rows or (EVENT_TIME in file.least and EVENT_TIME in file.greatest)
    return dead if has_times and file.nulls.get(EVENT_TIME) == dead else None
