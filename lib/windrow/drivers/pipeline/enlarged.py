"""A larger allowed lateness where windows were formed as they expired: those that are open become cells, in a tick.

While its allowed lateness is zero, a stage of windows that overlap may keep slices of window time and no windows
(`windrow.spec.triggers.firings.keeps_slices`). With a larger one windows fire before they expire, so they need cells of
their own.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.tick.admission import Held
from windrow.engine.tick.counters import NOTHING
from windrow.engine.tick.tick import open_windows
from windrow.engine.windows import slices
from windrow.spec.times import saturating_add
from windrow.spec.triggers.firings import keeps_slices
from windrow.store.journal.control import STREAM, Control
from windrow.store.journal.journal import Journal


def turned_into_windows(spark: SparkSession, journal: Journal, last: Control, held: Held) -> Control | None:
    """Commit a tick that ends all slices and opens the windows over them; None where there are no slices.

    It is one of a stream, whoever makes it, so that a stream which still keeps slices stops.
    Errors: StepTaken where another writer has committed meanwhile.
    """
    before = _with_slices(journal.stage)
    if before is None:
        return None
    cells = journal.cells(spark, None, saturating_add(last.clock.expired_end, -before.remembered))
    pieces = None if cells is None else slices.among(before, cells)
    if pieces is None or pieces.isEmpty():
        return None
    times = TickTimes(last.tick + 1, last.clock, last.clock)
    control = replace(
        last, tick=times.tick, kind=STREAM, watermark_before=last.clock.watermark, counters=NOTHING, left_out=()
    )
    kept = replace(journal, stage=before).cells(spark, None, last.clock.expired_end)
    assert kept is not None
    windows = open_windows(journal.stage, slices.open_over(before, kept, held), times)
    journal.commit(spark, control, windows.unionByName(slices.ended(before, pieces)), {})
    return control


def _with_slices(stage: CompiledStage) -> CompiledStage | None:
    """The stage with no allowed lateness, if it would keep slices then and does not now."""
    before = replace(stage.stage, allowed_lateness=0)
    return replace(stage, stage=before) if keeps_slices(before) and not stage.keeps_slices else None
