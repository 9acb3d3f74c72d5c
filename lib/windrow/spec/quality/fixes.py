"""What to say and what to type where a gate has stopped: which rows broke it, where some are missing, a quarantine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from windrow.spec.quality.broken_rows import BrokenFile, BrokenRow, BrokenRows
from windrow.spec.quality.shares import Share
from windrow.spec.words import many

if TYPE_CHECKING:
    from windrow.spec.quality.judgements import GateResult, Judgement

FEW = 5
"""So many files, keys, rows and partitions of an expectation stand in an error."""


def quarantines(results: Iterable[GateResult], typed: str = "FILE") -> list[str]:
    """The commands that take out the files whose rows stop these gates, each once.

    `typed` is how the pipeline is named on the command line.
    """
    files = dict.fromkeys(
        (result.subject, file.file)
        for result in results
        for judgement in result.judgements
        if judgement.stops and judgement.broken is not None
        for file in judgement.broken.files
        if file.file is not None
    )
    return [f"windrow quarantine {typed} --source {source} --file {shlex.quote(file)}" for source, file in files]


def broken_lines(results: Iterable[GateResult]) -> list[str]:
    """Which rows stop these gates, or where they are missing: a few files, keys, rows and partitions of each one."""
    return [line for result in results for judgement in result.judgements if judgement.stops for line in _of(judgement)]


def place_of(row: BrokenRow) -> str:
    """Where a row is, but for its file: `step 3, row 17, at 2013-01-01 05:00:00`."""
    places = {"partition": row.partition, "offset": row.offset, "step": row.step, "row": row.row}
    shown = [f"{name} {value}" for name, value in places.items() if value is not None]
    return ", ".join([*shown, *([f"at {row.event_time}"] if row.event_time is not None else [])])


def values_of(row: BrokenRow) -> str:
    """Its values: `k=a, v=-5`."""
    return ", ".join(f"{name}={'null' if value is None else value}" for name, value in row.values.items())


def count_of(file: BrokenFile) -> str:
    """How many rows of a file: `10 of 40 rows (25.00 %)`."""
    return f"{file.broken:,} of {many(file.judged, 'row')} ({file.share:.2f} %)"


def share_of(share: Share) -> str:
    """How many rows of a source partition: `0 of 40 rows (0.00 %), its newest row is of 2013-01-01T05:00:00Z`."""
    newest = "" if share.newest is None else f", its newest row is of {share.newest}"
    return f"{share.rows:,} of {many(share.of, 'row')} ({share.percent:.2f} %){newest}"


def total_of(broken: BrokenRows) -> str:
    """How many rows there are, in how many files or of how many keys."""
    rows, files = many(broken.rows, "row"), many(broken.number_of_files, "file")
    if broken.number_of_keys:
        keys = many(broken.number_of_keys, "key")
        return f"{rows} of {keys}" + (f", repeated in {files}" if broken.number_of_files else "")
    return f"{rows} in {files}" if broken.number_of_files else rows


def _of(judgement: Judgement) -> Iterator[str]:
    broken, shares = judgement.broken, judgement.shares
    if broken is not None:
        yield f"{judgement.expectation}: {total_of(broken)}"
        yield from _rows_of(broken)
    elif shares is not None:
        yield f"{judgement.expectation}: {judgement.figure}"
    yield from (f"  {share.name}: {share_of(share)}" for share in (shares.first[:FEW] if shares is not None else ()))


def _rows_of(broken: BrokenRows) -> Iterator[str]:
    for file in broken.files[:FEW]:
        if file.name is not None:
            yield f"  {file.name}: {count_of(file)}"
    for key in broken.keys[:FEW]:
        for row in key.rows[:FEW]:
            yield f"  {_line(row)}"
    if not broken.keys:
        yield from (f"  {_line(row)}" for row in broken.first[:FEW])


def _line(row: BrokenRow) -> str:
    file = "" if row.file is None else row.file.rpartition("/")[2]
    return ": ".join(part for part in (" ".join(filter(None, (file, place_of(row)))), values_of(row)) if part)
