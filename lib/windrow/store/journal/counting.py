"""What the rows of a tick are, by what Delta has counted in their files, so that no job has to look at them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import CELLS, PANE
from windrow.engine.tick.counters import Counters
from windrow.spec.errors import SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import SECOND, parse_time
from windrow.store.delta.log.commit_files import AddedFile, FileStatistics
from windrow.store.journal.control import Control, TickRows


def counted(control: Control, files: Sequence[AddedFile], is_snapshot: bool = False) -> Control:
    """The control row with what was counted in the files of its tick."""
    everything = [file.statistics for file in files]
    panes = [file.statistics for file in files if file.partition[LogColumn.KIND] == PANE]
    retracted = _known(panes, LogColumn.RETRACTION)
    counters = Counters(
        panes=sum(file.rows for file in panes) - retracted,
        retractions=retracted,
        closed=_known(everything, LogColumn.CLOSED),
    )
    least, greatest = _starts(panes)
    ended = _known(everything, LogColumn.ENDED)
    cells = [file.statistics for file in files if file.partition[LogColumn.KIND] in (CELLS, PANE)]
    rows = TickRows(
        changed=_known(panes, LogColumn.CHANGED),
        opened=_known(everything, LogColumn.OPENED),
        ended=ended,
        open=sum(file.rows for file in cells) - ended - _known(cells, LogColumn.NOT_LAST) if is_snapshot else None,
        outgrown=_known(everything, LogColumn.OUTGROWN),
        first_start=least,
        last_start=greatest,
    )
    return replace(control, counters=control.counters + counters, rows=rows)


def all_changing(control: Control) -> Control:
    """The control row of a tick each of whose panes is in place of what was shown of its window."""
    changed = max(control.rows.changed, control.counters.panes)
    return replace(control, rows=replace(control.rows, changed=changed))


def _known(files: Iterable[FileStatistics], column: str) -> int:
    return sum(file.known(column) for file in files)


def _starts(files: Sequence[FileStatistics]) -> tuple[int | None, int | None]:
    """The least and greatest start of a window; None where there is none, or where a file does not say."""
    try:
        least = [parse_time(file.least[WINDOW_START]) for file in files]
        greatest = [parse_time(file.greatest[WINDOW_START]) + _MILLISECOND for file in files]
    except (KeyError, SpecError):  # all of time, or a time before the year 1
        return None, None
    return min(least, default=None), max(greatest, default=None)


def may_live(file: AddedFile, forgotten_end: int) -> bool:
    """Whether a file of cells may have some whose window ends behind a time; so where it does not say."""
    if file.partition.get(LogColumn.KIND) not in (CELLS, PANE):
        return False
    found = file.statistics
    if found.nulls.get(WINDOW_END, 1) or WINDOW_END not in found.greatest:
        return True
    try:
        return parse_time(found.greatest[WINDOW_END]) + _MILLISECOND > forgotten_end
    except SpecError:
        return True


_MILLISECOND = SECOND // 1000
"""Delta keeps no more of a time, and leaves the rest away."""
