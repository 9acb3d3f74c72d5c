"""Lag, completeness and lateness of a stage over time, read from its ticks and panes without Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import DAY, HOUR, MINUTE
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable, Tables
from windrow.view.pictures.against_arrival import thinned
from windrow.view.pictures.plot import Plot, Series, Unit
from windrow.view.reports.arrival import OverDays

_COLUMNS = ("generation", "tick", "now", "watermark", "assigned", "late")
_SPANS = (MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY)
"""Over which what is counted of rows and windows is added up."""
_MOST = 45

Counts = Mapping[int, tuple[int, int]]
"""By the time of a pane's window or of a tick: how many of how many."""


def over_days_of(tables: Tables, pipeline: Pipeline, start: int | None, end: int | None) -> list[OverDays]:
    """By stage. Ticks are those of its newest generation; windows those that start in [start, end)."""
    found = [OverDays(stage.name, list(_plots(tables, pipeline, stage, start, end))) for stage in pipeline.stages]
    return [one for one in found if one.plots]


def _plots(tables: Tables, pipeline: Pipeline, stage: Stage, start: int | None, end: int | None) -> Iterator[Plot]:
    lake = Lake.of(pipeline.lake)
    ticks, panes = (tables.open(lake.table(stage.name, name)) for name in ("ticks", "panes"))
    rows = [] if ticks is None else _newest(ticks)
    lag = [(row["now"], row["now"] - row["watermark"]) for row in rows if row["watermark"] is not None]
    if len(lag) > 1:
        name = f"Lag of the watermark of {stage.name}"
        line = Series("lag", thinned(lag), is_steps=True)
        yield Plot(name, [line], "processing time", "behind processing time", unit_up=Unit.LENGTH)
    if panes is not None and not stage.window.IS_GLOBAL:
        right = _shares(_right_at_first(panes, start, end))
        if len(right) > 1:
            name = f"Completeness of {stage.name}"
            up = "windows that no late row has changed"
            yield Plot(name, [Series("complete", right)], "end of the window", up, unit_up=Unit.SHARE)
    late = _shares({row["now"]: (row["late"] or 0, row["assigned"]) for row in rows if row["assigned"]})
    if len(late) > 1:
        name = f"Late rows of {stage.name}"
        line = Series("late", late)
        yield Plot(name, [line], "processing time", "of rows and windows, too late", unit_up=Unit.SHARE)


def _newest(ticks: LakeTable) -> list[dict[str, Any]]:
    """The ticks of the newest generation that have a processing time, in order."""
    rows = [row for batch in ticks.rows(_COLUMNS) for row in batch.to_pylist()]
    newest = max((row["generation"] for row in rows), default=0)
    kept = [row for row in rows if row["generation"] == newest and row["now"] is not None]
    return sorted(kept, key=lambda row: int(row["tick"]))


def _right_at_first(panes: LakeTable, start: int | None, end: int | None) -> Counts:
    """Of the windows of each end that have a pane that is not early: those with one such pane only."""
    conditions = [Condition("weight", ">", 0), Condition("window_end", "is known"), Condition("on_time_index", "<=", 1)]
    if start is not None and end is not None:
        conditions += [Condition("window_start", ">=", start), Condition("window_start", "<", end)]
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for row in panes.groups(Groups(by=("window_end", "on_time_index")), *conditions).to_pylist():
        found[row["window_end"]][row["on_time_index"]] = row[NUMBER]
    return {end: (one.get(0, 0) - one.get(1, 0), one.get(0, 0)) for end, one in found.items() if one.get(0)}


def _shares(counts: Counts) -> list[tuple[int, float]]:
    """Added up over round spans of time, so many that they are lines."""
    if not counts:
        return []
    first, last = min(counts), max(counts)
    span = next((one for one in _SPANS if (last - first) // one <= _MOST), _SPANS[-1])
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for time, (some, of) in counts.items():
        sums[time // span * span][0] += some
        sums[time // span * span][1] += of
    return [(time, some / of) for time, (some, of) in sorted(sums.items())]
