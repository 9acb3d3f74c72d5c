"""What all ticks of a journal have counted, carried from commit to commit, so that nobody adds up their control rows.

A journal whose last commit was made by an earlier version, and so says nothing, is added up once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from windrow.engine.tick.counters import NOTHING
from windrow.store.journal.control import FORGETTING, Control

if TYPE_CHECKING:  # they are read without Spark
    from pyspark.sql import SparkSession

    from windrow.store.journal.journal import Journal

TOTALS = "totals"
"""The note of a commit: the counters that are known when a tick is committed, summed up to this tick."""
FORGETTINGS = "forgettings"
"""The note of a commit: how many ticks up to this one have forgotten rows. It is there where any has."""


def total_notes(journal: Journal, spark: SparkSession, control: Control) -> Mapping[str, Any]:
    """The notes of the next commit that say so; `control` is the control row of its tick."""
    last = journal.log.last(spark)
    before: Mapping[str, int] = {}
    forgettings = 0
    if last is not None and TOTALS in last.notes:
        before, forgettings = last.notes[TOTALS], last.notes.get(FORGETTINGS, 0)
    elif last is not None:
        controls = journal.controls(spark, 0, last.step).values()
        before = sum((one.counters for one in controls), NOTHING).known_at_commit
        forgettings = sum(one.kind == FORGETTING for one in controls)
    counted = control.counters.known_at_commit
    totals = {name: before.get(name, 0) + number for name, number in counted.items()}
    forgettings += control.kind == FORGETTING
    return {TOTALS: totals, **({FORGETTINGS: forgettings} if forgettings else {})}
