"""A larger allowed lateness may change what a stage keeps between ticks: then a tick puts its windows in its place.

So it is where windows were formed as they expired (`windrow.engine.windows.sliced`). Now they fire before they expire,
and need cells of their own.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.engine.clocks.clock import TickTimes
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.counters import NOTHING
from windrow.engine.tick.tick import TickPlan, open_windows
from windrow.engine.windows.registry import strategy_of
from windrow.spec.times import saturating_add
from windrow.store.journal.cells import has_cells
from windrow.store.journal.control import STREAM, Control
from windrow.store.journal.journal import Journal


def turned_into_windows(spark: SparkSession, journal: Journal, last: Control, admission: Admission) -> Control | None:
    """Commit a tick that ends all former cells and opens the windows over them; None where there are none.

    It is one of a stream, whoever makes it, so that a stream which still keeps such cells stops.
    Errors: StepTaken where another writer has committed meanwhile.
    """
    former = strategy_of(journal.stage).former
    if former is None:
        return None
    if not has_cells(journal, spark, former.among):
        return None
    cells = journal.cells(spark, None, saturating_add(last.clock.expired_end, -former.retention), shown=False)
    ending = None if cells is None else former.among(cells)
    if ending is None or ending.isEmpty():
        return None
    times = TickTimes(last.tick + 1, last.clock, last.clock)
    control = replace(
        last,
        tick=times.tick,
        kind=STREAM,
        watermark_before=last.clock.watermark,
        counters=NOTHING,
        quarantined_files=(),
    )
    kept = replace(journal, stage=former.stage).cells(spark, None, last.clock.expired_end)
    assert kept is not None
    windows = open_windows(journal.stage, former.open_windows(former.among(kept), admission), times)
    return journal.commit(spark, control, TickPlan(windows.unionByName(former.ended(ending, windows))))
