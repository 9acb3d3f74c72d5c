"""What all ticks of a journal have counted, carried from commit to commit, so that nobody adds up their control rows.

A journal whose last commit was made by an earlier version, and so says nothing, is added up once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from windrow.engine.tick.counters import NOTHING
from windrow.store.journal.control import Control

if TYPE_CHECKING:  # they are read without Spark
    from pyspark.sql import SparkSession

    from windrow.store.journal.journal import Journal

TOTALS = "totals"
"""The note of a commit: the counters that are known when a tick is committed, summed up to this tick."""


def total_notes(journal: Journal, spark: SparkSession, control: Control) -> Mapping[str, Any]:
    """The notes of the next commit that say so; `control` is the control row of its tick."""
    last = journal.log.last(spark)
    if last is None:
        before: Mapping[str, int] = {}
    elif TOTALS in last.notes:
        before = last.notes[TOTALS]
    else:
        controls = journal.controls(spark, 0, last.step).values()
        before = sum((one.counters for one in controls), NOTHING).known_at_commit
    counted = control.counters.known_at_commit
    return {TOTALS: {name: before.get(name, 0) + number for name, number in counted.items()}}
