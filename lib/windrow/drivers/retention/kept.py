"""From when on the windows of a stage have all of their rows. Rule: docs/operations.md#retention."""

from __future__ import annotations

from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.spec.errors import SpecError
from windrow.spec.times import MINUS_INFINITY, format_time, saturating_add
from windrow.store.delta.floors import Floors, time_floor


def whole_from(work: PipelineWork, item: StageWork) -> int:
    """The first start of windows of which no row, or pane of a stage in front, was removed; -infinity without any."""
    known = Floors.of(work.lake).all(work.spark)
    names = [time_floor(read, "raw" if read in work.raws else "panes") for read in item.runner.upstream.names]
    times = [known[name] for name in names if name in known]
    if not times:
        return MINUS_INFINITY
    strategy, windows = item.runner.strategy, item.runner.stage.windows
    depends = strategy.is_made_whole or strategy.ends_by_cells
    return saturating_add(max(times), windows.longest) if depends else max(times)  # what has gone may have been beside


def check_whole(work: PipelineWork, item: StageWork, start: int) -> None:
    """Raises SpecError where windows that start at that time cannot be recomputed any more."""
    first = whole_from(work, item)
    if start < first:
        rule = "cannot be recomputed from rows that were removed"
        hint = f"raw has all rows of the windows that start at {format_time(first)} or later"
        raise SpecError(f"stages.{item.name}", rule, f"windows from {format_time(start)} on", hint)
