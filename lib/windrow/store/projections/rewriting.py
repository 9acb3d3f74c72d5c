"""Rows of `current` that change, by writing the files anew that may hold them: one job and one commit of our own.

A MERGE asks first which files hold one of the rows, by a job that reads all that may. Where these are small they are
written anew without asking. Rows of windows in which nothing has changed get files of their own then, so that the next
change does not meet them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import bigint, quoted
from windrow.engine.frames import in_tasks
from windrow.spec.errors import SpecError
from windrow.spec.times import SECOND, parse_time
from windrow.store.delta.copy_on_write import rows_of
from windrow.store.delta.log.commit_files import AddedFile
from windrow.store.delta.log.commits import Notes
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender

WRITTEN_ANEW, AS_MANY = 1_000_000, 4
"""So many rows are written anew without asking, or so many times those that are new. With more it is left to a MERGE,
which writes only the files that hold one of them. The numbers are chosen, not measured."""

KNOWN_TO_ALL = 100_000
"""So many new rows are known to every task. With more, those of a key and window come together in one."""

_START = "window_start"
_MILLISECOND = SECOND // 1000
"""Delta keeps no more of a time, and leaves the rest away."""


def rewritten(
    log: StepLog,
    step: int,
    new: DataFrame,
    shown: str,
    by: Sequence[str],
    starts: tuple[int, int] | None,
    most: int,
    notes: Mapping[str, int],
) -> bool:
    """Put `new` rows, as far as they are `shown` (a condition), in place of those that are equal in `by`, as that step.

    `starts` are the first and last start of their windows, in microseconds, where that is known; `most` is how many new
    rows there can be. False where a MERGE had better do it. Raises StepTaken.
    """
    spark = new.sparkSession

    def fill(append: Appender) -> Notes | None:
        live = append.live()
        old = None if live is None else [file for file in live if may_hold(file, starts)]
        if old is None or sum(file.rows for file in old) > max(WRITTEN_ANEW, AS_MANY * most):
            return None
        columns = append.schema.names
        rows = new.where(shown).select(*map(quoted, columns))
        apart = None
        if old:
            stand = rows_of(append, log.location, old)
            if starts is not None and has_others(old, starts):
                low, high = (as_timestamp(bigint(bound)).text for bound in starts)
                within = f"coalesce({_START} BETWEEN {low} AND {high}, false)"
                apart, stand = stand.where(f"NOT {within}"), stand.where(within)
            rows = _others(stand, new, by, most).unionByName(rows)
        if not append.fits(rows):
            return None
        append.remove(old)
        append.write(in_tasks(rows))
        if apart is not None:
            append.write(in_tasks(apart))
        return notes

    return log.begun(spark, step, fill)


def has_others(files: Sequence[AddedFile], starts: tuple[int, int]) -> bool:
    """Whether one of the files may also have windows that start at other times."""
    return any(may_hold(file, (_FIRST, starts[0] - 1)) or may_hold(file, (starts[1] + 1, _LAST)) for file in files)


_FIRST, _LAST = -(2**63), 2**63 - 1


def may_hold(file: AddedFile, starts: tuple[int, int] | None) -> bool:
    """Whether a file may have windows that start between two times, both included; so where it does not say."""
    if starts is None or not file.rows:
        return True
    found = file.statistics
    if _START not in found.least or _START not in found.greatest:
        return True
    try:
        first, last = parse_time(found.least[_START]), parse_time(found.greatest[_START])
    except SpecError:
        return True
    return first <= starts[1] and last + _MILLISECOND > starts[0]


def _others(old: DataFrame, new: DataFrame, by: Sequence[str], most: int) -> DataFrame:
    """The old rows in whose place no new one comes."""
    same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in by)
    these = new.select(*map(quoted, by))
    if most <= KNOWN_TO_ALL:
        these = these.hint("broadcast")
    return old.alias("t").join(these.alias("s"), F.expr(same), "left_anti")
