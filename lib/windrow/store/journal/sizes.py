"""How many rows a tick would read of a journal, as far as its files say, and what a tick does for that reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from windrow.compile.panes.log_rows import CELLS, PANE
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.log.commit_files import AddedFile

if TYPE_CHECKING:
    from windrow.store.journal.journal import Journal

MANY_CELLS, FAR_MORE, MOST_TOUCHED = 200_000, 20, 200_000
"""From so many open cells on, and so many times its rows, a tick looks for those that it touches, but not with more
rows than that: every task holds their keys."""


def is_snapshot_due(journal: Journal, spark: SparkSession, elements: int) -> bool:
    """Whether a tick reads as many rows, of elements and of the ticks behind the newest snapshot, as that has."""
    last = journal.log.last(spark)
    if last is None:
        return True
    newest = max(journal.snapshot_tick(spark), journal.snapshot_in_log(spark))
    behind = _rows_of(journal.log.written(spark, newest, last.step))
    if newest == 0 or behind is None:
        return newest == 0
    whole = _snapshot_size(journal, spark)
    return whole is not None and elements + behind >= whole


def has_far_more(journal: Journal, spark: SparkSession, rows: int) -> bool:
    """Whether there are so many more open cells than rows of a tick that it had better look for those it touches."""
    if rows > MOST_TOUCHED:
        return False
    whole = _snapshot_size(journal, spark)
    return whole is not None and whole >= max(MANY_CELLS, FAR_MORE * rows)


def rows_at_most(journal: Journal, spark: SparkSession) -> int | None:
    """The rows of cells in the newest snapshot and in the ticks behind it; None where they are not known."""
    last = journal.log.last(spark)
    if last is None:
        return 0
    newest = max(journal.snapshot_tick(spark), journal.snapshot_in_log(spark))
    behind = _rows_of(journal.log.written(spark, newest, last.step))
    whole = 0 if newest == 0 else _snapshot_size(journal, spark)
    return None if whole is None or behind is None else whole + behind


def _snapshot_size(journal: Journal, spark: SparkSession) -> int | None:
    """The rows of the newest snapshot; None where there is none, or it is not known."""
    in_table, in_log = journal.snapshot_tick(spark), journal.snapshot_in_log(spark)
    newest = max(in_table, in_log)
    if newest == 0:
        return None
    log = journal.log if in_log > in_table else journal.snapshot
    return _rows_of(log.written(spark, newest - 1, newest))


def _rows_of(files: Sequence[AddedFile] | None) -> int | None:
    """The rows of cells in files of the log, or of the snapshot; None where they are not known."""
    if files is None or any(file.stats is None for file in files):
        return None
    return sum(file.statistics.rows for file in files if file.partition.get(LogColumn.KIND, CELLS) in (CELLS, PANE))
