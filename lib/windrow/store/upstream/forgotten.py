"""The rows of `raw` that are forgotten: at first they get the reason, at last they lose their values.

Both are steps of the log, like a quarantine. From the first one on nobody counts the rows. In between they are known by
their reason and rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import (
    ARRIVAL_TIME,
    BEING_FORGOTTEN,
    FORGOTTEN,
    IS_FORGOTTEN,
    OFFSET,
    PARTITION,
    REASON,
    ROW,
    RULE,
    STEP,
    has_to_go,
)
from windrow.compile.sql.columns import Column, col, lit, null
from windrow.engine.frames import select, where, with_column
from windrow.store.delta.copy_on_write import Rewrite, with_goes
from windrow.store.delta.log.commits import Commit
from windrow.store.upstream.raw import Raw

_KEPT = frozenset({STEP, ROW, ARRIVAL_TIME, OFFSET, REASON})
"""What stays of a row, so that what was read still adds up and is not landed again."""


def give_reason(raw: Raw, spark: SparkSession, last: Commit, ids: DataFrame) -> None:
    """Give rows, by step and number, the reason of those that are being forgotten, in the step behind the last one.

    Raises StepTaken where another writer has the step.
    """
    own = {REASON: lit(FORGOTTEN), RULE: lit(BEING_FORGOTTEN)}
    _rewrite(raw, spark, last, ids, lambda kinds: {name: own.get(name, col(name)) for name in kinds})


def take_values(raw: Raw, spark: SparkSession, last: Commit, ids: DataFrame, partitions: bool) -> None:
    """Take all values from rows that are being forgotten, in the step behind the last one.

    `partitions`: the source partition is none of them. Raises StepTaken where another writer has the step.
    """
    kept = _KEPT | ({PARTITION} if partitions else set())

    def blank(kinds: Mapping[str, str]) -> Mapping[str, Column]:
        own = {name: col(name) if name in kept else null(kind) for name, kind in kinds.items()}
        return {**own, RULE: lit(IS_FORGOTTEN)}

    _rewrite(raw, spark, last, ids, blank)


def going(raw: Raw, spark: SparkSession, until: int) -> DataFrame:
    """The rows up to a step that are being forgotten."""
    return where(raw.rows(spark, 0, until), has_to_go())


def _rewrite(raw: Raw, spark: SparkSession, last: Commit, ids: DataFrame, becomes: _Becomes) -> None:
    """Rows of the table, with all columns that any row has landed with, become what is made of their columns."""
    step = last.step + 1
    named = select(ids, {own: col(name) for own, name in _ID.items()})

    def tells(rows: DataFrame) -> DataFrame:
        for own, name in _ID.items():
            rows = with_column(rows, own, col(name))
        return with_goes(rows, named, tuple(_ID))

    change = Rewrite(tells, lambda rows: select(rows, becomes(dict(rows.dtypes))))
    raw.log.rewrite(spark, step, raw.quarantining(last, step), change)


_Becomes = Callable[[Mapping[str, str]], Mapping[str, Column]]
_ID = {"_id_step": STEP, "_id_row": ROW}
