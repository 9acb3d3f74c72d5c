"""From when on the windows of a stage have all of their rows. Rule: docs/operations.md#retention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.drivers.retention.cut import last_end_of_cut
from windrow.spec.errors import SpecError
from windrow.spec.times import MINUS_INFINITY, format_time, saturating_add
from windrow.store.delta.floors import Floors, time_floor
from windrow.store.upstream.panes import StagePanes

if TYPE_CHECKING:  # a stage that opens asks too
    from windrow.drivers.pipeline.runner import StageRunner
    from windrow.drivers.pipeline.stage import StageWork


def whole_from(runner: StageRunner) -> int:
    """The first start of windows of which no row, or pane of a stage in front, was removed; -infinity without any.

    Where windows merge it is behind every one that is shown and has lost rows: a late row could join both.
    """
    return last_end_of_cut(runner, first_with_rows(runner))


def first_with_rows(runner: StageRunner) -> int:
    """The same by the times of rows alone, whatever is shown."""
    known = Floors.of(runner.journal.lake).all(runner.spark)
    logs = runner.upstream.logs.values()
    names = [time_floor(log.name, "panes" if isinstance(log, StagePanes) else "raw") for log in logs]
    times = [known[name] for name in names if name in known]
    if not times:
        return MINUS_INFINITY
    strategy, windows = runner.strategy, runner.stage.windows
    depends = strategy.is_made_whole or strategy.ends_by_cells
    return saturating_add(max(times), windows.longest) if depends else max(times)  # what has gone may have been beside


def check_whole(item: StageWork, start: int) -> None:
    """Raises SpecError where windows that start at that time cannot be recomputed any more."""
    first = whole_from(item.runner)
    if start < first:
        rule = "cannot be recomputed from rows that were removed"
        hint = f"raw has all rows of the windows that start at {format_time(first)} or later"
        raise SpecError(f"stages.{item.name}", rule, f"windows from {format_time(start)} on", hint)
